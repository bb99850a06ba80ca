/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pins.h: remember threads whose CPUs the program chose, in ranks whose threads get all CPUs of the
 * rank.
 *
 * A process that binds such a rank's threads first records the mask that they get, and leaves
 * threads alone that the program bound. All functions are thread safe.
 */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/base/cpumask.h"

struct mal_rank;

/* The rank starts; its threads have MASK, or its home. */
void mal_pins_open(const struct mal_rank *rank, const struct mal_cpumask *mask);

/* Record that threads of RANK are about to get MASK. */
void mal_pins_give(const struct mal_rank *rank, unsigned int number,
		   const struct mal_cpumask *mask);

/* Whether to leave thread TID of RANK alone: its mask was set by the program, or it has ended. */
bool mal_pins_keep(const struct mal_rank *rank, unsigned int number, int32_t tid);

/* What mal_pins_set() noted, and what was noted there before. */
struct mal_pin {
	unsigned int at;
	uint64_t before, now;	 /* NOW 0: nothing was noted */
	struct mal_cpumask mask; /* what was there before */
};

/* The program is about to set MASK for thread TID (0: the calling one). */
struct mal_pin mal_pins_set(const struct mal_rank *rank, int32_t tid,
			    const struct mal_cpumask *mask);

/* The kernel refused that: the thread has the CPUs that it had. */
void mal_pins_undo(const struct mal_rank *rank, const struct mal_pin *pin);

/* Did the program set MASK for thread TID (0: the calling one) last? */
bool mal_pins_has(const struct mal_rank *rank, int32_t tid, const struct mal_cpumask *mask);

/* Which CPUs the program chose for thread TID (0: the calling one). False: it chose none. */
bool mal_pins_find(const struct mal_rank *rank, int32_t tid, struct mal_cpumask *mask);

/* SET, of SIZE bytes, as the program passes it: the CPUs in it that are the step's. */
struct mal_cpumask mal_pins_mask(const struct mal_rank *rank, size_t size, const cpu_set_t *set);

/* Whether thread TID (0: the calling one) is of this process, and MASK one that we give. */
bool mal_pins_gave(const struct mal_rank *rank, int32_t tid, const struct mal_cpumask *mask);

/* The system's number of a thread, -1: it has ended. */
int32_t mal_pins_number(pthread_t thread);

/*
 * Whether the program chose the CPUs of the calling thread. Threads it starts inherit them, in
 * MASK.
 */
bool mal_pins_inherit(const struct mal_rank *rank, struct mal_cpumask *mask);
