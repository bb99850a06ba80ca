/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* best.c: the best distribution of CPUs that was measured. */
#include "policies/model/best.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/interface/limits.h"
#include "policies/model/apportion.h"
#include "policies/model/model.h"

/* Longer by so many usual differences, and by this part, is longer. */
#define DEVIATIONS 3.0
#define LONGER 0.02
/* Four times as long, in the logarithm: no noise. */
#define FAR 1.39
/* Where no CPU moved, so many times that is a change of the load. */
#define CHANGED 2
/* The usual difference at first, which counts as one window. */
#define NOISE_FIRST 0.01
/* After the first windows a new one counts up to so many times the usual. */
#define FIRST 3
#define CLIP 9.0
#define NEW 0.15
/* Windows of the first pause, each time's over the last one's, and the most. */
#define PAUSE 4u
#define PAUSE_GROWS 4u
#define PAUSE_MAX 512u
/* No phase is shorter. */
#define SHORTEST_S 1e-9
/* Weight of a new window in a distribution's time. */
#define SMOOTH 0.3

int mal_best_reset(struct mal_best *best, size_t rank_count, size_t cpu_count)
{
	unsigned int *room = calloc(rank_count + 2 * cpu_count + 1, sizeof(*room));

	if (!room)
		return -1;
	free(best->count);
	*best = (struct mal_best){.rank_count = rank_count,
				  .cpu_count = cpu_count,
				  .count = room,
				  .owner = room + rank_count,
				  .last = room + rank_count + cpu_count,
				  .noise = NOISE_FIRST * NOISE_FIRST,
				  .next_pause = PAUSE};
	return 0;
}

void mal_best_clear(struct mal_best *best)
{
	free(best->count);
	*best = (struct mal_best){0};
}

static void take(struct mal_best *best, const struct mal_view *view, double time)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		best->count[rank] = view->samples[rank].cpus;
	memcpy(best->owner, view->owner, best->cpu_count * sizeof(best->owner[0]));
	best->time = time;
	best->returning = best->doubted = false;
}

static bool is_here(const struct mal_best *best, const struct mal_view *view,
		    const unsigned int *owner)
{
	return memcmp(owner, view->owner, best->cpu_count * sizeof(*owner)) == 0;
}

/* The load has changed: the present distribution is the best that is known of it. */
static void begin_anew(struct mal_best *best, const struct mal_view *view, double time)
{
	take(best, view, time);
	best->pause = 0;
}

/* In the best distribution. */
static void stay(struct mal_best *best, const struct mal_view *view, double time, double margin)
{
	double before = best->returning ? best->time : best->last_time;

	best->returning = false;
	if (fabs(time - before) > CHANGED * margin)
		begin_anew(best, view, time);
	else
		best->time += SMOOTH * (time - best->time);
}

/* In another one. Returns false if it is worse than the best. */
static bool judge(struct mal_best *best, const struct mal_view *view, double time, double margin)
{
	bool changed = fabs(time - best->last_time) > CHANGED * margin;

	if (best->since_move > 1 && !best->doubted && changed) {
		begin_anew(best, view, time);
	} else if (time < best->time) {
		if (time < best->time - margin)
			best->next_pause = PAUSE;
		take(best, view, time);
	}
	return time <= best->time + margin;
}

/* The present distribution is worse than the best, as phases of TIME show. */
static enum mal_best_verdict turn_back(struct mal_best *best, double time)
{
	if (best->next_pause == PAUSE && !best->doubted && time < best->time + FAR) {
		best->doubted = true;
		return MAL_BEST_STAY;
	}
	best->doubted = false;
	best->returning = true;
	best->pause = best->next_pause;
	best->next_pause *= PAUSE_GROWS;
	if (best->next_pause > PAUSE_MAX)
		best->next_pause = PAUSE_MAX;
	return MAL_BEST_RETURN;
}

/* CPUs have not moved, and the time of a phase is STEP longer. */
static void learn_noise(struct mal_best *best, double step)
{
	double weight = fmax(NEW, 1.0 / (2 + best->still)), square = step * step;

	if (best->still++ >= FIRST)
		square = fmin(square, CLIP * best->noise);
	best->noise += weight * (square - best->noise);
}

enum mal_best_verdict mal_best_window(struct mal_best *best, const struct mal_view *view,
				      const struct mal_load *loads, double phase_s)
{
	double time = log(fmax(phase_s, SHORTEST_S)), step = time - best->last_time;
	double margin = fmax(LONGER, DEVIATIONS * sqrt(best->noise));
	unsigned int now[MAL_MAX_RANKS];
	bool good = true;

	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		now[rank] = view->samples[rank].cpus;
	best->since_move = is_here(best, view, best->last) ? best->since_move + 1 : 0;
	if (!best->windows++)
		take(best, view, time);
	else if (!best->since_move)
		/* A plan may take effect late: a good window says nothing. */
		good = best->returning || time <= best->time + margin;
	else if (is_here(best, view, best->owner))
		stay(best, view, time, margin);
	else
		good = judge(best, view, time, margin);
	if (best->since_move && best->windows > 1)
		learn_noise(best, step);
	memcpy(best->last, view->owner, best->cpu_count * sizeof(best->last[0]));
	best->last_time = time;
	if (!good && mal_apportion_longest(view, loads, now) <=
			     mal_apportion_longest(view, loads, best->count))
		return turn_back(best, time);
	best->doubted = false;
	if (!best->pause)
		return MAL_BEST_GO_ON;
	best->pause--;
	return MAL_BEST_STAY;
}
