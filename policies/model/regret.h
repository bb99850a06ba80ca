/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regret.h: judge whether the last move of CPUs was good. If not, moves pause for a while.
 *
 * Two things speak against a move right after it. The new loads would have been shorter without it:
 * they are elsewhere again. Or phases take longer than before by more than they differed then: the
 * model is wrong about this program, and the move is taken back.
 */
#ifndef MAL_POLICIES_MODEL_REGRET_H
#define MAL_POLICIES_MODEL_REGRET_H

#include <stdbool.h>
#include <stddef.h>

struct mal_regret {
	size_t rank_count;
	unsigned int *before;	  /* CPUs by rank before the last move */
	unsigned int since_move;  /* windows */
	unsigned int still;	  /* windows in which CPUs must not move yet */
	unsigned int still_next;  /* the same for the next regret */
	bool proved;		  /* the last move was not regretted */
	bool rolled_back;	  /* the last move was taken back */
	unsigned int measured;	  /* windows since the last move, averaged in: */
	double phase_s, differs;  /* mean length of a phase, and mean difference from it */
	double before_s, noise_s; /* the same before the last move; noise 0: unknown */
	double after_s;		  /* sum over the windows after it */
};

/* What to do after a window. */
enum mal_verdict {
	MAL_VERDICT_GO_ON,
	MAL_VERDICT_STILL,     /* move only what the long average asks for */
	MAL_VERDICT_STAY,      /* do not move: the last move was taken back */
	MAL_VERDICT_ROLL_BACK, /* go back to regret->before */
};

/*
 * Begin a step with RANK_COUNT ranks, or follow a change of their number. REGRET must be all 0
 * before the first call. Returns 0, or -1: out of memory.
 */
int mal_regret_reset(struct mal_regret *regret, size_t rank_count);

void mal_regret_clear(struct mal_regret *regret);

/* Note that a move is about to happen; COUNT: CPUs by rank now. */
void mal_regret_moved(struct mal_regret *regret, const unsigned int *count);

/* Is the last move still being judged? If so, the caller compares loads. */
bool mal_regret_is_open(const struct mal_regret *regret);

/*
 * Learn a window with phases of PHASE_S. WORSE: it would have been shorter without the last move.
 */
enum mal_verdict mal_regret_window(struct mal_regret *regret, double phase_s, bool worse);

#endif
