/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * summaries.h: the nodes of a step over several: each controller describes its own, and the first
 * one is told of all.
 *
 * Descriptions are JSON and come through a rank (rank/pmix/summary.h) and PMIx: nothing in them is
 * believed that was not looked at.
 *
 * Invariant: Nothing of another node is used that was not checked (t/unit/test_summaries.c:
 * others_are_checked).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

#define MAL_NODE_NAME 256
#define MAL_NODE_LINE 512

struct mal_node {
	char name[MAL_NODE_NAME]; /* for the launcher */
	char line[MAL_NODE_LINE]; /* of its report */
	unsigned int cpus, ranks;
	double work_s; /* of all ranks, on one CPU */
};

/* The step is over COUNT nodes, two at least; none is known yet. To be freed; NULL: no memory. */
struct mal_summaries *mal_summaries_create(unsigned int count);

/* The KNOWN nodes so far, ours first, of COUNT. */
const struct mal_node *mal_summaries_list(const struct mal_controller *controller,
					  unsigned int *known, unsigned int *count);

/*
 * What this node's ranks did, as one line of JSON, to be freed. TEXT: the node's name for the
 * launcher. NULL where it is wrong, or for a step on one node.
 */
char *mal_summaries_describe(struct mal_controller *controller, const char *text);

/*
 * TEXT: how many nodes the step is over, where the controller was started for more. Returns 0, or
 * -1 with ERR.
 */
int mal_summaries_expect(struct mal_controller *controller, const char *text,
			 struct mal_error *err);

/* Another node's description has come. Returns 0, or -1 with ERR: it is wrong, and not used. */
int mal_summaries_add(struct mal_controller *controller, const char *text, struct mal_error *err);

/* Another node's controller reports on this one too. TEXT is empty. */
int mal_summaries_leave_to_other(struct mal_controller *controller, const char *text,
				 struct mal_error *err);

/* What is reported on here: nothing (another node does), this node by itself, or all nodes. */
enum mal_summaries_part {
	MAL_NODES_NONE,
	MAL_NODES_ONE,
	MAL_NODES_ALL,
};
enum mal_summaries_part mal_summaries_part(const struct mal_controller *controller);
