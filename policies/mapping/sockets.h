/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sockets.h: map whole ranks to sockets by branch and bound.
 *
 * This is the search of SABO (Rocha Barbosa et al., section IV.B). Ranks come in decreasing order
 * of load. At the root of the tree the first ranks have one socket each. Depth first, the search
 * tries each further rank on every socket with a free core, first socket first. c counts the cores
 * that a mapping misses. The search leaves a branch when c is not below min_c, the lowest c of a
 * complete mapping so far.
 */
#pragma once

struct mal_socket_search {
	/* Given by the caller. */
	unsigned int socket_count;
	const unsigned int *cores;  /* by socket */
	unsigned int rank_count;    /* that are to be mapped */
	const unsigned int *order;  /* the ranks, by decreasing load */
	const unsigned int *wanted; /* by rank: cores that it requests */
	unsigned int max_nodes;	    /* explored at most, beside the root */
	/* The result. */
	unsigned int
		*socket; /* by rank: the caller's array; the best so far where max_nodes was hit */
	unsigned int missing; /* min_c */
	unsigned int nodes;   /* explored, beside the root */
};

/* Run the search. Returns 0, or -1 if there is no rank or no socket. */
int mal_socket_search(struct mal_socket_search *search);
