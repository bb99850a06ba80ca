/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* regret.c: judge whether the last move of CPUs was good. */
#include "policies/model/regret.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Judge a move by this many windows after it. */
#define WINDOWS 2
/*
 * A regret stops moves for this many windows, doubled each time up to the maximum. Good times reset
 * it.
 */
#define STILL_WINDOWS 8
#define STILL_MAX 512
/* Weight of a new window in the average phase. */
#define NEW 0.3
/* Phases are longer if they exceed NOISE times their usual difference, and this part, at least. */
#define NOISE 3
#define LONGER 0.02
/* The usual difference needs at least this many windows. */
#define MEASURED_MIN 2

int mal_regret_reset(struct mal_regret *regret, size_t rank_count)
{
	unsigned int *before = realloc(regret->before, rank_count * sizeof(*before));

	if (!before)
		return -1;
	memset(before, 0, rank_count * sizeof(*before));
	*regret = (struct mal_regret){.rank_count = rank_count,
				      .before = before,
				      .since_move = WINDOWS + 1,
				      .still_next = STILL_WINDOWS,
				      .proved = regret->proved};
	return 0;
}

void mal_regret_clear(struct mal_regret *regret)
{
	free(regret->before);
	*regret = (struct mal_regret){0};
}

void mal_regret_moved(struct mal_regret *regret, const unsigned int *count)
{
	memcpy(regret->before, count, regret->rank_count * sizeof(*count));
	regret->before_s = regret->phase_s;
	regret->noise_s = regret->measured >= MEASURED_MIN
				  ? fmax(NOISE * regret->differs, LONGER * regret->phase_s)
				  : 0;
	regret->since_move = regret->measured = 0;
	regret->after_s = 0;
	regret->rolled_back = false;
}

bool mal_regret_is_open(const struct mal_regret *regret)
{
	return regret->since_move < WINDOWS;
}

static void measure(struct mal_regret *regret, double phase_s)
{
	double keep = regret->measured ? 1 - NEW : 0;

	regret->differs = regret->measured > 1 ? (1 - NEW) * regret->differs +
							 NEW * fabs(phase_s - regret->phase_s)
					       : fabs(phase_s - regret->phase_s) * regret->measured;
	regret->phase_s = keep * regret->phase_s + (1 - keep) * phase_s;
	regret->measured++;
}

static void stand_still(struct mal_regret *regret)
{
	regret->still = regret->still_next;
	regret->still_next = regret->still_next < STILL_MAX ? 2 * regret->still_next : STILL_MAX;
	regret->proved = false;
	regret->since_move = WINDOWS + 1;
}

enum mal_verdict mal_regret_window(struct mal_regret *regret, double phase_s, bool worse)
{
	bool open = mal_regret_is_open(regret);

	measure(regret, phase_s);
	regret->since_move++;
	if (regret->still) {
		regret->still--;
		return regret->rolled_back ? MAL_VERDICT_STAY : MAL_VERDICT_STILL;
	}
	if (open && worse) {
		stand_still(regret);
		return MAL_VERDICT_STILL;
	}
	if (open)
		regret->after_s += phase_s;
	if (regret->since_move == WINDOWS && regret->noise_s > 0 &&
	    regret->after_s / WINDOWS > regret->before_s + regret->noise_s) {
		stand_still(regret);
		regret->rolled_back = true;
		regret->measured = 0;
		return MAL_VERDICT_ROLL_BACK;
	}
	if (regret->since_move == WINDOWS + 1)
		regret->proved = true;
	else if (regret->since_move > 4 * regret->still_next)
		regret->still_next = STILL_WINDOWS;
	return MAL_VERDICT_GO_ON;
}
