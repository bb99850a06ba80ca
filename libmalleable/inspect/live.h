/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* live.h: which registers a function takes arguments in. */
#ifndef MAL_INSPECT_LIVE_H
#define MAL_INSPECT_LIVE_H

#include "libmalleable/inspect/closure.h"

/* Registers that may hold arguments. */
uint64_t mal_arguments(void);

/*
 * Those that the function at ENTRY may read as its caller left them; *STACK: arguments on it
 * too.
 */
uint64_t mal_live_in(struct mal_program *program, uint64_t entry, int depth, int *stack);

#endif
