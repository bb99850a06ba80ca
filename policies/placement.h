/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* placement.h: which ranks of a step over several nodes run on which of them; pure functions. */
#ifndef MAL_POLICIES_PLACEMENT_H
#define MAL_POLICIES_PLACEMENT_H

/* A step: each rank's work, in seconds on one CPU, and its node; each node's CPUs. */
struct mal_placement {
	unsigned int rank_count, node_count;
	const double *work;
	const unsigned int *cpus;
	unsigned int *node; /* by rank, below NODE_COUNT */
};

/*
 * Load balance between the nodes: mean over largest work per CPU, weighted by CPUs, as if each node's work were spread evenly over its
 * CPUs. 0 to 1; 1 where there is no work. LOAD gets the work per CPU of each node.
 */
double mal_placement_balance(const struct mal_placement *placement, double *load);

/*
 * Exchange ranks between nodes until no exchange of two brings the most loaded node down, or a time of some 0.2 s is used up. Each node
 * keeps its number of ranks, so that what Slurm allocated fits the result. Deterministic. Communication between ranks is not known
 * here. Returns the number of ranks that change their node, or -1: out of memory.
 */
int mal_placement_improve(struct mal_placement *placement);

#endif
