/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto.c: the default policy: move CPUs for the lasting part of the imbalance, lend for the rest.
 *
 * A rank with n CPUs needs serial + work / n. Several forecasts of the next loads run side by side
 * (forecast.h). For each of them the policy works out the numbers of CPUs that make the longest
 * rank shortest (apportion.h). When the next window is known, it computes what each choice would
 * have cost, and the cheapest forecast so far decides.
 *
 * The policy carries out a plan that is better by more than noise if the next window confirms it,
 * or at once if it is much better and earlier moves proved good. A move may be regretted right
 * after it (regret.h) because the load is elsewhere again. Then moves pause, longer each time, and
 * only the long average may move CPUs. A move that made phases longer is taken back. Lending goes
 * on throughout.
 */
#include <stdlib.h>
#include <string.h>

#include "policies/interface/builtin.h"
#include "policies/interface/limits.h"
#include "policies/model/apportion.h"
#include "policies/model/forecast.h"
#include "policies/model/model.h"
#include "policies/model/regret.h"

enum { PARAM_GAIN, PARAM_SMOOTH, PARAM_LEND, PARAM_GROW, PARAM_MOVE };

static const struct mal_param params[] = {
	[PARAM_GAIN] = {"gain", "least forecast gain, in percent, for which CPUs are moved", 3, 0,
			100, NULL},
	[PARAM_SMOOTH] = {"smooth", "weight of the past windows in the average load, 0 to 0.95",
			  0.5, 0, 0.95, NULL},
	[PARAM_LEND] = {"lend", "lend CPUs while waiting in MPI", 1, 0, 1, NULL},
	[PARAM_GROW] = {"grow", "let long regions grow while they run", 1, 0, 1, NULL},
	[PARAM_MOVE] = {"move", "move CPUs at phase boundaries", 1, 0, 1, NULL},
};

/* Act at once on a forecast gain this many times the least one. */
#define AT_ONCE 3.0
/* Weight of a new cost in the moving average. */
#define FORGET 0.25
/* Switch to another forecast if it was cheaper by this factor. */
#define BETTER 0.99
/* Regret a move if a later window is longer with it by this factor. */
#define REGRET 1.03

struct state {
	double gain;
	bool lend, grow, move;
	bool seen_once; /* the last window asked for a move that has not been carried out yet */
	struct mal_forecast *forecast;
	size_t rank_count;
	bool judged;			 /* cost has values */
	double cost[MAL_FORECAST_KINDS]; /* longest rank over its ideal, moving average */
	unsigned int *count
		[MAL_FORECAST_KINDS]; /* CPUs by rank, as each forecast wanted for this window */
	enum mal_forecast_kind believed;
	struct mal_regret regret;
	unsigned int windows;
};

static void *create(const double *values)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->gain = values[PARAM_GAIN] / 100;
	state->lend = values[PARAM_LEND] != 0;
	state->grow = values[PARAM_GROW] != 0;
	state->move = values[PARAM_MOVE] != 0;
	state->forecast = mal_forecast_create(values[PARAM_SMOOTH]);
	if (!state->forecast) {
		free(state);
		return NULL;
	}
	return state;
}

static void destroy(void *opaque)
{
	struct state *state = opaque;

	if (!state)
		return;
	for (int kind = 0; kind < MAL_FORECAST_KINDS; kind++)
		free(state->count[kind]);
	mal_regret_clear(&state->regret);
	mal_forecast_destroy(state->forecast);
	free(state);
}

static int make_room(struct state *state, size_t rank_count)
{
	if (state->rank_count == rank_count)
		return 0;
	/* If memory runs out below, only some arrays have the new size: use none of them. */
	state->rank_count = 0;
	if (mal_regret_reset(&state->regret, rank_count) < 0)
		return -1;
	for (int kind = 0; kind < MAL_FORECAST_KINDS; kind++) {
		unsigned int *count = realloc(state->count[kind], rank_count * sizeof(*count));

		if (!count)
			return -1;
		memset(count, 0, rank_count * sizeof(*count));
		state->count[kind] = count;
	}
	state->rank_count = rank_count;
	state->judged = false;
	state->windows = 0;
	return 0;
}

/* The longest rank's time with LOADS and COUNT, as a part of the whole work. */
static double longest(const struct mal_view *view, const struct mal_load *loads,
		      const unsigned int *count)
{
	double max = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		double time = mal_apportion_time(&loads[rank], count[rank]);

		if (view->samples[rank].running && time > max)
			max = time;
	}
	return max;
}

static void get_loads(const struct state *state, enum mal_forecast_kind kind,
		      struct mal_load *loads)
{
	for (size_t rank = 0; rank < state->rank_count; rank++)
		loads[rank] = mal_forecast_of(state->forecast, kind, (unsigned int)rank);
}

static double follow(double past, double now, bool first)
{
	return first ? now : (1 - FORGET) * past + FORGET * now;
}

/*
 * Judge the last window's forecasts, and the last move, by this window, in which ranks had NOW
 * CPUs.
 */
static enum mal_verdict judge(struct state *state, const struct mal_view *view,
			      const unsigned int *now, unsigned int cpus)
{
	struct mal_load loads[MAL_MAX_RANKS];
	bool worse;

	get_loads(state, MAL_FORECAST_LAST, loads);
	worse = mal_regret_is_open(&state->regret) &&
		longest(view, loads, now) > REGRET * longest(view, loads, state->regret.before);
	if (state->windows++) {
		for (int kind = 0; kind < MAL_FORECAST_KINDS; kind++)
			state->cost[kind] = follow(state->cost[kind],
						   longest(view, loads, state->count[kind]) * cpus,
						   !state->judged);
		state->judged = true;
	}
	for (int kind = 0; state->judged && kind < MAL_FORECAST_KINDS; kind++)
		if (state->cost[kind] < BETTER * state->cost[state->believed])
			state->believed = (enum mal_forecast_kind)kind;
	return mal_regret_window(&state->regret, mal_model_phase(view->samples, view->rank_count),
				 worse);
}

/* Work out what each forecast wants next. Returns false if the CPUs cannot be shared out. */
static bool work_out(struct state *state, const struct mal_view *view, unsigned int cpus)
{
	struct mal_load loads[MAL_MAX_RANKS];

	for (int kind = 0; kind < MAL_FORECAST_KINDS; kind++) {
		get_loads(state, (enum mal_forecast_kind)kind, loads);
		if (!mal_apportion(view, loads, cpus, state->count[kind]))
			return false;
	}
	return true;
}

/* Restore the counts from before the last move if the same ranks still run. */
static void roll_back(struct state *state, const struct mal_view *view, unsigned int cpus,
		      struct mal_plan *plan)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];
		unsigned int before = state->regret.before[rank];

		if (sample->running ? !before || (sample->max && before > sample->max) : before > 0)
			return;
		cpus -= before;
	}
	if (cpus)
		return;
	memcpy(plan->count, state->regret.before, state->rank_count * sizeof(plan->count[0]));
	plan->forecast_s = plan->now_s;
	plan->move = true;
	state->seen_once = false;
}

static void move(struct state *state, const unsigned int *now, const unsigned int *wanted,
		 double gain, struct mal_plan *plan)
{
	mal_regret_moved(&state->regret, now);
	memcpy(plan->count, wanted, state->rank_count * sizeof(wanted[0]));
	state->seen_once = false;
	plan->forecast_s = plan->now_s * (1 - gain);
	plan->move = true;
}

/* Lending already removes most imbalance, so the first move can wait for a second window. */
static bool is_convincing(const struct state *state, double gain)
{
	bool at_once = state->regret.proved || !(state->lend && state->grow);

	return gain > state->gain &&
	       (state->seen_once || (at_once && gain >= AT_ONCE * state->gain));
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	struct state *state = opaque;
	unsigned int cpus = 0, now[MAL_MAX_RANKS];
	struct mal_load loads[MAL_MAX_RANKS];
	enum mal_forecast_kind kind;
	enum mal_verdict verdict;
	double before, gain;

	plan->bind = true;
	plan->lend = state->lend;
	plan->grow = state->lend && state->grow;
	if (!view->samples || !state->move || make_room(state, view->rank_count) < 0 ||
	    mal_forecast_learn(state->forecast, view) <= 0)
		return 0;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		now[rank] = view->samples[rank].cpus;
		cpus += now[rank];
	}
	verdict = judge(state, view, now, cpus);
	kind = verdict == MAL_VERDICT_STILL || verdict == MAL_VERDICT_STAY ? MAL_FORECAST_SLOW
									   : state->believed;
	get_loads(state, kind, loads);
	before = longest(view, loads, now);
	plan->now_s = plan->forecast_s = before * mal_forecast_whole(view);
	if (!work_out(state, view, cpus)) {
		state->windows = 0;
		return 0;
	}
	gain = before > 0 ? 1 - longest(view, loads, state->count[kind]) / before : 0;
	if (verdict == MAL_VERDICT_ROLL_BACK)
		roll_back(state, view, cpus, plan);
	else if (verdict != MAL_VERDICT_STAY && is_convincing(state, gain))
		move(state, now, state->count[kind], gain, plan);
	else
		state->seen_once = gain > state->gain;
	return 0;
}

const struct mal_policy mal_policy_auto = {
	.abi = MAL_POLICY_ABI,
	.name = "auto",
	.summary = "move CPUs for lasting imbalance, lend them for the rest (the default)",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.destroy = destroy,
};
