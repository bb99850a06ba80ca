/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * guard.h: is the way that a step runs better than doing nothing? Measured, in blocks.
 *
 * Now and then the step does nothing for a window or two: CPUs are at home, nothing is lent. The
 * windows right before and after are what that is compared with, so a drift of the load cancels,
 * and with two windows a load that alternates too (A-B-B-A; Cochran, Cox: Experimental designs,
 * 1957). Only clocks are compared: where threads are in each other's way, or CPUs are slow, work
 * itself grows with the CPUs, and every model that goes by work sees a gain.
 *
 * A way that measured worse by more than the error of the mean is left. The others are tried in
 * blocks the other way round, and the first one that measures better is taken. Blocks cost time:
 *
 *	what looks lose <= LOOKS * time so far + the first one
 *	what trials lose <= TRIALS * time so far + one block for each way
 *
 * both by the clock. So where doing nothing is as good, looks are free and evidence comes fast; the
 * pauses of a way that failed double.
 */
#ifndef MAL_POLICIES_MODEL_GUARD_H
#define MAL_POLICIES_MODEL_GUARD_H

#include <stdbool.h>

/* Ways to run a step; 0: do nothing. */
#define MAL_WAY_LEND 1u
#define MAL_WAY_MOVE 2u
#define MAL_WAYS 4u

/* What blocks say of a way: logarithm of the time of doing nothing over its time. */
struct mal_way {
	double blocks, mean, squares; /* of differences from the mean, summed; old ones fade */
	unsigned int fails, rest;     /* windows */
};

struct mal_guard {
	struct mal_way ways[MAL_WAYS];
	unsigned int allowed; /* ways, as bits of one word */
	unsigned int trusted; /* way */
	unsigned int way;     /* by which the next window runs */
	unsigned int tried;   /* in the block that is nearly over */
	enum { MAL_GUARD_BASE, MAL_GUARD_OTHER, MAL_GUARD_AFTER } part; /* of a block */
	/* Windows of that part. */
	unsigned int wanted, had, waited;
	double began_s;	    /* of a phase, in the last window that was as doing nothing; 0: none */
	double before, sum; /* seconds of a phase: in the window before, and the others' sum */
	unsigned int run;   /* windows of the trusted way, one after the other */
	/* Seconds of a phase in the last windows of the trusted way, the last one first. */
	double past[3];
	/* Mean squares of what blocks of one and two windows would say of those alone. */
	double noise[2];
	unsigned int still, since, gap; /* windows; since the last block; to the next */
	double run_s, looks_s, lost_s;
};

struct mal_guard_window {
	double phase_s, elapsed_s; /* above 0 */
	bool settled; /* the CPUs were the same all the time, and are those of the way */
	bool apart;   /* something differs from doing nothing: CPUs are lent, or elsewhere */
};

/* Begin: the user allows LEND and MOVE. */
void mal_guard_reset(struct mal_guard *guard, unsigned int allowed);

/* Between blocks only: from the next window on, seconds of a phase are of another kind of it. */
void mal_guard_renew(struct mal_guard *guard);

/* Learn a window, which ran by guard->way, and choose the way of the next one. */
void mal_guard_learn(struct mal_guard *guard, const struct mal_guard_window *window);

/* Is this a look or a trial, of which models of the trusted way learn nothing? */
bool mal_guard_is_trying(const struct mal_guard *guard);

#endif
