/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * totals.h: what windows add up to: time as it was, without balancing, and at best.
 *
 * Invariant: A window in which nobody shared takes as long without us (t/unit/test_sampling.c:
 * losses_inside_regions_are_no_gain).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Add one window, which is the last one from now on. */
void mal_totals_add(struct mal_controller *controller, const struct mal_sample *samples);

/*
 * Share of the attainable (attained.h), for people: 0 where it was slower, as a small gain that was
 * missed by much is a large negative share; NaN also where the step was only observed, and any
 * share would be noise.
 */
double mal_totals_got(const struct mal_controller *controller);
