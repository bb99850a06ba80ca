/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmix.h: the PMIx library of the process, if it has one: who we are in the job, short texts for other ranks, and events.
 *
 * Not linked: a program without PMIx stays without. What a server offers differs, and some take what they do not know for a failure of
 * the job: Slurm's plugin ends a step where some ranks only meet in PMIx_Fence, where a text is asked of a node whose tasks have all ended, or
 * where an event is not marked as PMIX_EVENT_NON_DEFAULT (22.05.8, measured). None of this is done here, as long as the caller asks for texts
 * of processes only that have not left MPI_Finalize.
 */
#ifndef MAL_RANK_PMIX_H
#define MAL_RANK_PMIX_H

#include <stdbool.h>
#include <stdint.h>

/* Code of the event that CPUs of a rank have changed: PMIX_EXTERNAL_ERR_BASE less this (balance(7)). */
#define MAL_PMIX_EVENT_CPUS 77

/*
 * Take part in PMIx, until the same number of mal_pmix_close. With LOAD the library is loaded if the process has none yet, else
 * only that one is used which MPI has brought. False: there is no library or no server.
 */
bool mal_pmix_open(bool load);
void mal_pmix_close(void);

/* Our number in the job, and the lowest one on this node. */
uint32_t mal_pmix_rank(void);
bool mal_pmix_leader(uint32_t *leader);

/* Our number among the ranks of this node, and how many these are. False: the server does not say. */
bool mal_pmix_local(unsigned int *rank, unsigned int *count);

/* The job's nodes by name, separated by commas. To be freed; NULL: unknown. */
char *mal_pmix_nodes(void);

/* The ranks on node NODE, ascending, to be freed, and their COUNT; NULL: unknown. */
uint32_t *mal_pmix_peers(const char *node, unsigned int *count);

/* Give TEXT to whoever asks for KEY of us. */
bool mal_pmix_give(const char *key, const char *text);

enum mal_pmix_answer {
	MAL_PMIX_TEXT,
	MAL_PMIX_NOTHING, /* yet */
	MAL_PMIX_SILENCE, /* nobody is there to answer */
};

/*
 * What rank RANK gave as KEY until now, in TEXT, to be freed. Takes 1 ms on another node, and 1 s if that does not answer; MEANWHILE is
 * called again and again.
 */
enum mal_pmix_answer mal_pmix_ask(uint32_t rank, const char *key, void (*meanwhile)(void), char **text);

/* Tell whoever listens on this node that we have the CPUs in LIST now. Returns before they know. */
void mal_pmix_say_cpus(const char *list);

#endif
