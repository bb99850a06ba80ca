/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sampling.h: rounds of samples, from the segment to checked numbers. */
#ifndef MAL_CONTROLLER_SAMPLING_H
#define MAL_CONTROLLER_SAMPLING_H

#include "libmalleable/controller/controller.h"

/* Notice new, ended and dead ranks. Returns true if any changed. */
bool mal_ranks_update(struct mal_controller *controller);

/* Ask the ranks for the next round of samples. */
void mal_round_begin(struct mal_controller *controller);

/* Has every running rank answered the present round? */
bool mal_round_is_complete(const struct mal_controller *controller);

/*
 * Read the round's snapshots into SAMPLES (by rank). Returns true if they make a window: every running rank had spoken
 * in an earlier round too, and what it says is possible. What a rank claims is bounded by the time that passed.
 */
bool mal_round_read(struct mal_controller *controller, struct mal_sample *samples);

/* Fill OWNERS, for each CPU of the step, with the rank that owns it now; no rank: a number that none has. */
void mal_read_owners(const struct mal_controller *controller, unsigned int *owners);

/* The running rank to which Slurm gave CPU; the number of ranks if there is none. */
unsigned int mal_home_of(const struct mal_controller *controller, unsigned int cpu);

/* Fill COUNTS, by rank, with the CPUs that each owns now. */
void mal_count_owned(const struct mal_controller *controller, uint16_t *counts);

#endif
