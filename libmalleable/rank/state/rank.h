/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rank.h: what the library knows in a rank; for the files of rank/ only.
 *
 * Invariant: each MAL_PART of struct mal_rank has one module that writes it (t/t0002-walls.t: a
 * rank's parts are constant elsewhere).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/fpstate.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/rank/state/period.h"

#define MAL_PRIMARY_ENDED (-1)

struct mal_rank;
struct mal_region;
struct mal_runtime;
struct mal_thread;

/* bounds.c: what the program declares */
struct mal_rank_bounds {
	unsigned int limit;	/* CPUs that the rank can use at most, 0: any number */
	unsigned int disabled;	/* how often its balancing was disabled */
	uint32_t rules_dropped; /* bits of enum mal_rule that do not hold meanwhile */
};

/* lock.h: of the lists of CPUs */
struct mal_rank_lock {
	_Atomic int32_t holder; /* the thread that has it, 0: none */
};

/* cpus.c: the CPUs that we use now */
struct mal_rank_cpus {
	uint16_t owned[MAL_MAX_CPUS];
	uint16_t borrowed[MAL_MAX_CPUS];
	unsigned int owned_count;
	unsigned int borrowed_count;
	uint32_t seen_changes;
	uint32_t prepared_changes; /* these when regions were prepared last */
	uint32_t seen_plan;
	bool plan_unfinished; /* the last CPU could not be given: none came for it yet */
	/* CPUs that the plan gives us in all while some have not come, else 0 */
	unsigned int planned;
};

/*
 * bind.c: what the team was placed for: regions that find nothing changed touch no other
 * thread's cache line.
 */
struct mal_rank_placed {
	unsigned int team;
	unsigned int cpus;
	bool outdated;
	/* of a runtime that started and may not have counted the rank's CPUs */
	int (*_Atomic count)(void);
};

/* primary_thread.h */
struct mal_rank_primary {
	/* 0: no thread is the primary one yet; MAL_PRIMARY_ENDED */
	_Atomic int32_t tid;
	uint64_t last_leave; /* tick at which it last left a region or MPI */
	uint64_t left_mpi;   /* tick at which it last left MPI */
	/* the process's first one, if it was that: its data outlive all other threads */
	struct mal_thread *volatile first;
};

/* ompt.c: the runtime that has the team */
struct mal_rank_ompt {
	bool on;	     /* it reports its threads through OMPT */
	bool for_gomp;	     /* it stands for libgomp: no thread ends at exit, nor waits long */
	const void *runtime; /* where it is loaded */
	/* of regions where threads mimic the primary one's floating point: its, and theirs */
	struct mal_arithmetic arithmetic;
	_Atomic uint64_t fp_flags;
};

/* region.c: the current region */
struct mal_rank_region {
	unsigned int depth;   /* of parallel regions opened by the primary thread */
	unsigned int running; /* threads */
	bool widened;	      /* it has more threads than the program knows of */
	bool oversubscribed;  /* it has more threads than CPUs */
	bool sized;	      /* its number of threads was our choice, not the program's */
	/* it is oversubscribed, or may become so because it uses borrowed CPUs */
	bool may_share_cpus;
	bool free; /* it may have any team: proved */
	/* it cannot tell its team, but has the program's: results could differ */
	bool kept;
	/*
	 * Runs of the region that this one counts for in the samples; 0: its threads are
	 * not timed.
	 */
	unsigned int weight;
	uint64_t begin;
	struct mal_region *current; /* or the last one */
	uint64_t settle;	    /* ticks, set once */
	uint64_t short_region;	    /* ticks, set once: of shorter ones only some runs are timed */
	uint64_t free_ticks;	    /* in free regions so far */
};

/*
 * region.c: what regions were last prepared for: while that is current there is nothing to
 * prepare again. NUMBER changes with it, and after a region that leaves nothing the next
 * can rely on.
 */
struct mal_rank_prepared {
	uint32_t number;
	uint64_t borrowers;
	uint32_t rules, schedule, plan, reported_threads;
	unsigned int team;
};

/* sizing.c */
struct mal_rank_sizing {
	uint64_t last_look;	    /* tick */
	unsigned int looks_without; /* looks since another rank last waited */
	unsigned int threads;	    /* most in a team so far */
	/* ticks, set once */
	uint64_t look_every;
	uint64_t grow_region;
	uint64_t share_region;
};

/*
 * wait.c: polls of the primary thread in blocking calls. A wait that ends before `first`
 * polls is not timed; of those some are, for all.
 */
struct mal_rank_polls {
	unsigned int first;   /* polls to the first look at the clock; below 2: the first */
	unsigned int due;     /* from one look to the next: they take some microseconds */
	unsigned int counted; /* since the last look; 0: the thread slept since */
	uint64_t sixteen;     /* ticks that so many polls take */
	unsigned int untimed; /* short waits since the last one that was timed */
	unsigned int until;   /* so many; SEED: of random numbers */
	unsigned int seed;
	bool timed;    /* the current wait is, from its first poll on */
	uint64_t owed; /* ticks of such waits that still count as serial */
	uint64_t call; /* ticks that count as our own time, in each */
};

/* lend.c: all in ticks, but: */
struct mal_rank_lend {
	bool lending;	    /* some of our CPUs are lent */
	uint64_t next_look; /* at ranks that ask for CPUs */
	uint64_t look_every;
	uint64_t after; /* a wait shorter than this lends nothing */
	/* moving averages: waits long enough to lend, and the cost of taking back */
	uint64_t usual_wait;
	uint64_t usual_cost;
	uint64_t look_cost; /* of the last look at our other threads */
	uint64_t watched;   /* tick of that, or of one at their CPU time */
	uint64_t watch_every;
	bool rests; /* one of them computed while CPUs were lent */
	uint64_t last_poll;
	unsigned int kept; /* the CPU that is not lent, where polls are not seen */
	/* the last poll before the wait was abandoned, 0: it was not */
	_Atomic uint64_t abandoned;
};

/* team.c: the team, and what the user, the program and the system say of it */
struct mal_rank_team {
	unsigned int size; /* threads that the next region gets */
	unsigned int base; /* team size that the program knows of */
	/* the user had it told more threads than CPUs, to grow (max_threads) */
	bool reported_more;
	/* the most threads that the program was told, 0: none */
	_Atomic uint32_t reported_threads;
	/* the user asked the runtime to bind threads: it may do so after a resize */
	bool rebinds;
	/* then: the CPUs of the calling thread's place; false: it has none */
	bool (*place)(const struct mal_rank *rank, struct mal_cpumask *mask);
	const struct mal_runtime *managed; /* it has the team; NULL: not opened yet */
	bool block_fixed;		   /* the user or the program chose how threads wait */
	/* the user or the program chose the schedule of schedule(runtime) loops */
	_Atomic bool schedule_fixed;
	bool levels_differ; /* the user chose thread numbers for nested regions */
	bool all_limited;   /* the user bounds all threads of the process */
	bool no_room;	    /* the system has no room for a larger team */
	/* threads beyond the only one of the program compute as that does, which they help */
	bool mimic_primary_fp;
	unsigned int unbalanced; /* the program's team without us */
	unsigned int own;	 /* the same, but as many as the user had it told */
	unsigned int room;	 /* the largest team so far, or that there was room for */
	uint32_t schedule;	 /* the one that we set, as in mal_header */
	/* regions that keep the program's own: bits of enum mal_region_facts */
	uint8_t keeps;
	bool reported_two;	     /* the program is told 2 though the rank has one CPU */
	int usual_blocktime;	     /* ms */
	int usual_kind, usual_chunk; /* of schedule(runtime) */
	unsigned int linger;	     /* enum mal_linger */
	/* the size of a widened team in which the program asked for it, 0: it did not */
	_Atomic unsigned int asked_inside;
};

/*
 * prove.c: a program that can know its number of threads has regions of that size, but for
 * those that are free
 */
struct mal_rank_proofs {
	bool on;
	/* it was told or chose 1 thread: it may leave out what several would need */
	_Atomic bool reported_one;
};

/* mpi_test_loops.c: shared by the primary thread and the watching one */
struct mal_rank_watch {
	/* a lock, held for microseconds by the thread that lends or takes back */
	_Atomic bool taken;
	_Atomic uint32_t armed; /* the loop to watch, an odd number; 0: none */
	_Atomic uint32_t looks;
	/* twice the number of loops watched so far; primary thread */
	uint32_t loops;
	bool started;
};

/* wait_helper.c */
struct mal_rank_helper {
	/* BUSY: the helper acts for the primary thread, which waits for that */
	_Atomic uint32_t wait;
	_Atomic uint32_t rest; /* a futex: what the helper does while there is no call */
	/* the helper's: the last call that it saw, and the tick when it did first */
	uint32_t seen;
	uint64_t since, long_one; /* and the tick when it saw a long one */
	uint32_t calls;		  /* primary thread, as all below */
	unsigned int eager;	  /* calls behind a long wait that are left */
	bool blocks;		  /* the wait is a declared one that needs no CPU */
	_Atomic bool tried;	  /* to start the helper, by any thread */
	_Atomic bool started;
};

/*
 * offered.c: waits that the primary thread declared. DRAWN of them after a short one are
 * not timed, LEFT of these are to come: the next one counts for those. SEED: of random
 * numbers. TICKS: what they took in all.
 */
struct mal_rank_declared {
	unsigned int drawn, left, seed;
	uint64_t ticks;
};

/* asleep.c: declared waits of other threads than the primary one; the helper has all but WAITS */
struct mal_rank_asleep {
	/* how many last, below MAL_ASLEEP_BEGUN; and how often one began or ended */
	_Atomic uint64_t waits;
	/* what it saw at the last look, and since when; ticks */
	uint64_t seen, since;
	uint64_t next;	  /* look */
	uint64_t watched; /* tick of the last look at what threads computed */
};

/* unmanaged.c: of unmanaged ranks alone */
struct mal_rank_work {
	uint64_t waited;      /* CPU time of the primary thread in long waits, ns */
	uint64_t polled;      /* and in short ones, in ticks: it polls */
	uint64_t wait_begin;  /* its CPU time early in the current wait, 0: not known */
	uint64_t last_cpu;    /* that of the process outside waits at the last sample, ns */
	uint64_t last_serial; /* serial counter at the last sample, ticks */
	uint64_t busy;	      /* ticks worked while unmanaged */
	uint64_t not_serial;  /* ticks of the serial counter in which threads worked */
	unsigned int peak;
	unsigned int usable; /* CPUs that its threads can use now, 0 while disabled */
	bool asks;	     /* between MPI calls it asks for CPUs */
	unsigned int wish;   /* CPUs for which it has work, as it declared; 0: it did not */
	bool stays;	     /* so did another thread than the primary one: in MPI it holds too */
	/* tick of the last look at whether the other threads sleep, and: */
	uint64_t looked;
	bool idle;
};

/* lanes.c: what is in them of serial time, and of threads without slots; ticks */
struct mal_rank_lanes {
	uint64_t serial, loose;
};

/* pages.c: the tick of the last look, 0: there was none; and the ticks that one took */
struct mal_rank_pages {
	uint64_t looked, cost;
};

/* outside.c: waits outside MPI, of the primary thread; in ticks, but for NS */
struct mal_rank_outside {
	uint64_t waits;	   /* so far */
	uint64_t in_calls; /* in calls that wait for a device */
	uint64_t spun_ns;  /* CPU time in them, of long ones behind a long one */
	bool long_call;	   /* the last one was */
	uint64_t long_ticks;
	/* CPU time in long waits in MPI, as far as it was looked at: */
	uint64_t polled_ns;
	uint64_t wait, looked, look_ns; /* the wait, and the last look in it */
	/* What was known at the last sample, of that thread; 0: nothing. */
	int32_t of;
	struct mal_accounts {
		uint64_t tick, serial, cpu, others, barriers, mpi, ours, delay;
		uint64_t in_calls, spun;
	} last;
	bool no_delays; /* the kernel does not count them */
};

/* phase.c */
struct mal_rank_phase {
	uint64_t sampled_round;
	uint64_t last_sample;	  /* tick */
	unsigned int missed;	  /* answers in a row */
	uint64_t serial;	  /* that counter at the last sample */
	uint64_t calls;		  /* so many count as our own time so far */
	struct mal_period period; /* of regions; large */
};

/* A part: constant to all, but for the module that its struct names first, as NAME_own. */
#define MAL_PART(name) \
	union { \
		const struct mal_rank_##name name; \
		struct mal_rank_##name name##_own; \
	}

/*
 * The process. Only its primary thread writes it, where not marked as atomic; while it computes in
 * a loop of tests it left, the thread that watches these takes its CPUs back (mpi_test_loops.c);
 * where its polls are not seen another thread lends them (wait_helper.c). The lists of CPUs change,
 * and CPUs are lent and taken back, under a lock (cpus/lock.h).
 */
struct mal_rank {
	bool active;	/* attached to a segment; cleared in forked children and at the end */
	bool observe;	/* never bind a thread */
	bool divided;	/* the launcher bound no rank: this one has its share of their CPUs */
	bool unmanaged; /* MPI has started and no such runtime has yet (unmanaged.h) */
	unsigned int me;
	unsigned int rank_count; /* ranks among which the node's CPUs of the step were divided */
	struct mal_segment segment;
	struct mal_rank_slot *slot;
	struct mal_thread_slot *threads;
	struct mal_cpumask allocation; /* never left, whatever the segment says */
	struct mal_cpumask home;
	enum mal_mode mode;
	unsigned int bits; /* enum mal_bits_wish: what may change bits of results */
	MAL_PART(bounds);
	MAL_PART(lock);
	MAL_PART(cpus);
	MAL_PART(placed);
	MAL_PART(primary);
	MAL_PART(ompt);
	MAL_PART(region);
	MAL_PART(prepared);
	MAL_PART(sizing);
	MAL_PART(polls);
	MAL_PART(lend);
	MAL_PART(team);
	MAL_PART(proofs);
	MAL_PART(watch);
	MAL_PART(helper);
	MAL_PART(declared);
	/* CPUs are lent for waits of asleep.h; under the lock, by who lends or takes back */
	_Atomic bool lends_asleep;
	MAL_PART(asleep);
	MAL_PART(work);
	MAL_PART(lanes);
	MAL_PART(pages);
	MAL_PART(outside);
	MAL_PART(phase);
};

/* Numbers of mal_rank.asleep.waits: what a begin and an end add. */
#define MAL_ASLEEP_BEGUN (UINT64_C(1) << 32)
#define MAL_ASLEEP_BEGIN (MAL_ASLEEP_BEGUN + 1)
#define MAL_ASLEEP_END (MAL_ASLEEP_BEGUN - 1)

/* The low bits of mal_rank.helper.wait. The others number the calls. */
enum mal_wait_state { MAL_WAIT_NOT, MAL_WAIT_WAITS, MAL_WAIT_BUSY, MAL_WAIT_STATES = 4 };

/* Of threads in a region, see mal_thread.special: few have any. */
#define MAL_BY_CPU_TIME 2 /* they share a CPU: they are timed by CPU time */
#define MAL_MIMICS_FP 8	  /* they help the only thread of the program, and compute as that does */

/* The primary thread is in a blocking MPI call outside regions. */
enum mal_calling {
	MAL_CALLS_NOT,
	MAL_CALLS,
	MAL_CALLS_IN_TESTS,	/* that belongs to a loop of tests, as it has not waited */
	MAL_CALLS_POLLS_HIDDEN, /* in which no poll was seen (wait_helper.h) */
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
	uint8_t special; /* MAL_BY_CPU_TIME, MAL_MIMICS_FP */
	bool considered_primary;
	uint8_t calling;	 /* enum mal_calling */
	bool testing;		 /* primary, in a loop of MPI tests that counts as waiting */
	bool waiting;		 /* in such a call or loop, for long enough to be a wait */
	bool collective;	 /* the call is collective */
	unsigned int polls_left; /* primary, in a call: to the next look at the clock */
	/* tests, and calls that return at once, until the loop of them is looked at */
	long tests_left;
	unsigned int declared; /* waits that the program declared, one in the other (offered.h) */
	bool offers;	       /* not primary: the outermost of these counts (asleep.h) */
	bool beside; /* nor the process's first one: only regions and MPI make it primary */
};

/*
 * This process's. Entry points hand it on. What runs in each region, call and poll names it too, as
 * a pointer would take instructions: mal_region_begin() and _end(), mal_team_hides_size() and
 * mal_team_hide_size(), mal_length_learn(), mal_phase_region() and _boundary(), mal_call_begin()
 * and _end(), mal_wait_begin() and _poll(). Hidden: it is read without a look at where the linker
 * put it.
 */
extern struct mal_rank mal __attribute__((visibility("hidden")));
extern __thread struct mal_thread mal_self __attribute__((tls_model("initial-exec")));

/* How many of CPUS CPUs the rank can use by what the program declares. */
static inline unsigned int mal_limited(const struct mal_rank *rank, unsigned int cpus)
{
	return rank->bounds.limit && rank->bounds.limit < cpus ? rank->bounds.limit : cpus;
}

static inline uint32_t mal_rules(const struct mal_rank *rank)
{
	return atomic_load_explicit(&rank->segment.header->rules, memory_order_relaxed) &
	       ~rank->bounds.rules_dropped;
}

static inline bool mal_rule(const struct mal_rank *rank, uint32_t rule)
{
	return mal_rules(rank) & rule;
}

/*
 * Whether RULE holds, or may yet: ranks can come before the controller has begun. For what is done
 * once, and holds when the rule comes.
 */
static inline bool mal_rule_or_none(const struct mal_rank *rank, uint32_t rule)
{
	uint32_t rules = mal_rules(rank);

	return rules & rule || !((rules & MAL_RULE_READY) | (rank->bounds.rules_dropped & rule));
}
