/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * windows.c: how long windows are.
 *
 * Invariant: windows hold whole time steps once the first phases have shown how many boundaries
 * one has (t/unit/test_sampling.c: strides_are_whole_steps).
 */
#include "policies/decide/windows.h"

#include <math.h>
#include <string.h>

#include "policies/interface/limits.h"

/* Windows without a change before they become longer. */
#define STEADY 2
/* A step has so many boundaries at most. */
#define STEP_MAX 8u
/* Phases that differ by less than this part are the same. */
#define SAME 0.1
/* A window is this part of the wanted length at least. */
#define LEAST_PART 0.25

struct mal_windows mal_windows_first(void)
{
	return (struct mal_windows){.stride = 1, .window_s = MAL_WINDOW_FIRST_S};
}

/* Whole steps are in BOUNDARIES, of which a step has some. */
static uint64_t whole_steps(const struct mal_windows *windows, double boundaries)
{
	uint64_t step = windows->step ? windows->step : 1;
	uint64_t steps = (uint64_t)fmin(boundaries, 1e9) / step;

	return step * (steps ? steps : 1);
}

/* The next window is as short at once. */
static void shorten(struct mal_windows *windows)
{
	double part = MAL_WINDOW_FIRST_S / windows->window_s;

	windows->window_s = MAL_WINDOW_FIRST_S;
	windows->stride = whole_steps(windows, part * (double)windows->stride);
}

bool mal_windows_are_steady(const struct mal_windows *windows)
{
	return windows->steady > STEADY;
}

void mal_windows_adapt(struct mal_windows *windows, bool moved)
{
	if (moved)
		windows->steady = 0;
	if (moved || windows->short_ones) {
		shorten(windows);
	} else if (++windows->steady > STEADY) {
		windows->window_s = 2 * windows->window_s < MAL_WINDOW_LAST_S
					    ? 2 * windows->window_s
					    : MAL_WINDOW_LAST_S;
	}
}

/* How much early phases differ from those so many boundaries LATER, on average. */
static double difference(const struct mal_windows *windows, unsigned int later)
{
	double sum = 0;

	for (unsigned int i = later; i < MAL_WINDOWS_EARLY; i++)
		sum += fabs(windows->early_s[i] - windows->early_s[i - later]);
	return sum / (MAL_WINDOWS_EARLY - later);
}

/*
 * Boundaries of a time step: phases that are so many boundaries apart differ less than half as
 * much as neighbours, and a step fits in a window. 1: none.
 */
static unsigned int find_step(const struct mal_windows *windows)
{
	double neighbours = difference(windows, 1), mean_s = 0;

	for (unsigned int i = 0; i < MAL_WINDOWS_EARLY; i++)
		mean_s += windows->early_s[i] / MAL_WINDOWS_EARLY;
	if (neighbours < SAME * mean_s)
		return 1;
	for (unsigned int later = 2; later <= STEP_MAX; later++)
		if (later * mean_s < MAL_WINDOW_LAST_S &&
		    difference(windows, later) < neighbours / 2)
			return later;
	return 1;
}

/*
 * A round is over. Where it has several boundaries they came at once, before its end. Returns
 * whether the step is known.
 */
static bool learn_step(struct mal_windows *windows, double boundaries, double elapsed_s)
{
	double since = fmin(boundaries - windows->boundaries, STEP_MAX + 1);
	size_t passed, kept;

	if (since < 1)
		return false;
	passed = (size_t)since;
	kept = MAL_WINDOWS_EARLY - passed;
	memmove(windows->early_s, windows->early_s + passed, kept * sizeof(windows->early_s[0]));
	memset(windows->early_s + kept, 0, passed * sizeof(windows->early_s[0]));
	windows->early_s[MAL_WINDOWS_EARLY - 1] = elapsed_s - windows->elapsed_s;
	if (++windows->early == MAL_WINDOWS_EARLY)
		windows->step = find_step(windows);
	return windows->step;
}

/*
 * Boundaries until the next sample, for windows of the wanted length; it grows slowly, phases
 * differ in length.
 */
static void adapt_stride(struct mal_windows *windows, double boundaries, double elapsed_s)
{
	double wanted = windows->window_s * boundaries / elapsed_s;

	/*
	 * A program starts with a burst of collective calls; its first real phase is not to be
	 * missed for them.
	 */
	if (!windows->step && !learn_step(windows, boundaries, elapsed_s))
		return;
	windows->stride = whole_steps(windows, fmin(wanted, 2.0 * (double)windows->stride));
}

bool mal_windows_end(struct mal_windows *windows, double boundaries, double elapsed_s)
{
	bool ends = elapsed_s >= LEAST_PART * windows->window_s;

	adapt_stride(windows, boundaries, elapsed_s);
	windows->boundaries = ends ? 0 : boundaries;
	windows->elapsed_s = ends ? 0 : elapsed_s;
	return ends;
}

void mal_windows_throw_away(struct mal_windows *windows)
{
	windows->boundaries = windows->elapsed_s = 0;
}

void mal_windows_count_anew(struct mal_windows *windows)
{
	windows->stride = 1;
	windows->step = windows->early = 0;
	mal_windows_throw_away(windows);
}
