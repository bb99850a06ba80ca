/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * windows.h: how long windows are: the controller's rule, for it and for simulations of it.
 *
 * A window ends at a boundary, a STRIDE of boundaries after the last one at the earliest, and not
 * before it is long enough to tell work from noise. Many programs pass several boundaries in each
 * time step, and the phases between them differ: windows that cut steps differ as much. The first
 * boundaries tell how many a step has, and the stride is of whole steps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Length that is wanted for windows at most. */
#define MAL_WINDOW_LAST_S 0.1
/* In so many first rounds every boundary is looked at. */
#define MAL_WINDOWS_EARLY 32

struct mal_windows {
	uint64_t stride;     /* boundaries from one round to the next */
	double window_s;     /* wanted length of a window */
	unsigned int steady; /* windows without a change */
	bool short_ones;     /* the policy tries something: they stay short */
	/* Rounds of one boundary so far, and what the last phases took. */
	unsigned int early;
	double early_s[MAL_WINDOWS_EARLY];
	/* The window that goes on, up to the last round. */
	double boundaries, elapsed_s;
	unsigned int step; /* boundaries of a time step; 0: not known yet */
};

/* The rule before the first round. */
struct mal_windows mal_windows_first(void);

/*
 * A window was decided on. Windows become longer while nothing moves, and short again if CPUs have
 * MOVED.
 */
void mal_windows_adapt(struct mal_windows *windows, bool moved);

/*
 * A round of samples is complete, BOUNDARIES and ELAPSED_S after the last window's end. Returns
 * true if that is a window; else it goes on growing.
 */
bool mal_windows_end(struct mal_windows *windows, double boundaries, double elapsed_s);

/* Has nothing moved for some windows? */
bool mal_windows_are_steady(const struct mal_windows *windows);

/* The window that goes on is thrown away, and another one begins. */
void mal_windows_throw_away(struct mal_windows *windows);

/* Boundaries of another kind count: how many there are in a window is not known yet. */
void mal_windows_count_anew(struct mal_windows *windows);
