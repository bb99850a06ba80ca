/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nodes.h: the nodes of a step over several: each controller describes its own, and the first one is told of all.
 *
 * Descriptions are JSON and come through a rank (rank/nodes.h) and PMIx: nothing in them is believed that was not looked at.
 */
#ifndef MAL_CONTROLLER_NODES_H
#define MAL_CONTROLLER_NODES_H

#include "libmalleable/controller/controller.h"

#define MAL_NODE_NAME 256
#define MAL_NODE_LINE 512

struct mal_node {
	char name[MAL_NODE_NAME]; /* for the launcher */
	char line[MAL_NODE_LINE]; /* of its report */
	unsigned int cpus, rank_count;
	uint32_t *ranks; /* their numbers in the job */
	double *work;	 /* seconds on one CPU */
};

struct mal_nodes {
	unsigned int count; /* of the step */
	unsigned int known;
	struct mal_node *list; /* the known ones, ours first */
	bool elsewhere;	       /* another node's controller reports */
	const char *hostfile;
	/* What came of them, once the step is over (between.h). */
	double balance, possible; /* of the load between nodes; NaN: not known */
	struct mal_error hostfile_error;
	bool written;
};

/* The step is over COUNT nodes; with one nothing is done. HOSTFILE: where a better placement goes, NULL: nowhere. 0, or -1: out of memory. */
int mal_nodes_open(struct mal_controller *controller, unsigned int count, const char *hostfile);
void mal_nodes_close(struct mal_controller *controller);

/*
 * What this node's ranks did, as one line of JSON, to be freed. TEXT: the node's name for the launcher, a space, and the numbers of its
 * ranks in the job, in order, separated by commas. NULL where it is wrong, or for a step on one node.
 */
char *mal_nodes_describe(struct mal_controller *controller, const char *text);

/* Another node's description has come. Returns 0, or -1 with ERR: it is wrong, and not used. */
int mal_nodes_add(struct mal_controller *controller, const char *text, struct mal_error *err);

/* Another node's controller reports on this one too. */
int mal_nodes_leave_to_other(struct mal_controller *controller, struct mal_error *err);

/* What is reported on here: nothing (another node does), this node by itself, or all nodes. */
enum mal_nodes_part {
	MAL_NODES_NONE,
	MAL_NODES_ONE,
	MAL_NODES_ALL,
};
enum mal_nodes_part mal_nodes_part(const struct mal_controller *controller);

#endif
