/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state.h: what the library knows in a rank; shared by the files of rank/ and by nobody else. */
#ifndef MAL_RANK_STATE_H
#define MAL_RANK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/core/clock.h"
#include "libmalleable/core/cpumask.h"
#include "libmalleable/core/segment.h"

/* The process. Written by its primary thread, but for what is marked. */
struct mal_rank {
	bool active;  /* attached to a segment; cleared in forked children and at the end */
	bool observe; /* never bind a thread */
	bool ompt;    /* an OpenMP runtime tells us what its threads do */
	bool loose;   /* MPI has started and no such runtime has; it may later (loose.h) */
	unsigned int me;
	unsigned int rank_count; /* ranks of the step on this node */
	struct mal_segment segment;
	struct mal_rank_slot *slot;
	struct mal_thread_slot *threads;
	uint64_t short_region;	       /* ticks, set once: below it only some runs of a region are timed */
	struct mal_cpumask allocation; /* never left, whatever the segment says */
	struct mal_cpumask home;
	enum mal_mode mode;

	/* cpus.c: the CPUs that we use now. */
	uint16_t own[MAL_MAX_CPUS];
	uint16_t borrowed[MAL_MAX_CPUS];
	unsigned int own_count;
	unsigned int borrowed_count;
	uint32_t seen_changes;
	uint32_t seen_plan;
	bool plan_unfinished; /* a CPU could not be given yet: no other was here */
	unsigned int planned; /* CPUs that the plan gives us in all while some have not come, else 0 */
	bool lending;	      /* some of our CPUs are lent */
	bool borrower;

	/* region.c, team.c */
	unsigned int depth;   /* of parallel regions opened by the primary thread */
	unsigned int team;    /* threads that the next region gets */
	unsigned int running; /* threads of the current region */
	unsigned int base;    /* team size that the program knows of */
	bool told_more;	      /* the user had it told more threads than CPUs, to grow (max_threads) */
	_Atomic uint32_t told;
	bool stacked; /* the current region has more threads than CPUs */
	bool shares;  /* it is stacked, or may become so: it uses borrowed CPUs */
	/* How many runs this one of the region stands for in the samples, 0: its threads are not timed. */
	unsigned int weight;
	uint64_t region_begin;
	uint64_t last_leave; /* tick at which the primary thread last left a region or MPI */
	uint64_t left_mpi;   /* tick at which it last left MPI */
};

/* A thread. */
struct mal_thread {
	struct mal_thread_slot *slot; /* of the managed team, NULL outside it */
	uint64_t begin;		      /* tick, or ns of thread CPU time where cpu_time is set; 0: not working */
	uint64_t mpi_begin;
	unsigned int weight; /* of the region, see mal_rank */
	int32_t tid;
	unsigned int mpi_depth;
	bool primary;
	bool cpu_time;
	bool met;	 /* it has been considered as primary thread */
	bool calling;	 /* primary, in a blocking MPI call outside regions */
	bool testing;	 /* primary, looks for messages over and over again */
	bool waiting;	 /* one of both, and long enough to be a wait */
	bool collective; /* the call is one over several ranks */
};

extern struct mal_rank mal;
extern __thread struct mal_thread mal_self __attribute__((tls_model("initial-exec")));

static inline bool mal_rule(uint32_t rule)
{
	return atomic_load_explicit(&mal.segment.header->rules, memory_order_relaxed) & rule;
}

/* attach.c: take part in the balanced step that the environment names, if any. Idempotent. */
void mal_attach(void);

/* attach.c: the calling thread becomes the primary one if there is none. Returns whether it is. */
bool mal_become_primary(void);

#endif
