/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * imbalance.h: what is out of balance between the nodes of a step; on the first one (summaries.h).
 *
 * Invariant: A node that said nothing is counted, and in no figure (t/unit/test_summaries.c:
 * most_and_least_loaded_nodes_have_lines).
 */
#pragma once

#include <jansson.h>

#include "libmalleable/controller/state/controller.h"

/*
 * The step is over. With MAL_NODES_ALL: a few lines on all nodes into TEXT, cut at SIZE bytes.
 * Returns the length.
 */
size_t mal_imbalance_text(const struct mal_controller *controller, char *text, size_t size);

/* The same as JSON; null on other nodes and where there is only one. */
json_t *mal_imbalance_json(const struct mal_controller *controller);
