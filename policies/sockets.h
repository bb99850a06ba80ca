/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sockets.h: whole ranks on sockets, by branch and bound.
 *
 * The search of SABO (Dionisi et al., section IV.B): ranks in decreasing order of their load; the first ones are mapped
 * to one socket each, the root of the tree; depth first, each further rank to every socket that has a free core, first
 * socket first. c counts the cores that a mapping misses; a branch is left when c is not below min_c, the
 * lowest c of a complete mapping so far.
 */
#ifndef MAL_POLICIES_SOCKETS_H
#define MAL_POLICIES_SOCKETS_H

#include <stdbool.h>

struct mal_socket_search {
	/* Given by the caller. */
	unsigned int socket_count;
	const unsigned int *cores;  /* by socket */
	unsigned int rank_count;    /* that are to be mapped */
	const unsigned int *order;  /* the ranks, by decreasing load */
	const unsigned int *wanted; /* by rank: cores that it requests */
	unsigned int most_nodes;    /* explored at most, beside the root */
	/* The result. */
	unsigned int *socket; /* by rank: the caller's array */
	unsigned int missing; /* min_c */
	unsigned int nodes;   /* explored, beside the root */
	bool bounded;	      /* most_nodes was hit: socket is the best so far */
};

/* Runs the search. Returns 0, or -1 if there is nothing to search (no rank, no socket) or no memory. */
int mal_socket_search(struct mal_socket_search *search);

#endif
