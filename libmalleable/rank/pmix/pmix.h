/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmix.h: the PMIx library of the process, if it has one: our place in the job, and short texts
 * for other ranks.
 *
 * Not linked, so that a program without PMIx stays without. Some servers take what they do not know
 * for a failure of the job. Slurm's plugin ends a step in which only some ranks meet in PMIx_Fence,
 * or in which a text is asked of a node whose tasks have all ended (22.05.8, measured). None of
 * this happens here, if the caller asks for texts only of processes that have not left
 * MPI_Finalize.
 *
 * Primary thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Join PMIx, until mal_pmix_close() was called as often. With LOAD, load the library if the process
 * has none yet; else use only one that MPI brought. Returns false if there is no library or no
 * server.
 */
bool mal_pmix_open(bool load);
void mal_pmix_close(void);

/* Our rank in the job. */
uint32_t mal_pmix_rank(void);
/* The lowest rank on this node. Returns false if the server does not tell. */
bool mal_pmix_leader(uint32_t *leader);

/*
 * Our number among the ranks of this node, and their count. Returns false if the server does not
 * tell.
 */
bool mal_pmix_local(unsigned int *rank, unsigned int *count);

/* The job's nodes by name, separated by commas; the caller frees it. NULL: not known. */
char *mal_pmix_nodes(void);

/* The lowest rank on node NODE. Returns false if it is not known. */
bool mal_pmix_leader_of(const char *node, uint32_t *leader);

/*
 * Whether a launcher's server serves us, in a daemon or mpirun itself, and not Slurm's. It has a
 * store for texts, which Slurm's lacks; but what a rank put it passes to other nodes once only.
 */
bool mal_pmix_is_launchers(void);

/* Publish TEXT as our value of KEY. Returns whether it was published. */
bool mal_pmix_give(const char *key, const char *text);

enum mal_pmix_answer {
	MAL_PMIX_TEXT,
	MAL_PMIX_NOTHING, /* none so far */
	MAL_PMIX_SILENCE, /* the rank does not answer */
};

/*
 * Ask for the value of KEY that RANK has published so far, into TEXT, which the caller frees. Takes
 * 1 ms to another node, 1 s if that does not answer. MEANWHILE is called repeatedly.
 */
enum mal_pmix_answer mal_pmix_ask(uint32_t rank, const char *key, void (*meanwhile)(void),
				  char **text);
