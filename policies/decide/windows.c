/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* windows.c: how long windows are. */
#include "policies/decide/windows.h"

/* Windows without a change before they become longer. */
#define STEADY 2
/* In the first rounds every boundary is looked at. */
#define SHORT_ROUNDS 32
/* A window is this part of the wanted length at least. */
#define LEAST_PART 0.25

struct mal_windows mal_windows_first(void)
{
	return (struct mal_windows){.stride = 1, .window_s = MAL_WINDOW_FIRST_S};
}

/* The next window is as short at once. */
static void shorten(struct mal_windows *windows)
{
	double part = MAL_WINDOW_FIRST_S / windows->window_s;

	windows->window_s = MAL_WINDOW_FIRST_S;
	windows->stride = (uint64_t)(part * (double)windows->stride);
	windows->stride += windows->stride == 0;
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
	if (windows->round < SHORT_ROUNDS)
		return;
	if (wanted > 2.0 * (double)windows->stride)
		wanted = 2.0 * (double)windows->stride;
	windows->stride = wanted < 1 ? 1 : wanted > 1e9 ? 1000000000 : (uint64_t)wanted;
}

bool mal_windows_end(struct mal_windows *windows, double boundaries, double elapsed_s)
{
	adapt_stride(windows, boundaries, elapsed_s);
	return elapsed_s >= LEAST_PART * windows->window_s;
}

void mal_windows_count_anew(struct mal_windows *windows)
{
	windows->stride = 1;
}
