/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * best.h: the best distribution of CPUs that was measured since the load changed, and the way back
 * to it.
 *
 * A move is judged by what was measured after it. If phases take longer than with the best
 * distribution, by more than they usually differ from window to window, either the loads are
 * elsewhere again, which the model sees, and better forecasts mend, or the model is wrong about
 * this program. Then the best distribution is taken again, the very same CPUs, and moves pause: for
 * four times as many windows each time, so that n windows hold log4(n) such errors at most. The
 * first time, one window is not enough: it may be the machine's noise, or cold caches.
 *
 * Where the time changes though no CPU moved, the load is another one: the present distribution is
 * the best that is known of it, and the pause is over. This is Page's test of a change (Page:
 * Continuous inspection schemes, Biometrika 41, 1954) with samples of one window.
 */
#ifndef MAL_POLICIES_MODEL_BEST_H
#define MAL_POLICIES_MODEL_BEST_H

#include "policies/interface/policy.h"
#include "policies/model/scaling.h"

struct mal_best {
	size_t rank_count, cpu_count;
	unsigned int *count;	    /* CPUs by rank, of the best */
	unsigned int *owner, *last; /* by CPU: of the best, and in the last window */
	unsigned int windows, since_move;
	double time, last_time; /* logarithms of a phase's */
	double noise;		/* mean square of its difference from window to window */
	unsigned int still;	/* windows that noise is learned from */
	bool doubted;		/* the present distribution looked worse in one window */
	bool returning;
	unsigned int pause, next_pause; /* windows */
};

/* What to do next. */
enum mal_best_verdict {
	MAL_BEST_GO_ON,
	MAL_BEST_STAY,	/* do not move */
	MAL_BEST_RETURN /* to best->count and best->owner */
};

/* Begin. BEST must be all 0 before the first call. Returns 0, or -1: out of memory. */
int mal_best_reset(struct mal_best *best, size_t rank_count, size_t cpu_count);

void mal_best_clear(struct mal_best *best);

/*
 * Learn a window with phases of PHASE_S seconds, above 0, in which ranks had LOADS by the model's
 * word.
 */
enum mal_best_verdict mal_best_window(struct mal_best *best, const struct mal_view *view,
				      const struct mal_load *loads, double phase_s);

#endif
