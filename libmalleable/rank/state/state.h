/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state.h: what the library knows in a rank; for the files of rank/ only. */
#ifndef MAL_RANK_STATE_STATE_H
#define MAL_RANK_STATE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/kept.h"
#include "libmalleable/core/segment.h"

#define MAL_PRIMARY_ENDED (-1)

/*
 * The process. Only its primary thread writes it, where not marked as atomic; while it computes in
 * a loop of tests it left, the thread that watches these takes its CPUs back (tests.c); where its
 * polls are not seen another one lends them (unseen_wait.h).
 */
struct mal_rank {
	bool active;	/* attached to a segment; cleared in forked children and at the end */
	bool observe;	/* never bind a thread */
	bool ompt;	/* an OpenMP runtime reports its threads through OMPT */
	bool unmanaged; /* MPI has started and no such runtime has yet (unmanaged.h) */
	unsigned int me;
	unsigned int rank_count; /* ranks among which the node's CPUs of the step were divided */
	struct mal_segment segment;
	struct mal_rank_slot *slot;
	struct mal_thread_slot *threads;
	uint64_t short_region; /* ticks, set once: in shorter regions only some runs are timed */
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
	bool plan_unfinished; /* the last CPU could not be given, as none came for it yet */
	/* CPUs that the plan gives us in all while some have not come, else 0 */
	unsigned int planned;
	bool lending; /* some of our CPUs are lent */
	bool wants;   /* as we said in mal_rank_slot.wants */
	/*
	 * bind.c: what the team was placed for: regions that find nothing changed touch no other
	 * thread's cache line.
	 */
	struct {
		unsigned int team;
		unsigned int cpus;
		bool outdated;
	} placed;

	/* region.c, team.c */
	unsigned int depth;   /* nesting depth of parallel regions opened by the primary thread */
	unsigned int team;    /* threads that the next region gets */
	unsigned int running; /* threads of the current region */
	unsigned int base;    /* team size that the program knows of */
	/* the user had it report more threads than CPUs, to grow (max_threads) */
	bool reported_more;
	/* reported threads: the most that the program was told, 0: none */
	_Atomic uint32_t reported;
	bool widened; /* the current region has more threads than the program knows of */
	bool stacked; /* the current region has more threads than CPUs */
	bool sized;   /* its number of threads was our choice, not the program's */
	bool shares;  /* it is stacked, or may become so because it uses borrowed CPUs */
	/*
	 * Runs of the region that this one counts for in the samples; 0: its threads are not timed.
	 */
	unsigned int weight;
	uint64_t region_begin;
	uint64_t last_leave; /* tick at which the primary thread last left a region or MPI */
	uint64_t left_mpi;   /* tick at which it last left MPI */

	/* attach.c */
	/* 0: no thread is the primary one yet; MAL_PRIMARY_ENDED */
	_Atomic int32_t primary_tid;

	/* lend.c: all in ticks */
	struct {
		uint64_t next_look; /* at ranks that want CPUs */
		uint64_t look_every;
		uint64_t after; /* a wait shorter than this lends nothing */
		/* moving averages: waits long enough to lend, and the cost of taking back */
		uint64_t usual_wait;
		uint64_t usual_cost;
		uint64_t look_cost; /* of the last look at our other threads */
		uint64_t last_poll;
		unsigned int kept; /* the CPU that is not lent, where polls are not seen */
		/* the last poll before the wait was abandoned, 0: it was not */
		_Atomic uint64_t abandoned;
	} lend;

	/* phase.c */
	struct {
		uint64_t said_round;
		uint64_t last_said;  /* tick */
		unsigned int missed; /* answers in a row */
	} phase;

	/* region.c */
	struct {
		uint64_t last_look;	    /* tick */
		unsigned int looks_without; /* looks since another rank last waited */
		unsigned int threads;	    /* most in a team so far */
		/* ticks, set once */
		uint64_t look_every;
		uint64_t grow_region;
		uint64_t share_region;
		uint64_t settle;
	} region;
	/*
	 * region.c: what regions were last prepared for: while it stands there is nothing to
	 * prepare again. NUMBER changes with it, and after a region that leaves nothing the next
	 * can rely on.
	 */
	struct {
		uint32_t number;
		uint64_t borrowers;
		uint32_t rules, schedule, plan, changes, reported;
		unsigned int team;
	} standing;

	/* team.c: what the user, the program and the system say of its teams */
	struct {
		/* the user asked the runtime to bind threads: it may do so after a resize */
		bool rebinds;
		/* then: the CPUs of the calling thread's place; false: it has none */
		bool (*place)(struct mal_cpumask *mask);
		const void *runtime; /* where the runtime is loaded that has the team */
		bool for_gomp; /* it stands for libgomp: no thread ends at exit, nor waits long */
		bool block_fixed; /* the user or the program chose how threads wait */
		/* the user or the program chose the schedule of schedule(runtime) loops */
		_Atomic bool schedule_fixed;
		bool levels_differ; /* the user chose thread numbers for nested regions */
		bool all_limited;   /* the user bounds all threads of the process */
		bool no_room;	    /* the system has no room for a larger team */
		/*
		 * threads beyond the only one of the program compute as that does, which they help;
		 * flags of floating point that they raised in the current region
		 */
		bool alike;
		struct mal_arithmetic arithmetic;
		_Atomic uint64_t raised;
		unsigned int unbalanced; /* the program's team without us */
		unsigned int room;	 /* the largest team so far, or that there was room for */
		uint32_t schedule;	 /* the one that we set, as in mal_header */
		int usual_blocktime;	 /* ms */
		int usual_kind, usual_chunk; /* of schedule(runtime) */
		unsigned int linger;	     /* enum mal_linger */
		/* the size of a widened team in which the program asked for it, 0: it did not */
		_Atomic unsigned int asked_inside;
	} teams;

	/*
	 * prove.c: a program that can know its number of threads has regions of that size, but for
	 * those that are free
	 */
	struct {
		bool on;
		bool raised; /* the program is told 2 though the rank has one CPU */
		bool free;   /* the current region is free */
		/* it was told or chose 1 thread: it may leave out what several would need */
		_Atomic bool told_one;
		uint64_t free_ticks; /* in free regions, primary thread */
	} proofs;
};

/* Of threads in a region, see mal_thread.special: few have any. */
#define MAL_BY_CPU_TIME 2 /* they share a CPU: they are timed by CPU time */
#define MAL_ALIKE 8	  /* they help the only thread of the program, and compute as that does */

/* The primary thread is in a blocking MPI call outside regions. */
enum mal_calling {
	MAL_CALLS_NOT,
	MAL_CALLS,
	MAL_CALLS_IN_TESTS, /* that belongs to a loop of tests, as it has not waited */
	MAL_CALLS_UNSEEN,   /* in which no poll was seen (unseen_wait.h) */
};

/* A thread. */
struct mal_thread {
	struct mal_thread_slot *slot; /* in the managed team, NULL outside */
	uint64_t begin; /* tick, or ns of thread CPU time if MAL_BY_CPU_TIME; 0: not working */
	uint64_t mpi_begin;
	unsigned int weight; /* of the region, see mal_rank */
	int32_t tid;
	unsigned int mpi_depth;
	uintptr_t mpi_frame; /* frame of the outermost call, while mpi_depth */
	unsigned int nested; /* depth of teams inside the managed one */
	bool primary;
	uint8_t special; /* MAL_BY_CPU_TIME, MAL_ALIKE */
	bool met;	 /* was considered as primary thread */
	uint8_t calling; /* enum mal_calling */
	bool testing;	 /* primary, in a loop of MPI tests that counts as waiting */
	bool waiting;	 /* in such a call or loop, for long enough to be a wait */
	bool collective; /* the call is collective */
	/* tests, and calls that return at once, until the loop of them is looked at */
	long tests_left;
};

/* Hidden: it is read without a look at where the linker put it. */
extern struct mal_rank mal __attribute__((visibility("hidden")));
extern __thread struct mal_thread mal_self __attribute__((tls_model("initial-exec")));

static inline bool mal_rule(uint32_t rule)
{
	return atomic_load_explicit(&mal.segment.header->rules, memory_order_relaxed) & rule;
}

#endif
