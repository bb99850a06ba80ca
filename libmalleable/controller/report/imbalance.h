/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * imbalance.h: what is out of balance between the nodes of a step, and where its ranks had better
 * run; on the first node (summaries.h).
 *
 * Invariant: No rank is sent to another node for less than 1 % (t/unit/test_summaries.c:
 * no_better_placement).
 */
#ifndef MAL_CONTROLLER_REPORT_IMBALANCE_H
#define MAL_CONTROLLER_REPORT_IMBALANCE_H

#include <jansson.h>

#include "libmalleable/controller/state/controller.h"

/*
 * The step is over: compare the nodes that are known, find a better placement of the ranks, and
 * write the hostfile.
 */
void mal_imbalance_find(struct mal_controller *controller);

/*
 * Afterwards, with MAL_NODES_ALL: a few lines on all nodes into TEXT, cut at SIZE bytes. Returns
 * the length.
 */
size_t mal_imbalance_text(const struct mal_controller *controller, char *text, size_t size);

/* The same as JSON; null on other nodes and where there is only one. */
json_t *mal_imbalance_json(const struct mal_controller *controller);

#endif
