/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policy.h: the policy interface: a pure function from samples to a plan, with described
 * parameters.
 *
 * Policies use no clock, no file and no global state, so the controller, the replay and the tests
 * call the same code. A plan is made in two separate steps: how many CPUs each rank gets (decide),
 * then which ones (mapping.h). The caller checks every plan (plan_check.h) before it carries it
 * out.
 */
#ifndef MAL_POLICIES_POLICY_H
#define MAL_POLICIES_POLICY_H

#include <stdbool.h>
#include <stddef.h>

/* Version of this interface; a policy of another one is not used. */
#define MAL_POLICY_ABI 1

/* A parameter, set by KEY=VALUE in --balance; yes and no stand for 1 and 0. */
struct mal_param {
	const char *name;
	const char *help;
	double fallback; /* value if the user says nothing */
	double min;
	double max;
	const char *choices; /* "any|near|none": words for the values 0, 1, 2; NULL: numbers */
};

/*
 * The step's CPUs on the node, numbered 0 to cpu_count - 1. CPUs with equal numbers share the
 * level.
 */
struct mal_topology {
	unsigned int cpu_count;
	const unsigned int *l3;
	const unsigned int *numa;
	const unsigned int *package;
	const unsigned int *core; /* NULL: not known */
};

/* What one rank did in the last window: one or several phases, the same ones for all ranks. */
struct mal_sample {
	bool running;	   /* false: it ended or never started; the rest is 0, but for cpus */
	double elapsed_s;  /* length of the window */
	double work_s;	   /* working time in parallel regions, summed over threads */
	double serial_s;   /* time of the primary thread outside regions and MPI */
	double mpi_s;	   /* time of the primary thread in blocking MPI calls */
	double barrier_s;  /* other time in regions (barriers, idle), summed over threads */
	double region_s;   /* mean length of a region */
	unsigned int cpus; /* CPUs that it owns now */
	unsigned int
		max; /* most CPUs it can use (the program was told a number of threads), 0: any */
	unsigned int team; /* threads */
	double phases;	   /* in the window, as the rank counts them; 0: unknown */
};

/* Everything a decision may depend on. */
struct mal_view {
	const struct mal_topology *topology;
	unsigned int rank_count;
	const struct mal_sample
		*samples; /* by rank; NULL: the step starts, only bind, lend and grow count */
	const unsigned int *owner; /* by CPU: its rank, rank_count or more: none */
};

/* Which lent CPUs a rank borrows first. */
enum mal_nearness {
	MAL_NEAR_FIRST, /* those of its L3, then of its NUMA node, then all */
	MAL_NEAR_ANY,	/* in the order of their numbers */
	MAL_NEAR_ONLY,	/* those of its L3, then of its NUMA node */
};

/* How ranks lend and borrow. All 0: lend everything in any blocking call, borrow without limit. */
struct mal_lending {
	bool keep_one;	       /* keep the waiting thread's CPU */
	bool collectives_only; /* in collective calls only */
	enum mal_nearness near;
	unsigned int max; /* most CPUs a rank uses when it borrows, 0: any number */
};

/*
 * How loops with schedule(runtime) share out their work; numbers as in omp_sched_t. libomp 19.1.7
 * knows more kinds, but ends the program if omp_set_schedule gets one of them.
 */
enum mal_schedule_kind {
	MAL_SCHEDULE_OWN = 0, /* as the program has it */
	MAL_SCHEDULE_STATIC = 1,
	MAL_SCHEDULE_DYNAMIC = 2,
	MAL_SCHEDULE_GUIDED = 3,
};

struct mal_schedule {
	unsigned int kind;  /* enum mal_schedule_kind */
	unsigned int chunk; /* iterations, 0: the runtime's default; below 65536 */
};

/* The answer. Arrays are the caller's. */
struct mal_plan {
	bool bind; /* threads may be bound and cpusets changed at all */
	bool lend; /* ranks lend while they wait in MPI */
	bool grow; /* long regions may be opened with more threads than CPUs */
	struct mal_lending lending;
	struct mal_schedule schedule;
	bool move;	     /* carry out count */
	unsigned int *count; /* by rank: CPUs it shall own */
	unsigned int *owner; /* by CPU: filled by the mapping */
	unsigned int *use;   /* by rank: CPUs its team uses, 0: all; NULL: not wanted */
	bool short_windows;  /* a trial runs: keep windows short */
	double now_s;	     /* predicted length of the window without the plan */
	double forecast_s;   /* the same with the plan; equal if nothing moves */
	/*
	 * For the report: the time of a phase with moves over that without, and the same of
	 * lending, as measured in this step. 0: not compared.
	 */
	double move_times, lend_times;
	const char *broken; /* not for policies: whoever runs a failed one says why. Static text */
};

struct mal_policy {
	unsigned int abi;
	const char *name;
	const char *summary; /* one line */
	const struct mal_param *params;
	size_t param_count;
	/* Create the state for one step; VALUES are in the order of params. NULL: out of memory. */
	void *(*create)(const double *values);
	/*
	 * Fill PLAN. It arrives with all fields false or 0, but count has the present numbers.
	 * Returns 0, or -1: no opinion.
	 */
	int (*decide)(void *state, const struct mal_view *view, struct mal_plan *plan);
	/*
	 * After a decision that moves, fill plan->owner from plan->count: which CPUs. NULL: the
	 * nearest ones, with least movement (mapping.h).
	 */
	void (*map)(void *state, const struct mal_view *view, struct mal_plan *plan);
	/* Free the state; NULL is allowed. */
	void (*destroy)(void *state);
};

#endif
