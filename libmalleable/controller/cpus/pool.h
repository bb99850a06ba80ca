/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pool.h: pool=job: CPUs go from one step of the job to another on this node, where the ranks there
 * have more to do on each.
 *
 * The plugin tells the controllers of all such steps about each other, and which CPUs each of them
 * may use at all (spank/job_cpus.h). The first of them that lives asks the others now and then what
 * they have and do, and passes CPUs on. One step leaves a CPU before the next is told; where
 * threads need longer, that is done the next time. Nothing else is remembered from one time to the
 * next, so that whatever a dead controller left behind is found again. Nothing is passed on while a
 * step does not answer, since its ranks may be on any CPU.
 *
 * Invariant: A CPU is offered to a step after the one that had it has left it, not before
 * (t/unit/test_recover.c: passed_on_when_left).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"
#include "policies/model/pool_division.h"

/*
 * From the plugin: the steps of the pool, in TEXT, as NAME:OWN:MAY separated by blanks: the name of
 * its controller's socket, what Slurm gave the step, and what it may use. Returns 0, or -1 with
 * ERR.
 */
int mal_pool_set(struct mal_controller *controller, const char *text, struct mal_error *err);

/* What this step has and does, for the first of the steps; to be freed. NULL: out of memory. */
char *mal_pool_describe(const struct mal_controller *controller);

/* The ranks of all steps. */
struct mal_pool_ranks {
	unsigned int count;
	unsigned int cpus; /* of all of them */
	struct mal_pool_rank ranks[MAL_MAX_RANKS];
};

/* CPUs of one step. */
struct mal_pool_cpus {
	struct mal_cpumask has;
	struct mal_cpumask leaving; /* of these: it leaves them, threads may still be there */
	struct mal_cpumask keeps;   /* of these: the last one of each rank, which stays */
};

/*
 * Take TEXT, which the controller of STEP answered, apart: its CPUs, and its ranks behind those
 * that are in RANKS already. It need not be true: false where it cannot be.
 */
bool mal_pool_parse(char *text, unsigned int step, struct mal_pool_cpus *cpus,
		    struct mal_pool_ranks *ranks);

/*
 * Call it in each turn of the loop. If this is the first of the steps, and it is time, see who
 * should have what; 20 ms at most for each answer of another one.
 */
void mal_pool_update(struct mal_controller *controller);
