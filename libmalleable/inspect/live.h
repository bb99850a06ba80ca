/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* live.h: which registers a function takes arguments in. */
#ifndef MAL_INSPECT_LIVE_H
#define MAL_INSPECT_LIVE_H

#include "libmalleable/inspect/closure.h"
#include "libmalleable/inspect/names.h"

/* The registers of whole numbers and addresses, in the order of arguments. */
extern const uint8_t mal_integer_arguments[6];

/* Registers that may hold arguments, and those that do in a call of EXTERNAL. */
uint64_t mal_arguments(void);
uint64_t mal_arguments_of(const struct mal_external *external);

/*
 * Those that the function at ENTRY may read as its caller left them; *STACK: arguments on it
 * too.
 */
uint64_t mal_live_in(struct mal_program *program, uint64_t entry, int depth, int *stack);

#endif
