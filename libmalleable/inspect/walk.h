/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* walk.h: makes the graph of a function. */
#ifndef MAL_INSPECT_WALK_H
#define MAL_INSPECT_WALK_H

#include "libmalleable/inspect/flow.h"

/* The graph of the function at ENTRY. Only for want of memory it returns -1. */
int mal_flow_build(const struct mal_image *image, uint64_t entry, struct mal_flow_graph *graph);

#endif
