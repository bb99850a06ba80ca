/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * explore.c: find by trial how many of their CPUs ranks should use, and the best loop schedule.
 *
 * A memory-bound or contended program can be faster with some CPUs off. The policy measures the
 * phase time with all CPUs, then with half of them, and so on in halved steps. Phase time mostly
 * has one minimum over the number of threads (Charm++'s "spreading" measures too), so five trials
 * find the best eighth. Then the policy tries schedules for loops with schedule(runtime), and
 * threads again with a better schedule: tuned apart they miss the best (Kale, Menon, Senthil:
 * Adaptive loop scheduling with Charm++).
 *
 * A trial lasts three short windows; the first is not counted. A trial begins only when its cost,
 * for a program that scales perfectly, fits into BUDGET of the run so far. The fastest setting
 * stays. When the phase time changes for good, the search starts again.
 */
#include <stdlib.h>

#include "policies/interface/builtin.h"
#include "policies/model/model.h"

enum { PARAM_BUDGET, PARAM_GAIN, PARAM_MIN, PARAM_SCHEDULE };

static const struct mal_param params[] = {
	[PARAM_BUDGET] = {"budget", "part of the run that trials may cost, in percent", 5, 0.1, 50,
			  NULL},
	[PARAM_GAIN] = {"gain", "by how much a trial must be faster, in percent", 3, 0, 50, NULL},
	[PARAM_MIN] = {"least", "eighths of its CPUs that a rank uses at least", 1, 1, 8, NULL},
	[PARAM_SCHEDULE] = {"schedule", "tune loops with schedule(runtime) too, or keep them", 0, 0,
			    1, "keep|tune"},
};

/* The policy counts use in eighths of a rank's CPUs. */
#define ALL 8
#define FIRST_STEP 4
/* Another schedule shifts the best number of threads only a little. */
#define NEXT_STEP 2
/* Windows of a trial. */
#define TRIAL_WINDOWS 3
/* Assume that more threads, or another schedule, make a window this many times as long. */
#define UNKNOWN_COST 1.5
/* The phase time has changed if it differs by DRIFT in this many windows in a row. */
#define DRIFT 0.15
#define DRIFT_WINDOWS 4
/* Weight of the past in the average phase time. */
#define PAST 0.7

/* The first is the program's own. */
static const struct mal_schedule schedules[] = {
	{MAL_SCHEDULE_OWN, 0},	    {MAL_SCHEDULE_STATIC, 0}, {MAL_SCHEDULE_DYNAMIC, 1},
	{MAL_SCHEDULE_DYNAMIC, 16}, {MAL_SCHEDULE_GUIDED, 1},
};
#define SCHEDULES (sizeof(schedules) / sizeof(schedules[0]))

struct setting {
	int eighths;
	size_t schedule; /* index */
};

struct state {
	double budget, gain;
	int min;
	bool tune;
	struct setting best, trial;
	bool trying;
	int windows;	   /* of the trial */
	double trial_s;	   /* sum of its phase times */
	bool searching;	   /* there may be more to try */
	bool improved;	   /* the search in this dimension has found something */
	int step;	   /* eighths, 0: all of them were tried */
	bool again;	   /* threads, because of a better schedule */
	bool threads_done; /* schedules are searched now */
	bool downwards;	   /* the next trial of this step is below the best */
	size_t schedule;   /* that is tried next */
	double phase_s;	   /* average with the best */
	int drifted;	   /* windows in a row */
	double run_s, lost_s;
};

static void search_threads(struct state *state, int step)
{
	state->step = step;
	state->downwards = true;
	state->improved = false;
	state->threads_done = false;
}

static void begin_search(struct state *state)
{
	search_threads(state, FIRST_STEP);
	state->searching = true;
	state->again = false;
	state->trying = false;
	state->drifted = 0;
}

static void *create(const double *values)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->budget = values[PARAM_BUDGET] / 100;
	state->gain = values[PARAM_GAIN] / 100;
	state->min = (int)values[PARAM_MIN];
	state->tune = values[PARAM_SCHEDULE] != 0;
	state->best.eighths = ALL;
	begin_search(state);
	return state;
}

/*
 * Choose other numbers of threads: on one side of the best, then on the other, then in smaller
 * steps. Returns false when all were tried.
 */
static bool next_threads(struct state *state)
{
	while (state->step) {
		int eighths = state->best.eighths + (state->downwards ? -state->step : state->step);

		if (!state->downwards)
			state->step /= 2;
		state->downwards = !state->downwards;
		if (eighths < state->min || eighths > ALL)
			continue;
		state->trial = (struct setting){eighths, state->best.schedule};
		return true;
	}
	return false;
}

/*
 * Choose another schedule, with the best number of threads and with all: it may suit more threads.
 */
static bool next_schedule(struct state *state)
{
	while (state->schedule < 2 * SCHEDULES) {
		int eighths = state->schedule < SCHEDULES ? state->best.eighths : ALL;
		size_t schedule = state->schedule++ % SCHEDULES;

		if (schedule == state->best.schedule ||
		    (state->schedule > SCHEDULES && state->best.eighths == ALL))
			continue;
		state->trial = (struct setting){eighths, schedule};
		return true;
	}
	return false;
}

/*
 * Choose the next trial: threads, then schedules, and again while one changes the other. Returns
 * false when nothing is left to try.
 */
static bool next_trial(struct state *state)
{
	if (next_threads(state))
		return true;
	if (!state->tune)
		return false;
	if (state->threads_done) {
		if (next_schedule(state))
			return true;
		if (!state->improved)
			return false;
		search_threads(state, NEXT_STEP);
		state->again = true;
		if (next_threads(state))
			return true;
	}
	if (state->again && !state->improved)
		return false;
	state->threads_done = true;
	state->improved = false;
	state->schedule = 0;
	return next_schedule(state);
}

static void end_trial(struct state *state, double phase_s)
{
	state->trying = false;
	if (phase_s >= (1 - state->gain) * state->phase_s)
		return;
	/* Continue from here in smaller steps, on both sides. */
	if (state->step && !state->downwards)
		state->step /= 2;
	state->downwards = true;
	state->best = state->trial;
	state->phase_s = phase_s;
	state->improved = true;
}

/* Check in a window with the best setting whether its phase time still holds. */
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
	if (!state->trying) {
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

/* The most that a trial beginning now may cost. */
static double cost_of_trial(const struct state *state, double window_s)
{
	double longer = UNKNOWN_COST;

	if (state->downwards && state->step && state->best.eighths > state->step)
		longer = (double)state->best.eighths / (state->best.eighths - state->step);
	return TRIAL_WINDOWS * window_s * (longer - 1);
}

static void begin_trial(struct state *state, double window_s)
{
	if (state->trying || !state->searching || state->phase_s <= 0 || state->drifted ||
	    state->lost_s + cost_of_trial(state, window_s) > state->budget * state->run_s)
		return;
	state->trying = state->searching = next_trial(state);
	state->windows = 0;
	state->trial_s = 0;
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	struct state *state = opaque;
	double phase_s, window_s;
	struct setting setting;

	plan->bind = true;
	if (!view->samples)
		return 0;
	window_s = mal_model_elapsed(view->samples, view->rank_count);
	phase_s = mal_model_phase(view->samples, view->rank_count);
	if (phase_s <= 0)
		return 0;
	learn(state, phase_s, window_s);
	begin_trial(state, window_s);
	setting = state->trying ? state->trial : state->best;
	plan->brief = state->searching;
	plan->schedule = schedules[setting.schedule];
	for (unsigned int rank = 0; plan->use && rank < view->rank_count; rank++) {
		unsigned int cpus = view->samples[rank].cpus;

		plan->use[rank] = setting.eighths == ALL
					  ? 0
					  : (cpus * (unsigned int)setting.eighths + ALL - 1) / ALL;
	}
	return 0;
}

const struct mal_policy mal_policy_explore = {
	.abi = MAL_POLICY_ABI,
	.name = "explore",
	.summary = "try fewer threads than CPUs, and loop schedules, and keep what is fastest",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.destroy = free,
};
