/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * verdict.h: what balancing made of a step, in one line.
 *
 * Invariant: What no window measured takes as long without us (t/unit/test_report.c:
 * verdict_is_of_the_whole_step).
 */
#pragma once

#include <stddef.h>

#include "libmalleable/controller/load/totals.h"
#include "policies/decide/simulation.h"

/* Enough for any verdict. */
#define MAL_VERDICT_SIZE 256

/*
 * Write it into LINE, of SIZE bytes, terminated, without a newline. It compares the time of the
 * step, STEP_S seconds, with the times that the model gives (policies/model/model.h): how many
 * times as fast it was, and what part of the possible gain that is. What no window measured, such
 * as the start, would have taken as long without us. Where there is no gain the line gives the
 * reason, if that is known, and what to try. There was one window at least. Returns LINE.
 */
const char *mal_verdict(const struct mal_controller *controller, double step_s, char *line,
			size_t size);

/*
 * The same where there was no window: why not. Known are MPI calls in regions, which are no phase
 * boundaries, and work after MPI_Finalize; else the step was too short.
 */
const char *mal_verdict_unmeasured(const struct mal_controller *controller, char *line,
				   size_t size);

/*
 * What the windows would have taken without balancing, in seconds; NaN where the verdict is that
 * there is no estimate.
 */
double mal_verdict_off(const struct mal_controller *controller, double step_s);

/*
 * The time of the whole step, of STEP_S seconds, with the policy that was simulated, into
 * *PREDICTED_S; NaN: no estimate, as too much of it hangs on a trial, or others used the CPUs.
 * Returns its share of the attainable (attained.h), of the verdict's times.
 */
double mal_verdict_predict(const struct mal_controller *controller,
			   const struct mal_outcome *simulated, double step_s, double *predicted_s);
