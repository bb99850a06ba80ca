/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * team.h: the OpenMP team's size, and what the program has been told about it.
 *
 * A program that asked for its number of threads may have sized its data by the answer. From then on the team stays as it
 * was told: it is only spread over more or fewer CPUs (cpuset mode). A program that never asked cannot contradict
 * itself, and its team may follow the CPUs (team mode).
 */
#ifndef MAL_RANK_TEAM_H
#define MAL_RANK_TEAM_H

#include <stdbool.h>
#include <stdint.h>

/* Find the runtime's functions and the team size it starts with. Primary thread, runtime initialised. */
void mal_team_open(void);

/* True when regions may get another number of threads than the program set. */
bool mal_team_is_free(void);

/* The number of threads beyond which CPUs are of no use to the program, 0: none. */
unsigned int mal_team_most(void);

/* The next region gets THREADS threads. Primary thread, outside regions or in parallel_begin. */
void mal_team_set(unsigned int threads);

/* At a phase boundary: the team follows the rank's CPUs, as far as mode and program allow. */
void mal_team_follow(unsigned int cpus);

/* How long threads that wait for work keep their CPU busy before they sleep. */
enum mal_patience {
	MAL_PATIENCE_USUAL, /* as the runtime is configured; libomp: 200 ms */
	MAL_PATIENCE_SHORT, /* 1 ms: a wake-up takes 10 to 60 us, too much for each of many short regions */
	MAL_PATIENCE_NONE,  /* they share CPUs with others */
};

/* For the next regions. What the user chose (KMP_BLOCKTIME, OMP_WAIT_POLICY) is kept. Returns false where it was so before. */
bool mal_team_set_patience(enum mal_patience patience);

/*
 * Loops with schedule(runtime) share out their work so from the next region on: kind (omp_sched_t) + chunk * 65536, 0: as the program has
 * it. Primary thread.
 */
void mal_team_set_schedule(uint32_t schedule);

#endif
