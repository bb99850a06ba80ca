/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policy.h: what a policy is: a pure function from samples to a plan, with described parameters.
 *
 * Policies see no clock, no file and no global: the controller, the replay and the tests call the very same code. A plan
 * is made in two steps that can be called apart: how many CPUs each rank gets (a policy's decide), then
 * which ones (mapping.h). The caller checks every plan (check.h) before it believes it.
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
	double least;
	double most;
	const char *choices; /* "any|near|none": words for the values 0, 1, 2; NULL: numbers */
};

/* The CPUs of the step on the node, numbered 0 .. cpu_count - 1; equal numbers share that level. */
struct mal_topology {
	unsigned int cpu_count;
	const unsigned int *l3;
	const unsigned int *numa;
	const unsigned int *package;
	const unsigned int *core; /* NULL: not known */
};

/* What one rank did in the last window (one or several phases, the same ones for all ranks). */
struct mal_sample {
	bool running;	   /* false: it ended, or never came; the rest is 0 */
	double elapsed_s;  /* length of the window */
	double work_s;	   /* sum over threads of the time they worked in parallel regions */
	double serial_s;   /* time of the primary thread outside regions and MPI */
	double mpi_s;	   /* time of the primary thread in blocking MPI calls */
	double barrier_s;  /* sum over threads of the time in regions that was no work: barriers, idle */
	double region_s;   /* mean length of a region */
	unsigned int cpus; /* CPUs that it owns now */
	unsigned int most; /* CPUs that it can use at most (its program was told a number of threads), 0: any */
	unsigned int team; /* threads */
	double phases;	   /* that the window has, as the rank counts them; 0: not known */
};

/* Everything that a decision may depend on. */
struct mal_view {
	const struct mal_topology *topology;
	unsigned int rank_count;
	const struct mal_sample *samples; /* by rank; NULL: the step starts, only bind, lend and grow are asked */
	const unsigned int *owner;	  /* by CPU: the rank that owns it, rank_count or more: none */
};

/* Which lent CPUs a rank borrows. */
enum mal_nearness {
	MAL_NEAR_FIRST, /* those of its L3, then of its NUMA node, then all */
	MAL_NEAR_ANY,	/* in the order of their numbers */
	MAL_NEAR_ONLY,	/* those of its L3, then of its NUMA node */
};

/* How ranks lend and borrow; all 0: all they have, in every blocking call, as many as they can use. */
struct mal_lending {
	bool keep_one;	       /* not the CPU of the thread that waits */
	bool collectives_only; /* in collective calls only */
	enum mal_nearness near;
	unsigned int most; /* CPUs that a rank uses at most when it borrows, 0: any number */
};

/*
 * How loops with schedule(runtime) share out their work; numbers as in omp_sched_t. (libomp has more, and ends the program where
 * omp_set_schedule is given them: 19.1.7.)
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
	bool move;	     /* count is to be carried out */
	unsigned int *count; /* by rank: CPUs it is to own */
	unsigned int *owner; /* by CPU: filled by the mapping */
	unsigned int *use;   /* by rank: CPUs that its team uses, 0: all of them; NULL: not asked for */
	bool brief;	     /* something is being tried: windows are to be short */
	double now_s;	     /* predicted length of the window as things are */
	double forecast_s;   /* and with the plan; equal if nothing moves */
	const char *broken;  /* left alone by policies; who runs one that fails says here why. Static text */
};

struct mal_policy {
	unsigned int abi;
	const char *name;
	const char *summary; /* one line */
	const struct mal_param *params;
	size_t param_count;
	/* A state for one step, VALUES in the order of params. NULL: out of memory. */
	void *(*create)(const double *values);
	/* Fill PLAN, in which all is false and 0 and count has the present numbers. Returns 0, or -1: no opinion. */
	int (*decide)(void *state, const struct mal_view *view, struct mal_plan *plan);
	/*
	 * Fill plan->owner from plan->count after a decision that moves: which CPUs. NULL: the nearest ones, with least
	 * movement (mapping.h).
	 */
	void (*map)(void *state, const struct mal_view *view, struct mal_plan *plan);
	/* Free the state; NULL is allowed. */
	void (*destroy)(void *state);
};

#endif
