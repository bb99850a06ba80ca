/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* placement.h: choose the node of each rank, for steps over several nodes; pure functions. */
#ifndef MAL_POLICIES_MAPPING_PLACEMENT_H
#define MAL_POLICIES_MAPPING_PLACEMENT_H

/* A step: each rank's work, in seconds on one CPU, and its node; each node's CPUs. */
struct mal_placement {
	unsigned int rank_count, node_count;
	const double *work;
	const unsigned int *cpus;
	unsigned int *node; /* by rank, below NODE_COUNT */
};

/*
 * Returns the load balance between nodes: mean over largest work per CPU, weighted by CPUs, as if
 * each node spread its work evenly over its CPUs. It is 0 to 1, and 1 without work. LOAD gets the
 * work per CPU of each node.
 */
double mal_placement_balance(const struct mal_placement *placement, double *load);

/*
 * Exchange ranks between nodes until no exchange of two relieves the most loaded node, or some 0.2
 * s are used up. Each node keeps its number of ranks, so that the result fits Slurm's allocation.
 * The result is deterministic. It ignores communication between ranks. Returns the number of ranks
 * that change their node, or -1: out of memory.
 */
int mal_placement_improve(struct mal_placement *placement);

#endif
