/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits.h: loops that wait until another thread changes memory. */
#ifndef MAL_INSPECT_WAITS_H
#define MAL_INSPECT_WAITS_H

#include "libmalleable/inspect/program.h"

/* Where the instructions of a function have such a loop, or 0. */
uint64_t mal_waits(const struct mal_program *program, const struct mal_instruction *text,
		   size_t count);

#endif
