/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sampling.h: the ranks' rounds of samples, from the segment to checked numbers.
 *
 * Invariant: What a rank claims is bounded by the time that passed (t/unit/test_sampling.c:
 * claims_are_bounded).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Before the first round. */
void mal_sampling_open(struct mal_controller *controller);

/* The policy tries something, or does not: windows stay short while it does. */
void mal_sampling_use_short_windows(struct mal_controller *controller, bool short_ones);

/*
 * A window was decided on. Windows become longer while nothing moves, and short again if CPUs have
 * MOVED.
 */
void mal_sampling_adapt(struct mal_controller *controller, bool moved);

/* A rank came: phases are measured anew. RANK left: what it wrote begins no window. */
void mal_sampling_rank_came(struct mal_controller *controller);
void mal_sampling_rank_left(struct mal_controller *controller, unsigned int rank);

/* How many boundaries RANK passed of the kind that ends a phase, or of those that do. */
uint64_t mal_sampling_boundaries(const struct mal_controller *controller, unsigned int rank);

/* The ticks between two readings of a counter in seconds, within 0 and MAX_S. */
double mal_sampling_span(uint64_t now, uint64_t before, double max_s);

/*
 * What a rank did in SAMPLE's time, which is known, by its counters BEFORE and NOW: no more than
 * can have been.
 */
void mal_sampling_count(const struct mal_controller *controller, const struct mal_snapshot *before,
			const struct mal_snapshot *now, struct mal_sample *sample);

/* Ask the ranks for the next round of samples. */
void mal_round_begin(struct mal_controller *controller);

/*
 * Look at what the ranks passed since. If another kind of boundary counts, ask anew. A round that
 * was planned for shorter phases ends with the next one.
 */
void mal_round_look(struct mal_controller *controller);

/* Has every running rank answered the present round? */
bool mal_round_is_complete(const struct mal_controller *controller);

/* What a round ends: nothing, as its window goes on; one that is thrown away, or none; a window. */
enum mal_round { MAL_ROUND_GOES_ON, MAL_ROUND_THROWN_AWAY, MAL_ROUND_WINDOW };

/*
 * Read ROUND: its snapshots, and who owned what. They make a window if every running rank had
 * spoken in an earlier round too, and what it says is possible. What a rank claims is bounded by
 * the time that passed.
 */
enum mal_round mal_round_read(struct mal_controller *controller, struct mal_window *round);
