/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* escapes.h: functions that keep or reckon with the address of their stack, which tells threads. */
#ifndef MAL_INSPECT_ESCAPES_H
#define MAL_INSPECT_ESCAPES_H

#include "libmalleable/inspect/decode.h"

/* Which general registers hold an address of the stack; all zero at the start of a function. */
struct mal_escape {
	uint32_t registers;
};

/*
 * What INSTRUCTION, the next of a function, makes of such addresses. Returns whether it uses one
 * as more than the address of something, or puts it where others find it.
 */
int mal_escapes(struct mal_escape *escape, const struct mal_instruction *instruction);

#endif
