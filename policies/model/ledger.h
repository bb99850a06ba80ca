/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ledger.h: what was measured of each way to run the step, and which way to take next.
 *
 * There are four ways: CPUs at home or moved, each with or without lending. A policy's model says
 * what each would take; the ledger knows what each took. Ways are arms of a bandit, played as in
 * conservative bandits (Wu, Shariff, Lattimore, Szepesvari: Conservative bandits, ICML 2016): the
 * default, home without lending, is measured in the fifth window, and an arm that measured worse
 * than the best known one is played again only if what was lost so far and the loss to be expected
 * fit into BUDGET of the time so far. So
 *
 *	planned losses <= FIRST windows + BUDGET * time so far,
 *
 * and to that comes what each trial loses more than expected, in one window. An arm that failed
 * rests for twice as long each time, so there are log2(windows) such surprises per arm at most.
 *
 * Loads that change between windows would drown all that in noise. So an arm's time is divided by
 * what the same work would have taken at home (a control variate: Lavenberg, Welch: A perspective
 * on the use of control variables, Management Science 27, 1981). Where work itself grows with the
 * arm (crowding, slow CPUs), that is wrong, and shows: what the work "would have taken at home" is
 * longer than home was measured. The ledger believes the difference as far as it exceeds the noise
 * that was measured. A loss that is smaller than the noise of the loads is not seen: there the
 * bound does not hold, and t/bench/policies says how often.
 */
#ifndef MAL_POLICIES_MODEL_LEDGER_H
#define MAL_POLICIES_MODEL_LEDGER_H

#include <stdbool.h>

#define MAL_ARM_LEND 1u
#define MAL_ARM_MOVE 2u
#define MAL_ARMS 4u

/*
 * What the work that was measured says: of the time that it would take at home, and how much it is
 * in all. Both show where work grows with the arm: the first one also where it grows in a few
 * ranks, the second one also where loads differ from window to window.
 */
enum { MAL_LEDGER_OFF, MAL_LEDGER_WHOLE, MAL_LEDGER_SIGNALS };

/* How a signal differs where nothing was changed; mean squares. */
struct mal_noise {
	double last, near, all; /* from one window to the next, from its mean */
	unsigned int count;
};

struct mal_arm {
	double windows;			  /* measured, older ones forgotten */
	double time;			  /* logarithm of a phase's time, as measured */
	double level[MAL_LEDGER_SIGNALS]; /* of what its work says, see below */
	double room; /* what there was to gain: logarithm of even loads' time over home's */
	double age;  /* windows since then */
	unsigned int fails, rest;
	double doubt; /* how many deviations count as a difference */
};

struct mal_ledger {
	struct mal_arm arms[MAL_ARMS];
	unsigned int windows;
	unsigned int last; /* arm of the last window */
	struct mal_noise noise[MAL_LEDGER_SIGNALS];
	double run_s, lost_s, allowance_s;
	unsigned int trial; /* windows left of one */
	unsigned int arm;   /* that is played */
};

/* Forget everything. */
void mal_ledger_reset(struct mal_ledger *ledger);

/* A window. */
struct mal_ledger_window {
	unsigned int arm;
	double elapsed_s, phase_s;
	double off_s, whole_s; /* of a phase, by its work: at home, and summed up */
	double room;	       /* logarithm of even loads' time over that at home */
	bool still;	       /* no CPU has moved since the window before */
};

void mal_ledger_learn(struct mal_ledger *ledger, const struct mal_ledger_window *window);

/*
 * The logarithm of ARM's time over that of home without lending. MODEL: what the model says of it
 * now.
 */
double mal_ledger_value(const struct mal_ledger *ledger, unsigned int arm, double model);

/*
 * Returns the arm for the next window, among those in ALLOWED (bit by arm). MODEL has the model's
 * values, by arm. *TRIAL: it is tried, not trusted.
 */
unsigned int mal_ledger_choose(struct mal_ledger *ledger, unsigned int allowed, const double *model,
			       bool *trial);

#endif
