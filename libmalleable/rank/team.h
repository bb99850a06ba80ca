/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * team.h: the OpenMP team's size, and what the program has been told about it.
 *
 * A program that asked for its number of threads may have sized its data by the answer. From then
 * on the team keeps that size and is only spread over more or fewer CPUs (cpuset mode). A program
 * that never asked cannot contradict itself, so its team may follow the CPUs (team mode).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/rank/state/rank.h"

/* Read the team size that the managed runtime starts with. Primary thread, runtime initialised. */
void mal_team_open(struct mal_rank *rank);

/*
 * Whether regions may get another number of threads than the program set; where regions were
 * classified, whether those that are free may.
 */
bool mal_team_is_free(const struct mal_rank *rank);

/* The same of the current region. */
bool mal_team_may_differ(const struct mal_rank *rank);

/* Whether regions of the program may have another number for most of their time. */
bool mal_team_is_mostly_free(const struct mal_rank *rank);

/* The number of threads beyond which more CPUs do not help the program, 0: none. */
unsigned int mal_team_max(const struct mal_rank *rank);

/* Give the next region THREADS threads. Primary thread, outside regions or in parallel_begin. */
void mal_team_set(struct mal_rank *rank, unsigned int threads);

/* At a phase boundary: let the team follow the rank's CPUs, as far as mode and program allow. */
void mal_team_follow(struct mal_rank *rank, unsigned int cpus);

/* How long threads that wait for work keep their CPU busy before they sleep. */
enum mal_linger {
	MAL_LINGER_USUAL, /* as configured; libomp: 200 ms */
	/* 1 ms: a wake-up takes 10 to 60 us, too long for each of many short regions */
	MAL_LINGER_SHORT,
	MAL_LINGER_NONE, /* the threads share CPUs */
};

/*
 * Set it for the next regions, unless the user chose it (KMP_BLOCKTIME, OMP_WAIT_POLICY). Returns
 * whether it changed.
 */
bool mal_team_set_linger(struct mal_rank *rank, enum mal_linger linger);
/* What the program is to learn where the runtime says MS. */
int mal_team_report_blocktime(const struct mal_rank *rank, int ms);

/*
 * Set how loops with schedule(runtime) share out work from the next region on: kind (omp_sched_t) +
 * chunk * 65536, 0: as the program set it. Primary thread.
 */
void mal_team_set_schedule(struct mal_rank *rank, uint32_t schedule);

/* The program lets the runtime choose the number of threads (omp_set_dynamic): keep the size. */
void mal_team_keep_dynamic(struct mal_rank *rank);

/* The program chose the schedule of its loops, or how long threads wait for work. */
void mal_team_keep_schedule(struct mal_rank *rank);
void mal_team_keep_blocktime(struct mal_rank *rank);

/* Another thread is the primary one: it opens the team anew, as settings are each thread's own. */
static inline void mal_team_forget(struct mal_rank *rank)
{
	rank->team_own.base = 0;
}

/*
 * Clamp THREADS to the limits of the user and the system: libomp ends the process if it cannot
 * create a thread (kmp_runtime.cpp, __kmp_create_worker). Never less than the base.
 */
unsigned int mal_team_clamp(struct mal_rank *rank, unsigned int threads);

/*
 * Before the team's size may change: check whether the program loaded an object that rules that
 * out, or learnt the size inside a region.
 */
void mal_team_look(struct mal_rank *rank);

/*
 * Nested regions would inherit the size of a team that differs from the base: whether, and how,
 * each thread of it hides that size first.
 */
bool mal_team_hides_size(void);
void mal_team_hide_size(void);

/* The program set its number of threads. Primary thread, outside regions. */
void mal_team_chosen(struct mal_rank *rank, unsigned int threads);

/*
 * The program learns THREADS, or inside a region that we widened the size of that. Returns what it
 * learns.
 */
int mal_team_report(struct mal_rank *rank, int threads);
int mal_team_report_inside(struct mal_rank *rank, int threads);
