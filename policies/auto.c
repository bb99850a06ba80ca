/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto.c: the default policy: move CPUs for the lasting part of the imbalance, lend for the rest.
 *
 * A rank with n CPUs needs serial + work / n. The numbers of CPUs that make the longest rank shortest are found by
 * giving CPUs one by one to the rank that is longest at that point, which is optimal because each rank's time only falls
 * with its CPUs. A plan is carried out if its forecast is better by more than noise: at once if much
 * better, else only if the next window says the same.
 */
#include <stdlib.h>
#include <string.h>

#include "policies/builtin.h"
#include "policies/forecast.h"

enum { PARAM_GAIN, PARAM_SMOOTH, PARAM_LEND, PARAM_GROW, PARAM_MOVE };

static const struct mal_param params[] = {
	[PARAM_GAIN] = {"gain", "least forecast gain, in percent, for which CPUs are moved", 3, 0, 100},
	[PARAM_SMOOTH] = {"smooth", "weight of the past windows in the average load, 0 to 0.95", 0.5, 0, 0.95},
	[PARAM_LEND] = {"lend", "lend CPUs while waiting in MPI", 1, 0, 1},
	[PARAM_GROW] = {"grow", "let long regions grow while they run", 1, 0, 1},
	[PARAM_MOVE] = {"move", "move CPUs at phase boundaries", 1, 0, 1},
};

/* A forecast gain this many times the least one is acted on at once. */
#define AT_ONCE 3.0

struct state {
	double gain;
	bool lend, grow, move;
	bool seen_once; /* the last window asked for a move that was not carried out yet */
	struct mal_forecast *forecast;
};

static void *create(const double *values)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->gain = values[PARAM_GAIN] / 100;
	state->forecast = mal_forecast_create(values[PARAM_SMOOTH]);
	if (!state->forecast) {
		free(state);
		return NULL;
	}
	state->lend = values[PARAM_LEND] != 0;
	state->grow = values[PARAM_GROW] != 0;
	state->move = values[PARAM_MOVE] != 0;
	return state;
}

static void destroy(void *opaque)
{
	struct state *state = opaque;

	if (!state)
		return;
	mal_forecast_destroy(state->forecast);
	free(state);
}

static double time_of(const struct state *state, unsigned int rank, unsigned int cpus)
{
	struct mal_load load = mal_forecast_of(state->forecast, rank);

	return load.serial + load.work / (cpus ? cpus : 1);
}

static bool can_use_more(const struct mal_sample *sample, unsigned int cpus)
{
	return sample->running && (!sample->most || cpus < sample->most);
}

static double longest(const struct state *state, const struct mal_view *view, const unsigned int *count)
{
	double most = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		double time = time_of(state, rank, count[rank]);

		if (view->samples[rank].running && time > most)
			most = time;
	}
	return most;
}

/* One CPU each, then always one to the longest rank that can use it. Returns false if nobody can. */
static bool share_out(const struct state *state, const struct mal_view *view, unsigned int cpus, unsigned int *count)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		count[rank] = view->samples[rank].running ? 1 : 0;
		if (count[rank] > cpus)
			return false;
		cpus -= count[rank];
	}
	for (; cpus; cpus--) {
		unsigned int best = view->rank_count;
		double most = -1;

		for (unsigned int rank = 0; rank < view->rank_count; rank++) {
			double time = time_of(state, rank, count[rank]);

			if (can_use_more(&view->samples[rank], count[rank]) && time > most) {
				most = time;
				best = rank;
			}
		}
		if (best == view->rank_count)
			return false;
		count[best]++;
	}
	return true;
}

/* Core seconds of all ranks in the window: forecasts are parts of it. */
static double all_work(const struct mal_view *view)
{
	double sum = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		sum += view->samples[rank].running ? view->samples[rank].work_s + view->samples[rank].serial_s : 0;
	return sum;
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	struct state *state = opaque;
	unsigned int cpus = 0;
	unsigned int now[view->rank_count];
	double before, gain;

	plan->bind = true;
	plan->lend = state->lend;
	plan->grow = state->lend && state->grow;
	if (!view->samples || !state->move || mal_forecast_learn(state->forecast, view) < 0)
		return 0;
	memset(now, 0, sizeof(now));
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		now[rank] = view->samples[rank].cpus;
		cpus += now[rank];
	}
	before = longest(state, view, now);
	plan->now_s = plan->forecast_s = before * all_work(view);
	if (!share_out(state, view, cpus, plan->count)) {
		memcpy(plan->count, now, sizeof(now));
		return 0;
	}
	gain = before > 0 ? 1 - longest(state, view, plan->count) / before : 0;
	if (gain <= state->gain || (!state->seen_once && gain < AT_ONCE * state->gain)) {
		state->seen_once = gain > state->gain;
		memcpy(plan->count, now, sizeof(now));
		return 0;
	}
	state->seen_once = false;
	plan->forecast_s = plan->now_s * (1 - gain);
	plan->move = true;
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
