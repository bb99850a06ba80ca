/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * measured.c: as auto, but what counts is measured time alone: whether to move, whether to lend.
 *
 * A rank with n CPUs needs serial + work / n. Several forecasts of the next loads run side by side
 * (forecast.h). For each of them the policy works out the numbers of CPUs that make the longest
 * rank shortest (apportion.h), and when the window is known, what they would have cost (record.h).
 * The cheapest so far is followed, if it is cheaper than staying at home.
 *
 * That is the model's word. What counts is the measured time: whether to move at all, and whether
 * to lend at all, is up to the ledger (ledger.h), which tries what it does not know within a budget
 * and leaves what measured worse than home. Home are the CPUs of the beginning, one by one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/interface/builtin.h"
#include "policies/interface/limits.h"
#include "policies/mapping/mapping.h"
#include "policies/model/apportion.h"
#include "policies/model/best.h"
#include "policies/model/forecast.h"
#include "policies/model/home.h"
#include "policies/model/ledger.h"
#include "policies/model/model.h"
#include "policies/model/options.h"
#include "policies/model/record.h"

static const struct mal_param params[MAL_OPTIONS] = MAL_OPTIONS_TABLE(1);

/* What lending is believed to gain before it was measured. */
#define LENDING_GAINS 0.02
/* What breaks a tie. */
#define NOTHING_NEW 1e-4
/* Loads change so much that windows had better be short if the slow average costs this more. */
#define RESTLESS 1.02

struct state {
	struct mal_options options;
	struct mal_forecast *forecast;
	struct mal_record record;
	struct mal_ledger ledger;
	struct mal_best best;
	unsigned int arm; /* by which the next window runs */
	struct mal_home home;
	unsigned int *planned;	   /* by rank: what the last plan asked for */
	const unsigned int *going; /* to these owners, by CPU; NULL: anywhere */
	bool moved;
	bool late; /* plans take effect a window late */
};

static void *create(const double *values)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->options = mal_options_read(values);
	state->arm = state->options.lend ? MAL_ARM_LEND : 0;
	state->forecast = mal_forecast_create(state->options.smooth);
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
	mal_record_clear(&state->record);
	mal_best_clear(&state->best);
	mal_forecast_destroy(state->forecast);
	mal_home_clear(&state->home);
	free(state->planned);
	free(state);
}

/* The present CPUs are home from now on. Returns 0, or -1: out of memory. */
static int settle(struct state *state, const struct mal_view *view, unsigned int cpus)
{
	size_t ranks = view->rank_count;

	/* If memory runs out below, there is no home, and the next window tries again. */
	mal_home_clear(&state->home);
	free(state->planned);
	state->planned = calloc(ranks ? ranks : 1, sizeof(*state->planned));
	state->moved = false;
	mal_ledger_reset(&state->ledger);
	if (!state->planned || mal_home_settle(&state->home, view, cpus) < 0)
		return -1;
	if (mal_record_reset(&state->record, ranks, state->home.count) < 0 ||
	    mal_best_reset(&state->best, ranks, view->topology->cpu_count) < 0) {
		mal_home_clear(&state->home);
		return -1;
	}
	return 0;
}

static double phases_of(const struct mal_view *view)
{
	double elapsed = mal_model_elapsed(view->samples, view->rank_count);
	double phase = mal_model_phase(view->samples, view->rank_count);

	return phase > 0 ? elapsed / phase : 1;
}

/* What the model says of each arm: the logarithm of its time over home's. */
static void ask_model(const struct state *state, double *model)
{
	const struct mal_record *record = &state->record;
	double home = record->cost[MAL_RECORD_HOME], best = record->cost[record->best];
	double lending = mal_ledger_value(&state->ledger, MAL_ARM_LEND, -LENDING_GAINS);

	model[0] = 0;
	model[MAL_ARM_LEND] = -LENDING_GAINS;
	if (record->best == MAL_RECORD_HOME || home <= 0 || best <= 0) {
		/* The same as at home, and no better. */
		model[MAL_ARM_MOVE] = NOTHING_NEW;
		model[MAL_ARM_LEND | MAL_ARM_MOVE] = lending + NOTHING_NEW;
		return;
	}
	model[MAL_ARM_MOVE] = log(best / home);
	model[MAL_ARM_LEND | MAL_ARM_MOVE] =
		lending < 0 ? fmin(model[MAL_ARM_MOVE], lending) - LENDING_GAINS / 2
			    : model[MAL_ARM_MOVE] + lending;
}

/* The time that the work of the last window, as it was measured, would take at home. */
static double at_home(const struct state *state, const struct mal_view *view)
{
	double longest = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];
		struct mal_load load = {sample->work_s, sample->serial_s};

		if (sample->running)
			longest = fmax(longest, mal_apportion_time(&load, state->home.count[rank]));
	}
	return longest;
}

static unsigned int allowed_arms(const struct state *state)
{
	unsigned int allowed = 1u | (state->options.lend ? 1u << MAL_ARM_LEND : 0);

	/* Nothing is known that would be better. */
	if (state->record.best == MAL_RECORD_HOME && !(state->arm & MAL_ARM_MOVE))
		return allowed;
	allowed |= state->options.move ? 1u << MAL_ARM_MOVE : 0;
	allowed |= state->options.lend && state->options.move ? 1u << (MAL_ARM_LEND | MAL_ARM_MOVE)
							      : 0;
	return allowed;
}

static void go_home(struct state *state, const struct mal_view *view, struct mal_plan *plan)
{
	if (mal_home_is_here(&state->home, view))
		return;
	memcpy(plan->count, state->home.count, view->rank_count * sizeof(plan->count[0]));
	plan->move = true;
	state->going = state->home.owner;
}

/* Take the best distribution that was measured. */
static void go_back(struct state *state, const struct mal_view *view, struct mal_plan *plan)
{
	memcpy(plan->count, state->best.count, view->rank_count * sizeof(plan->count[0]));
	plan->move = true;
	state->going = state->best.owner;
}

/* Carry out what the best forecast wants if that is worth it. */
static void follow(struct state *state, const struct mal_view *view, const unsigned int *now,
		   struct mal_plan *plan)
{
	double whole = mal_forecast_whole(view);
	unsigned int kind = state->record.best;
	struct mal_load loads[MAL_MAX_RANKS];
	double before, after;

	if (kind == MAL_RECORD_HOME) {
		go_home(state, view, plan);
		return;
	}
	mal_forecast_get(state->forecast, (enum mal_forecast_kind)kind, loads);
	before = mal_apportion_longest(view, loads, now);
	after = mal_apportion_longest(view, loads, state->record.count[kind]);
	plan->now_s = plan->forecast_s = before * whole;
	if (after > before * (1 - state->options.gain))
		return;
	memcpy(plan->count, state->record.count[kind], view->rank_count * sizeof(plan->count[0]));
	plan->forecast_s = after * whole;
	plan->move = true;
}

/* Judge the forecasts, and enter the window into the ledger. Fills MODEL. */
static void learn(struct state *state, const struct mal_view *view, const unsigned int *now,
		  double *model)
{
	double whole = mal_forecast_whole(view), phases = phases_of(view);
	double elapsed_s = mal_model_elapsed(view->samples, view->rank_count);
	double comm_s = mal_model_communication(view->samples, view->rank_count);
	double off_s = at_home(state, view) + comm_s;
	unsigned int arm = state->arm;
	struct mal_load loads[MAL_MAX_RANKS];

	mal_forecast_get(state->forecast, MAL_FORECAST_LAST, loads);
	if (state->moved)
		state->late = memcmp(now, state->planned, view->rank_count * sizeof(now[0])) != 0;
	mal_record_judge(&state->record, view, loads, state->home.cpus, state->late);
	ask_model(state, model);
	/* What has not moved yet is no trial of moving. */
	if (mal_home_is_here(&state->home, view) && !state->ledger.arms[arm].windows)
		arm &= MAL_ARM_LEND;
	mal_ledger_learn(&state->ledger,
			 &(struct mal_ledger_window){
				 arm, elapsed_s, elapsed_s / phases, off_s / phases, whole / phases,
				 log((whole / state->home.cpus + comm_s) / off_s), !state->moved});
}

/* Go where the next window's arm says. */
static void move(struct state *state, const struct mal_view *view, const unsigned int *now,
		 struct mal_plan *plan)
{
	struct mal_load loads[MAL_MAX_RANKS];
	enum mal_best_verdict verdict;

	mal_forecast_get(state->forecast, MAL_FORECAST_LAST, loads);
	verdict = mal_best_window(&state->best, view, loads,
				  mal_model_phase(view->samples, view->rank_count));
	if (!(state->arm & MAL_ARM_MOVE))
		go_home(state, view, plan);
	else if (verdict == MAL_BEST_RETURN)
		go_back(state, view, plan);
	else if (verdict == MAL_BEST_GO_ON)
		follow(state, view, now, plan);
	state->moved = plan->move;
	memcpy(state->planned, plan->count, view->rank_count * sizeof(now[0]));
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	struct state *state = opaque;
	unsigned int cpus, now[MAL_MAX_RANKS];
	struct mal_load loads[MAL_MAX_RANKS];
	double model[MAL_ARMS];
	bool trial;

	plan->bind = true;
	state->going = NULL;
	mal_options_lend(&state->options, state->arm & MAL_ARM_LEND, plan);
	if (!view->samples)
		return 0;
	cpus = mal_home_count(view, now);
	if ((!mal_home_is_of(&state->home, view, cpus) && settle(state, view, cpus) < 0) ||
	    mal_forecast_learn(state->forecast, view) <= 0)
		return 0;
	mal_forecast_get(state->forecast, MAL_FORECAST_LAST, loads);
	plan->now_s = plan->forecast_s =
		mal_apportion_longest(view, loads, now) * mal_forecast_whole(view);
	learn(state, view, now, model);
	if (!mal_record_want(&state->record, view, state->forecast, cpus))
		return 0;
	state->arm = mal_ledger_choose(&state->ledger, allowed_arms(state), model, &trial);
	mal_options_lend(&state->options, state->arm & MAL_ARM_LEND, plan);
	move(state, view, now, plan);
	plan->brief = trial || state->record.cost[MAL_FORECAST_SLOW] >
				       RESTLESS * state->record.cost[state->record.best];
	return 0;
}

/* What was measured is each single CPU; elsewhere the nearest ones will do. */
static void map(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	const struct state *state = opaque;

	mal_map_to(state->going, state->home.cpu_count, view, plan);
}

const struct mal_policy mal_policy_measured = {
	.abi = MAL_POLICY_ABI,
	.name = "measured",
	.summary = "as auto, but move and lend only where phases measured shorter",
	.params = params,
	.param_count = MAL_OPTIONS,
	.create = create,
	.decide = decide,
	.map = map,
	.destroy = destroy,
};
