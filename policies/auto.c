/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto.c: the default policy: move CPUs for the lasting part of the imbalance, lend for the rest.
 *
 * Invariant: few programs lose by it (t/unit/test_closed.c: few_random_programs_are_slower;
 * t/t3002-moves.t).
 *
 * A rank with n CPUs needs serial + work / n. Several forecasts of the next loads run side by side
 * (forecast.h). For each of them the policy works out the numbers of CPUs that make the longest
 * rank shortest (apportion.h), and when the window is known, what they would have cost (record.h).
 * The cheapest so far is followed; where none is cheaper than staying at home, that is home.
 *
 * The policy carries out a plan that is better by more than noise if the next window confirms it,
 * or at once if it is much better. Home, and what a trial interrupted, are the very CPUs.
 *
 * Moves come first: where ranks have several CPUs a step begins with these alone, and goes on with
 * lending alone if that is forecast to be better: behind a long serial part a region gets all CPUs.
 * When no CPU moves any more, lending is compared with them, for what they leave. Now and then the
 * step does without for a window or two: the way that measures best is the one that the step runs
 * by (judge.h).
 */
#include "policies/auto.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/interface/builtin.h"
#include "policies/interface/limits.h"
#include "policies/mapping/mapping.h"
#include "policies/model/apportion.h"
#include "policies/model/forecast.h"
#include "policies/model/home.h"
#include "policies/model/judge.h"
#include "policies/model/model.h"
#include "policies/model/record.h"
#include "policies/model/unit.h"

static const struct mal_param params[MAL_AUTO_PARAMS] = {
	[MAL_AUTO_GAIN] = {"gain", "least forecast gain, in percent, for which CPUs are moved", 3,
			   0, 100, NULL},
	MAL_AUTO_OTHER_PARAMS,
};

/* The window after which lending may replace moves: the step's start disturbs the first one. */
#define SECOND 2
/* So many windows of one region pass before what ranks lend is borrowed. */
#define EARLY 2
/* Act at once on a forecast gain this many times the least one. */
#define AT_ONCE 3.0

struct state {
	double gain; /* least forecast gain, as a part */
	bool may_lend, may_grow, may_move;
	bool seen_once; /* the last window asked for a move that has not been carried out yet */
	struct mal_forecast forecast;
	struct mal_record record;
	struct mal_home home;
	struct mal_judge judge;
	struct mal_unit unit;
	unsigned int last[MAL_MAX_CPUS]; /* owners in the last window */
	/* Owners where a look began, and CPUs by rank. */
	unsigned int left[MAL_MAX_CPUS], left_count[MAL_MAX_RANKS];
	unsigned int planned[MAL_MAX_RANKS]; /* what the last plan asked for */
	unsigned int max[MAL_MAX_RANKS];     /* CPUs that ranks can use, 0: any number */
	const unsigned int *going;	     /* to these owners, by CPU; NULL: anywhere */
	/* The last plan lends. Not the first: ranks lend only for regions that they have met. */
	bool lent;
	bool moved;
	bool late; /* plans take effect a window late */
};

/* SPREAD: CPUs can move, as a rank has more than one. */
static void reset_judge(struct state *state, bool spread)
{
	unsigned int move = state->may_move && spread ? MAL_WAY_MOVE : 0;
	unsigned int lend = state->may_lend ? MAL_WAY_LEND : 0;

	state->unit = (struct mal_unit){0};
	mal_judge_reset(&state->judge, move | lend, move ? move : lend);
}

static void *create(const double *values)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->gain = values[MAL_AUTO_GAIN] / 100;
	state->may_lend = values[MAL_AUTO_LEND] != 0;
	state->may_grow = values[MAL_AUTO_GROW] != 0;
	state->may_move = values[MAL_AUTO_MOVE] != 0;
	state->forecast.smooth = values[MAL_AUTO_SMOOTH];
	reset_judge(state, true);
	return state;
}

static bool is_spread(const struct mal_view *view)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running && view->samples[rank].cpus > 1)
			return true;
	return false;
}

/* The present CPUs are home from now on. */
static void settle(struct state *state, const struct mal_view *view, unsigned int cpus)
{
	memset(state->planned, 0, sizeof(state->planned));
	memcpy(state->last, view->owner, view->topology->cpu_count * sizeof(state->last[0]));
	state->moved = state->seen_once = state->late = false;
	reset_judge(state, is_spread(view));
	mal_home_settle(&state->home, view, cpus);
	mal_record_reset(&state->record, view->rank_count, state->home.count);
}

/* The judge's way lends, or does not. */
static void set_lending(const struct state *state, struct mal_plan *plan)
{
	plan->lend = state->judge.way & MAL_WAY_LEND;
	plan->grow = plan->lend && state->may_grow;
}

/* Ask for COUNT; where they were measured, OWNER are the very CPUs. */
static void go(struct state *state, const struct mal_view *view, const unsigned int *count,
	       const unsigned int *owner, struct mal_plan *plan)
{
	state->going = owner;
	state->seen_once = false;
	memcpy(plan->count, count, view->rank_count * sizeof(count[0]));
	plan->move = true;
}

/* Carry out what the best forecast wants if that is worth it. */
static void follow(struct state *state, const struct mal_view *view, const unsigned int *now,
		   struct mal_plan *plan)
{
	/* The first window is too early for a record. */
	unsigned int kind = state->record.judged > 1 ? state->record.best : MAL_FORECAST_AVERAGE;
	const unsigned int *wanted = state->record.count[kind];
	struct mal_load loads[MAL_MAX_RANKS];
	double before, gain;

	if (kind == MAL_RECORD_HOME) {
		if (!mal_home_is_here(&state->home, view))
			go(state, view, state->home.count, state->home.owner, plan);
		return;
	}
	mal_forecast_get(&state->forecast, (enum mal_forecast_kind)kind, loads);
	before = mal_apportion_longest(view, loads, now);
	plan->now_s = plan->forecast_s = before * mal_forecast_whole(view);
	gain = before > 0 ? 1 - mal_apportion_longest(view, loads, wanted) / before : 0;
	if (gain > state->gain && (state->seen_once || gain >= AT_ONCE * state->gain)) {
		go(state, view, wanted, NULL, plan);
		plan->forecast_s = plan->now_s * (1 - gain);
	} else {
		state->seen_once = gain > state->gain;
	}
}

/* Judge what was wanted for the last window by the loads that came. */
static void judge_forecasts(struct state *state, const struct mal_view *view,
			    const unsigned int *now, struct mal_plan *plan)
{
	struct mal_load loads[MAL_MAX_RANKS];

	mal_forecast_get(&state->forecast, MAL_FORECAST_LAST, loads);
	plan->now_s = plan->forecast_s =
		mal_apportion_longest(view, loads, now) * mal_forecast_whole(view);
	if (state->moved)
		state->late = memcmp(now, state->planned, view->rank_count * sizeof(now[0])) != 0;
	mal_record_judge(&state->record, view, loads, state->home.cpus, state->late);
}

static bool is_at(const unsigned int *owner, const struct mal_view *view)
{
	return memcmp(owner, view->owner, view->topology->cpu_count * sizeof(*owner)) == 0;
}

static bool have_worked(const struct mal_view *view)
{
	double work_s = 0, all_s = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];

		work_s += sample->work_s;
		all_s += sample->elapsed_s * sample->cpus;
	}
	return work_s > all_s / 2;
}

/*
 * Whether a block's part has just begun that lends, in windows of one region: where lending begins
 * or CPUs have moved a region ends and asks, and the next one borrows.
 */
static bool is_too_early(const struct mal_judge *judge, const struct mal_view *view)
{
	bool goes_on = judge->part == MAL_JUDGE_OTHER ? judge->had : judge->rested;

	if (judge->part == MAL_JUDGE_BASE || goes_on || judge->waited >= EARLY ||
	    !(judge->way & MAL_WAY_LEND))
		return false;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		double regions = mal_model_regions(&view->samples[rank]);

		if (regions > 0 && regions < 1.5)
			return true;
	}
	return false;
}

/* Whether the window ran as the judge's way has it, from its first phase on. */
static bool is_settled(const struct mal_judge *judge, bool still, bool home)
{
	if (!(judge->way & MAL_WAY_MOVE))
		return still && home;
	return (judge->trusted & MAL_WAY_MOVE) || !home;
}

/* Enter the window into the judge. */
static void watch(struct state *state, const struct mal_view *view, struct mal_judge_window *window)
{
	struct mal_judge *judge = &state->judge;
	bool home = mal_home_is_here(&state->home, view), still = is_at(state->last, view);
	double elapsed_s = mal_model_elapsed(view->samples, view->rank_count);
	double even_s = mal_model_ideal(view->samples, view->rank_count, state->home.cpus);

	if (mal_unit_learn(&state->unit, view, still && judge->part == MAL_JUDGE_BASE))
		mal_judge_renew(judge);
	*window = (struct mal_judge_window){.phase_s = mal_unit_length(&state->unit),
					    .elapsed_s = elapsed_s,
					    .left = log(elapsed_s / even_s),
					    .still = still,
					    .settled = is_settled(judge, still, home) &&
						       !is_too_early(judge, view),
					    .worked = have_worked(view),
					    .apart = state->lent || !home};
	memcpy(state->last, view->owner, view->topology->cpu_count * sizeof(state->last[0]));
	mal_judge_learn(judge, window);
}

/* A trial begins, and CPUs stay where they are, or go home. */
static void begin_block(struct state *state, const struct mal_view *view, const unsigned int *now,
			struct mal_plan *plan)
{
	size_t ranks = view->rank_count * sizeof(now[0]);

	plan->move = false;
	state->going = NULL;
	memcpy(plan->count, now, ranks);
	memcpy(state->left, view->owner, view->topology->cpu_count * sizeof(state->left[0]));
	memcpy(state->left_count, now, ranks);
}

/*
 * Where CPUs shall be in the next window. ENDED: the last one was a trial's last; FOLLOWS:
 * there are forecasts to follow.
 */
static void place(struct state *state, const struct mal_view *view, const unsigned int *now,
		  bool ended, bool follows, struct mal_plan *plan)
{
	const struct mal_judge *judge = &state->judge;

	if (!(judge->way & MAL_WAY_MOVE)) {
		if (!mal_home_is_here(&state->home, view))
			go(state, view, state->home.count, state->home.owner, plan);
	} else if (ended && ((judge->tried ^ judge->trusted) & MAL_WAY_MOVE)) {
		/* The trusted way goes on where it was. */
		if (!is_at(state->left, view))
			go(state, view, state->left_count, state->left, plan);
	} else if (follows) {
		follow(state, view, now, plan);
	}
}

/* Whether lending alone is forecast to be much better than the CPUs that the average asks for. */
static bool lending_is_better(const struct state *state, const struct mal_view *view)
{
	struct mal_usage lends = {
		.count = state->home.count, .lend = true, .grow = state->may_grow};
	struct mal_usage moves = {.count = state->record.count[MAL_FORECAST_AVERAGE]};

	if (!state->may_lend)
		return false;
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running && !mal_model_regions(&view->samples[rank]))
			return false;
	return mal_model_window(view->samples, view->rank_count, &lends, NULL) <
	       (1 - AT_ONCE * state->gain) *
		       mal_model_window(view->samples, view->rank_count, &moves, NULL);
}

/* Work out what each forecast wants. */
static bool want(struct state *state, const struct mal_view *view, unsigned int cpus)
{
	struct mal_sample samples[MAL_MAX_RANKS];
	struct mal_view shown = *view;

	memcpy(samples, view->samples, view->rank_count * sizeof(samples[0]));
	shown.samples = samples;
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (state->max[rank] &&
		    (!samples[rank].max || state->max[rank] < samples[rank].max))
			samples[rank].max = state->max[rank];
	if (!mal_record_want(&state->record, &shown, &state->forecast, cpus))
		return false;
	if (state->record.judged == SECOND && lending_is_better(state, &shown)) {
		mal_judge_prefer_lending(&state->judge);
		state->seen_once = false;
	}
	return true;
}

void mal_auto_limit(void *opaque, const unsigned int *max, unsigned int rank_count)
{
	struct state *state = opaque;

	if (memcmp(state->max, max, rank_count * sizeof(*max)) == 0)
		return;
	memcpy(state->max, max, rank_count * sizeof(*max));
	/* What was measured is of other ranks, so to say. */
	mal_judge_reset(&state->judge, state->judge.allowed, state->judge.trusted);
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	struct state *state = opaque;
	struct mal_judge *judge = &state->judge;
	struct mal_judge_window window;
	unsigned int cpus, now[MAL_MAX_RANKS];
	bool was_trying, follows;

	plan->bind = true;
	state->going = NULL;
	/* The step starts; where a launcher forks ranks, it has as many places as CPUs. */
	if (!view->samples)
		reset_judge(state, view->topology->cpu_count > view->rank_count);
	set_lending(state, plan);
	if (!view->samples || !(state->may_lend || state->may_move))
		return 0;
	cpus = mal_home_count(view, now);
	if (!mal_home_is_of(&state->home, view, cpus))
		settle(state, view, cpus);
	if (!mal_forecast_learn(&state->forecast, view))
		return 0;
	was_trying = mal_judge_is_trying(judge);
	watch(state, view, &window);
	judge_forecasts(state, view, now, plan);
	follows = want(state, view, cpus);
	place(state, view, now, was_trying && !mal_judge_is_trying(judge), follows, plan);
	if (mal_judge_begin(judge, &window, plan->move)) {
		begin_block(state, view, now, plan);
		if (!(judge->way & MAL_WAY_MOVE))
			place(state, view, now, false, false, plan);
	}
	set_lending(state, plan);
	state->lent = judge->way & MAL_WAY_LEND;
	/* A short window may have none of the regions of a time step, or all. */
	plan->short_windows = judge->part != MAL_JUDGE_BASE && !state->unit.kind;
	plan->move_times = mal_judge_times(judge, MAL_WAY_MOVE);
	plan->lend_times = mal_judge_times(judge, MAL_WAY_LEND);
	state->moved = plan->move;
	memcpy(state->planned, plan->count, view->rank_count * sizeof(now[0]));
	return 0;
}

/* What was measured is each single CPU; elsewhere the nearest ones will do. */
static void map(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	const struct state *state = opaque;

	mal_map_to(state->going, state->home.cpu_count, view, plan);
}

unsigned int mal_auto_rest(const void *opaque)
{
	const struct state *state = opaque;

	if (!(state->may_lend || state->may_move))
		return UINT_MAX;
	if (state->moved || state->judge.part != MAL_JUDGE_BASE)
		return 0;
	return state->judge.steady;
}

const struct mal_policy mal_policy_auto = {
	.abi = MAL_POLICY_ABI,
	.name = "auto",
	.summary = "move CPUs for lasting imbalance, lend them for the rest (the default)",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.map = map,
	.destroy = free,
};
