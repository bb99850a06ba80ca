/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jumps.h: jumps into a function that its graph does not have: from what exceptions run, and from
 * parts that lie elsewhere.
 */
#ifndef MAL_INSPECT_JUMPS_H
#define MAL_INSPECT_JUMPS_H

#include "libmalleable/inspect/flow.h"

struct mal_jump {
	uint64_t to, from;
};

struct mal_jumps {
	struct mal_jump *jumps;
	size_t count, room;
};

/* The functions that have calls which start regions, sorted: the caller frees *HOSTS. */
int mal_jumps_hosts(const struct mal_image *image, const struct mal_function ***hosts,
		    size_t *count);

/*
 * All that may be jumps into one of COUNT HOSTS from outside of it. Goes by bytes: what only looks
 * like a jump counts too. All return -1 for want of memory alone.
 */
int mal_jumps_find(struct mal_jumps *jumps, const struct mal_image *image,
		   const struct mal_function **hosts, size_t count);

/* Where jumps that GRAPH does not have come into FUNCTION, sorted: the caller frees *ENTRIES. */
int mal_jumps_into(const struct mal_jumps *jumps, const struct mal_image *image,
		   const struct mal_function *function, const struct mal_flow_graph *graph,
		   uint64_t **entries, size_t *count);

#endif
