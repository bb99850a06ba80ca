/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pins.h: remember threads whose CPUs the program chose, in ranks whose threads get all CPUs of the
 * rank.
 *
 * A process that binds such a rank's threads first records the mask that they get, and leaves
 * threads alone that the program bound. All functions are thread safe.
 */
#ifndef MAL_RANK_CPUS_PINS_H
#define MAL_RANK_CPUS_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/base/cpumask.h"

/* The rank starts; its threads have MASK, or its home. */
void mal_pins_open(const struct mal_cpumask *mask);

/* Record that threads of RANK are about to get MASK. */
void mal_pins_give(unsigned int rank, const struct mal_cpumask *mask);

/* Whether to leave thread TID of RANK alone: its mask was set by the program, or it has ended. */
bool mal_pins_keep(unsigned int rank, int32_t tid);

/* The program is about to set MASK for thread TID (0: the calling one). */
void mal_pins_set(int32_t tid, const struct mal_cpumask *mask);

/*
 * Whether the program chose the CPUs of the calling thread. Threads it starts inherit them, in
 * MASK.
 */
bool mal_pins_inherit(struct mal_cpumask *mask);

#endif
