/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* constants.h: which function a call is given, whichever way leads to the call. */
#ifndef MAL_INSPECT_CONSTANTS_H
#define MAL_INSPECT_CONSTANTS_H

#include "libmalleable/inspect/flow.h"

/* General registers that hold the same number whenever an instruction is reached. */
struct mal_constants {
	uint16_t known;
	uint64_t value[16];
};

/*
 * Call DOES for each call and tail call of GRAPH, in no order. Before what is at the COUNT sorted
 * addresses ENTRIES nothing is known: ways lead there that GRAPH does not have. Returns -1 for want
 * of memory.
 */
typedef void mal_constants_at(void *data, const struct mal_instruction *call,
			      const struct mal_constants *constants);
int mal_each_call(const struct mal_flow_graph *graph, const uint64_t *entries, size_t count,
		  mal_constants_at *does, void *data);

#endif
