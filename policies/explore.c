/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * explore.c: how many of their CPUs the ranks should use: a memory-bound or contended program can be faster with some of them off.
 *
 * The phase time is measured with all CPUs, then with half of them, and so on in steps that are halved: as it mostly has one
 * minimum over the number of threads ("spreading" measures too: Acun, Miller, Kale, ICPP 2016), five trials find the best
 * eighth. A trial lasts three short windows, the first of which is not counted. Trials begin only when what they cost if the
 * program scales perfectly fits into BUDGET of the run so far; the best of what was measured stays. When the phase time
 * changes lastingly all begins anew.
 */
#include <stdlib.h>

#include "policies/builtin.h"

enum { PARAM_BUDGET, PARAM_GAIN, PARAM_LEAST };

static const struct mal_param params[] = {
	[PARAM_BUDGET] = {"budget", "part of the run that trials may cost, in percent", 5, 0.1, 50, NULL},
	[PARAM_GAIN] = {"gain", "by how much a trial must be faster, in percent", 3, 0, 50, NULL},
	[PARAM_LEAST] = {"least", "eighths of its CPUs that a rank uses at least", 1, 1, 8, NULL},
};

/* Use is counted in eighths of a rank's CPUs. */
#define ALL 8
#define FIRST_STEP 4
/* Windows of a trial; what more threads may cost is not known: they are taken to make it so many times as long. */
#define TRIAL_WINDOWS 3
#define MORE_THREADS 1.5
/* The phase time has changed if it differs so much for so many windows. */
#define DRIFT 0.15
#define DRIFT_WINDOWS 4
/* Weight of the past in the average phase time. */
#define PAST 0.7

struct state {
	double budget, gain;
	int least;
	int best;	/* eighths */
	int trial;	/* that are tried now, 0: none */
	int windows;	/* of the trial */
	double trial_s; /* sum of its phase times */
	int step;	/* 0: the search is over */
	bool downwards; /* the next trial of this step is below the best */
	double phase_s; /* average with the best */
	int drifted;	/* windows in a row */
	double run_s, lost_s;
};

static void begin_search(struct state *state)
{
	state->step = FIRST_STEP;
	state->downwards = true;
	state->trial = 0;
	state->drifted = 0;
	state->phase_s = 0;
}

static void *create(const double *values)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->budget = values[PARAM_BUDGET] / 100;
	state->gain = values[PARAM_GAIN] / 100;
	state->least = (int)values[PARAM_LEAST];
	state->best = ALL;
	begin_search(state);
	return state;
}

/* The window's length, and that of its phases. */
static double measure(const struct mal_view *view, double *window_s)
{
	double phases = 0;

	*window_s = 0;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];

		if (!sample->running)
			continue;
		*window_s = sample->elapsed_s > *window_s ? sample->elapsed_s : *window_s;
		phases = sample->phases > phases ? sample->phases : phases;
	}
	return phases > 0 ? *window_s / phases : *window_s;
}

/* What is to be tried next: on one side of the best, then on the other, then in smaller steps. 0: nothing. */
static int next_trial(struct state *state)
{
	while (state->step) {
		int trial = state->downwards ? state->best - state->step : state->best + state->step;

		if (!state->downwards)
			state->step /= 2;
		state->downwards = !state->downwards;
		if (trial >= state->least && trial <= ALL && trial != state->best)
			return trial;
	}
	return 0;
}

static void end_trial(struct state *state, double phase_s)
{
	if (phase_s < (1 - state->gain) * state->phase_s) {
		/* From there on in smaller steps, on both sides. */
		if (state->downwards == false)
			state->step /= 2;
		state->downwards = true;
		state->best = state->trial;
		state->phase_s = phase_s;
	}
	state->trial = 0;
}

/* A window with the best: is it still what it was? */
static void watch(struct state *state, double phase_s)
{
	double change;

	if (state->phase_s <= 0) {
		state->phase_s = phase_s;
		return;
	}
	change = phase_s / state->phase_s - 1;
	state->drifted = change > DRIFT || change < -DRIFT ? state->drifted + 1 : 0;
	if (state->drifted == DRIFT_WINDOWS) {
		begin_search(state);
		state->phase_s = phase_s;
	} else if (!state->drifted) {
		state->phase_s = PAST * state->phase_s + (1 - PAST) * phase_s;
	}
}

static void learn(struct state *state, double phase_s, double window_s)
{
	state->run_s += window_s;
	if (!state->trial) {
		watch(state, phase_s);
		return;
	}
	if (phase_s > state->phase_s)
		state->lost_s += window_s * (1 - state->phase_s / phase_s);
	if (state->windows++)
		state->trial_s += phase_s;
	if (state->windows == TRIAL_WINDOWS)
		end_trial(state, state->trial_s / (TRIAL_WINDOWS - 1));
}

/* What a trial that begins now may cost. */
static double cost_of_trial(const struct state *state, double window_s)
{
	double longer = state->downwards && state->best > state->step
				? (double)state->best / (state->best - state->step)
				: MORE_THREADS;

	return TRIAL_WINDOWS * window_s * (longer - 1);
}

static bool can_afford_trial(const struct state *state, double window_s)
{
	return state->phase_s > 0 && !state->drifted &&
	       state->lost_s + cost_of_trial(state, window_s) <= state->budget * state->run_s;
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	struct state *state = opaque;
	double phase_s, window_s;
	int used;

	plan->bind = true;
	if (!view->samples)
		return 0;
	phase_s = measure(view, &window_s);
	if (phase_s <= 0)
		return 0;
	learn(state, phase_s, window_s);
	if (!state->trial && state->step && can_afford_trial(state, window_s)) {
		state->trial = next_trial(state);
		state->windows = 0;
		state->trial_s = 0;
	}
	used = state->trial ? state->trial : state->best;
	plan->brief = state->step || state->trial;
	for (unsigned int rank = 0; plan->use && rank < view->rank_count; rank++)
		plan->use[rank] = used == ALL ? 0 : (view->samples[rank].cpus * (unsigned int)used + ALL - 1) / ALL;
	return 0;
}

const struct mal_policy mal_policy_explore = {
	.abi = MAL_POLICY_ABI,
	.name = "explore",
	.summary = "measure whether the program is faster with fewer threads than CPUs",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.destroy = free,
};
