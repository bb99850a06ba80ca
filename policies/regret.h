/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regret.h: was the last move of CPUs good? Where it was not, it is taken back, and moves stop for a while.
 *
 * Two things speak against a move right after it: the loads that were seen would have been shorter without it (they are
 * elsewhere again); or phases take longer than before, by more than they differed then: the model is wrong about
 * this program, and what stood before is put back.
 */
#ifndef MAL_POLICIES_REGRET_H
#define MAL_POLICIES_REGRET_H

#include <stdbool.h>
#include <stddef.h>

struct mal_regret {
	size_t rank_count;
	unsigned int *before;	  /* CPUs by rank before the last move */
	unsigned int since_move;  /* windows */
	unsigned int still;	  /* windows in which CPUs are not to be moved yet */
	unsigned int still_next;  /* how many it will be the next time */
	bool proved;		  /* the last move was not regretted */
	bool rolled_back;	  /* since then, which put CPUs back where they were */
	unsigned int measured;	  /* windows since the last move that are in these: */
	double phase_s, differs;  /* length of a phase, and how much it differs from that in the mean */
	double before_s, noise_s; /* the same before the last move; noise 0: not known */
	double after_s;		  /* sum over the windows after it */
};

/* What is to be done after a window. */
enum mal_verdict {
	MAL_VERDICT_GO_ON,
	MAL_VERDICT_STILL,     /* no moves but what the long average asks for */
	MAL_VERDICT_STAY,      /* no moves: the last was taken back */
	MAL_VERDICT_ROLL_BACK, /* to regret->before */
};

/* A step with RANK_COUNT ranks begins, or their number changed. Start with all 0. Returns 0, or -1: out of memory. */
int mal_regret_reset(struct mal_regret *regret, size_t rank_count);

void mal_regret_clear(struct mal_regret *regret);

/* A move is about to be carried out; COUNT: CPUs by rank now. */
void mal_regret_moved(struct mal_regret *regret, const unsigned int *count);

/* Do the first windows after a move still ask whether it was good? Then the loads are to be compared. */
bool mal_regret_is_open(const struct mal_regret *regret);

/* A window with phases of PHASE_S has passed; WORSE: its loads would have been shorter without the last move. */
enum mal_verdict mal_regret_window(struct mal_regret *regret, double phase_s, bool worse);

#endif
