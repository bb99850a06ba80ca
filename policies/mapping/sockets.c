/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sockets.c: map whole ranks to sockets by branch and bound.
 *
 * Invariant: no mapping to sockets is better (t/unit/test_policies.c: sabo_searches_as_published).
 */
#include "policies/mapping/sockets.h"

#include <limits.h>

#include "policies/interface/limits.h"

struct tree {
	struct mal_socket_search *search;
	long free[MAL_MAX_CPUS];	    /* by socket, below 0 where cores are missing */
	unsigned int socket[MAL_MAX_RANKS]; /* the mapping that is being tried, by rank */
};

static unsigned int missing_cores(const struct tree *tree)
{
	unsigned int missing = 0;

	for (unsigned int i = 0; i < tree->search->socket_count; i++)
		if (tree->free[i] < 0)
			missing += (unsigned int)-tree->free[i];
	return missing;
}

static void put(struct tree *tree, unsigned int rank, unsigned int socket)
{
	tree->socket[rank] = socket;
	tree->free[socket] -= tree->search->wanted[rank];
}

/* Explore the node of the tree at which the ranks before POSITION are mapped. */
static void explore(struct tree *tree, unsigned int position)
{
	struct mal_socket_search *search = tree->search;
	unsigned int missing = missing_cores(tree);
	unsigned int rank;

	if (missing >= search->missing)
		return;
	if (position == search->rank_count) {
		search->missing = missing;
		for (unsigned int i = 0; i < search->rank_count; i++)
			search->socket[search->order[i]] = tree->socket[search->order[i]];
		return;
	}
	rank = search->order[position];
	for (unsigned int socket = 0; socket < search->socket_count; socket++) {
		if (tree->free[socket] <= 0)
			continue;
		/* Always finish a first complete mapping: its depth is the number of ranks. */
		if (search->nodes >= search->max_nodes && search->missing != UINT_MAX)
			return;
		search->nodes++;
		put(tree, rank, socket);
		explore(tree, position + 1);
		tree->free[socket] += search->wanted[rank];
		if (!search->missing)
			return;
	}
}

int mal_socket_search(struct mal_socket_search *search)
{
	struct tree tree = {.search = search};

	search->nodes = 0;
	search->missing = UINT_MAX;
	if (!search->rank_count || !search->socket_count)
		return -1;
	for (unsigned int i = 0; i < search->socket_count; i++)
		tree.free[i] = search->cores[i];
	for (unsigned int i = 0; i < search->socket_count && i < search->rank_count; i++)
		put(&tree, search->order[i], i);
	explore(&tree, search->socket_count < search->rank_count ? search->socket_count
								 : search->rank_count);
	return search->missing == UINT_MAX ? -1 : 0;
}
