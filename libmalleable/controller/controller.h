/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* controller.h: what the parts of the controller share: the step, its ranks and the policy. */
#ifndef MAL_CONTROLLER_CONTROLLER_H
#define MAL_CONTROLLER_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/core/segment.h"
#include "policies/choice.h"
#include "policies/orders.h"

struct mal_rank_view {
	bool known; /* it registered */
	bool running;
	int32_t pid;
	struct mal_cpumask home;
	bool sampled; /* last is valid */
	struct mal_snapshot last;
	uint64_t memory_nodes;	   /* NUMA nodes that may hold memory of it, a bit each */
	unsigned int windows_away; /* since when it has no CPU on one of them */
	/* Totals of complete windows. */
	double work_s, barrier_s, serial_s, mpi_s;
};

/* What the windows add up to. */
struct mal_totals {
	unsigned int windows;
	double elapsed_s;		      /* as it was */
	double off_s;			      /* predicted without balancing */
	double ideal_s;			      /* predicted with perfect balance */
	double useful_s;		      /* thread time that was work */
	double core_s;			      /* core time there was */
	double balance_before, balance_after; /* load balance, weighted by elapsed time */
};

/* CPUs by rank at the times they changed. */
struct mal_history {
	size_t count, room;
	double *times;
	uint16_t *counts; /* rank_count for each time */
};

struct mal_alternatives;
struct mal_nodes;
struct mal_pool;
struct mal_recording;

struct mal_controller {
	struct mal_segment segment;
	struct mal_cpumask allocation; /* CPUs that ranks may ever use here: the step's, with grow=job the job's */
	struct mal_cpumask idle;       /* of these, that are the step's for as long as nobody else needs them */
	struct mal_cpumask share; /* of the allocation: what the node's agent leaves the step, where jobs share CPUs */
	unsigned int least_share; /* CPUs in it at any time */
	int agent;		  /* connection to it, -1: there is none */
	struct mal_choice choice; /* as the step was started */
	const char *step, *node;
	const char *libdir;
	const char *allowed;		 /* policies that may be set, NULL: all */
	const struct mal_policy *policy; /* that decides now: malleable set may have changed it */
	void *policy_state;
	bool demoted; /* the policy broke its word: only observing now */
	const char *demoted_why;
	const char *off_file; /* the administrator's switch, NULL: none */
	bool off, was_off;    /* now, and at any time */
	uint64_t off_looked;
	uint64_t started;
	struct mal_rank_view *ranks;
	struct mal_sample *last;	/* by rank: of the last window */
	uint64_t settle_until, settled; /* see mal_idle_settle(); 0: no */
	struct mal_orders orders;
	bool binds;	    /* threads may be bound and CPUs change hands */
	int listening;	    /* for the malleable command, -1: not */
	_Atomic bool asked; /* somebody has a request */
	/* The CPUs of the allocation, in order, and their places. */
	unsigned int cpu_count;
	unsigned int cpu[MAL_MAX_CPUS];
	unsigned int core[MAL_MAX_CPUS];
	unsigned int l3[MAL_MAX_CPUS];
	unsigned int numa[MAL_MAX_CPUS];
	unsigned int package[MAL_MAX_CPUS];
	bool topology_read;
	/* Sampling. */
	uint64_t round;
	uint64_t stride;
	double window_s;     /* wanted length of a window */
	unsigned int steady; /* windows without a change */
	bool brief;	     /* the policy tries something: they stay short */
	uint32_t plans;
	struct mal_totals totals;
	struct mal_history history;
	struct mal_pool *pool;		       /* with pool=job, NULL: none */
	struct mal_nodes *nodes;	       /* of a step over several, NULL: this is the only one */
	struct mal_recording *recording;       /* NULL: none */
	struct mal_alternatives *alternatives; /* NULL: none */
	_Atomic bool ending;		       /* the step is over */
	_Atomic uint64_t died;		       /* ranks whose process ended, in sum: a change is news */
};

/* Length that is wanted for windows at first and at most. */
#define MAL_WINDOW_FIRST_S 0.05
#define MAL_WINDOW_LAST_S 0.25

#endif
