/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sibling_threads.h: whether the rank's other threads sleep, as the kernel sees them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mal_rank;

/* Whether that thread sleeps in a system call, or has ended as the first one can. About 10 us. */
bool mal_thread_sleeps(int32_t tid);

/* The CPU where that thread ran last, MAL_NO_CPU: nobody can tell. */
unsigned int mal_thread_cpu(int32_t tid);

/*
 * Whether no thread of this process runs but the caller, the primary one and the team, made by
 * anybody at any time.
 * Takes about 1 us where all still sleep since the last look, else 20 us; and 0.3 us for each
 * thread, 10 us if it has run since. More than a few hundred are not looked at, and count as
 * running.
 */
bool mal_others_sleep(const struct mal_rank *rank);

/* The same of all threads but the caller. These three: who has the lock of the CPUs (lock.h). */
bool mal_all_sleep(const struct mal_rank *rank);

/*
 * NS after the last look, at which all slept: whether one of them used more than a tenth of a CPU
 * since, or one that is new does not sleep. Takes 0.3 us for each thread, and a look as above where
 * one has come or gone.
 */
bool mal_others_compute(const struct mal_rank *rank, uint64_t ns);
