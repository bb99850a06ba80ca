/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.h: which way of running a step is the best: nothing, lending, moving, or both? Measured, in
 * blocks.
 *
 * A step runs by the way that is trusted. Now and then there is a trial: it runs by another one,
 * which differs in one thing, for a window or two. As many windows right before and after are what
 * that is compared with, so a drift of the load cancels, and with two windows a load that
 * alternates too (A-B-A; Cochran, Cox: Experimental designs, 1957). Only clocks are compared: where
 * threads are in each other's way, or CPUs are slow, work itself grows with the CPUs, and every
 * model that goes by work sees a gain. A way that measured better by more than the error of the
 * mean is trusted from then on; so is one that lends besides and measured no worse, where moves
 * leave much: blocks seldom meet the windows in which the load changes. Where only lending is
 * allowed a step begins with it, or, where its first windows leave little to gain, once one leaves
 * much. Where CPUs can move it begins with moves; a forecast may prefer lending soon after.
 *
 * Trials cost time. Of the ways that may be better the most hopeful one goes first, and only where
 * all that trials lost, with what this one is expected to lose, is a small part of the time so far
 * (Wu, Shariff, Lattimore, Szepesvari: Conservative bandits, ICML 2016):
 *
 *	what trials lose <= TRIALS * time so far + the first block of each way
 *
 * Invariant: this bound, by the clock, but for windows in which a way only settles, as CPUs move or
 * lending begins (t/unit/test_judge.c: trials_lose_little).
 */
#pragma once

#include <stdbool.h>

/* Ways to run a step; 0: do nothing. */
#define MAL_WAY_LEND 1u
#define MAL_WAY_MOVE 2u
#define MAL_WAYS 4u

/* Windows of the trusted way that are remembered. */
#define MAL_JUDGE_PAST 5u

/* What blocks say of a way: logarithm of the trusted way's time over its time. */
struct mal_way {
	double blocks, mean, squares; /* of differences from the mean, summed; old ones fade */
	unsigned int rest;	      /* windows until its next trial */
};

struct mal_judge {
	struct mal_way ways[MAL_WAYS];
	unsigned int allowed; /* ways, as bits of one word */
	unsigned int trusted; /* way */
	unsigned int way;     /* by which the next window runs */
	unsigned int tried;   /* in the block that is nearly over */
	enum { MAL_JUDGE_BASE, MAL_JUDGE_OTHER, MAL_JUDGE_AFTER } part; /* of a block */
	/* Windows of that part. */
	unsigned int wanted, had, waited, rested;
	/* Windows that were as doing nothing: seconds of a phase in the last one, and in the faster
	 * one of the last two, as one may have been disturbed; 0: none. And windows since. */
	struct {
		double last_s, fast_s;
		unsigned int ago;
	} home;
	/* Seconds of a phase: the mean before, the trial's sum, and that after. */
	double before, sum, after;
	unsigned int run; /* windows of the trusted way, one after the other */
	/* Seconds of a phase in the last windows of the trusted way, the last one first. */
	double past[MAL_JUDGE_PAST];
	/* Mean squares of what blocks of one and two windows would say of those alone. */
	double noise[2];
	unsigned int still,
		steady;	       /* windows that noise is learned from, and since the last move */
	unsigned int restless; /* windows in which CPUs have moved again and again */
	double left;	       /* what is left to gain, as a logarithm, moving average */
	double run_s, lost_s;
};

struct mal_judge_window {
	double phase_s, elapsed_s; /* above 0 */
	double left;  /* to gain: logarithm of its time over that with all work spread evenly */
	bool still;   /* the CPUs were the same all the time */
	bool settled; /* they are those of the way, or may be */
	bool worked;  /* ranks computed for most of the time */
	bool apart;   /* something differs from doing nothing: CPUs are lent, or elsewhere */
};

/* Begin with way FIRST: the user allows the ways of ALLOWED. */
void mal_judge_reset(struct mal_judge *judge, unsigned int allowed, unsigned int first);

/* Between blocks only: from the next window on, seconds of a phase are of another kind of it. */
void mal_judge_renew(struct mal_judge *judge);

/* Learn a window, which ran by judge->way. */
void mal_judge_learn(struct mal_judge *judge, const struct mal_judge_window *window);

/* Between blocks, where moves are trusted and lending is allowed: trust lending alone instead. */
void mal_judge_prefer_lending(struct mal_judge *judge);

/*
 * Begin a block after WINDOW, if it is time for one: judge->way is on trial then. MOVES: the
 * trusted way is about to move CPUs. Returns whether one begins.
 */
bool mal_judge_begin(struct mal_judge *judge, const struct mal_judge_window *window, bool moves);

/*
 * The time of a phase with WAY, MAL_WAY_LEND or MAL_WAY_MOVE, over that without, the other one as
 * trusted. 0: not compared.
 */
double mal_judge_times(const struct mal_judge *judge, unsigned int way);

/* Is there a trial now, of which models of the trusted way learn nothing? */
bool mal_judge_is_trying(const struct mal_judge *judge);
