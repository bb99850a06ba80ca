/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * explore.c: a layer over auto: find by trial how many of their CPUs ranks should use, and the best
 * loop schedule.
 *
 * A memory-bound or contended program can be faster with some CPUs off. Phase time mostly has one
 * minimum over the number of threads (Charm++'s "spreading" measures too). So the policy first
 * leaves one eighth of the CPUs off: if that makes phases longer as it does for work that scales,
 * fewer threads are slower still, and the search is over at little cost (bracket.h). All ranks are
 * tried together, then the longest ones alone if fewer threads made these faster. Then the policy
 * tries schedules for loops with schedule(runtime), and threads again with a better schedule: tuned
 * apart they miss the best (Kale, Menon, Senthil: Adaptive loop scheduling with Charm++).
 *
 * A trial lasts three short windows; the first is not counted, but the trial is over if that one is
 * slow already. It begins only when auto has been at rest, and when its cost, for a program that
 * scales perfectly, fits into BUDGET of the run so far. What is faster than the windows before it
 * and after it stays, and auto learns how many CPUs each rank uses. When the phase time changes for
 * good, the search starts again.
 *
 * Invariant: a program that scales loses little by it, and one that is contended and unbalanced
 * gets the better of both (t/unit/test_closed.c: explore_is_as_good_as_both).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/auto.h"
#include "policies/interface/builtin.h"
#include "policies/interface/limits.h"
#include "policies/model/bracket.h"
#include "policies/model/model.h"

enum { PARAM_BUDGET = MAL_AUTO_PARAMS, PARAM_MIN, PARAM_SCHEDULE };

static const struct mal_param params[] = {
	[MAL_AUTO_GAIN] = {"gain",
			   "least gain, in percent, for which CPUs are moved, or a trial's "
			   "setting is kept",
			   3, 0, 50, NULL},
	MAL_AUTO_OTHER_PARAMS,
	[PARAM_BUDGET] = {"budget", "part of the run that trials may cost, in percent", 4, 0.1, 50,
			  NULL},
	[PARAM_MIN] = {"least", "eighths of its CPUs that a rank uses at least", 1, 1, 8, NULL},
	[PARAM_SCHEDULE] = {"schedule", "tune loops with schedule(runtime) too, or keep them", 0, 0,
			    1, "keep|tune"},
};

/* The policy counts use in eighths of the CPUs that a rank has when its search begins. */
#define ALL 8
/* Ranks that compute for this part of the longest one's time are searched together with it. */
#define NEAR 0.8
/* A trial begins when auto has been at rest for so many windows. */
#define REST 4
/* Windows of a trial, and of the best setting after one that looks better. */
#define TRIAL_WINDOWS 3
#define AFTER_WINDOWS 2
/* Assume that more threads, or another schedule, make a window this many times as long. */
#define UNKNOWN_COST 1.5
/* The phase time has changed if it differs by DRIFT in this many windows in a row. */
#define DRIFT 0.15
#define DRIFT_WINDOWS 4
/* Weight of the past in the average phase time. */
#define PAST 0.7

/*
 * The first is the program's own. That is static where nobody has chosen: what differs most from
 * it comes first.
 */
static const struct mal_schedule schedules[] = {
	{MAL_SCHEDULE_OWN, 0},	  {MAL_SCHEDULE_DYNAMIC, 1}, {MAL_SCHEDULE_DYNAMIC, 16},
	{MAL_SCHEDULE_GUIDED, 1}, {MAL_SCHEDULE_STATIC, 0},
};
#define SCHEDULES (sizeof(schedules) / sizeof(schedules[0]))

struct setting {
	int eighths;	 /* of the ranks that are searched */
	size_t schedule; /* index */
};

struct state {
	void *balancer;	      /* auto's */
	unsigned int rest;    /* windows */
	struct mal_plan last; /* auto's */
	double budget, gain;
	int min;
	bool tune;
	/* By rank: CPUs when its search began, 0: it is not searched; was it searched before? */
	unsigned int whole[MAL_MAX_RANKS];
	bool searched[MAL_MAX_RANKS], hopeful[MAL_MAX_RANKS]; /* hopeful: faster in a trial */
	double before_s[MAL_MAX_RANKS];	 /* computing, a phase, before the trial */
	unsigned int max[MAL_MAX_RANKS]; /* CPUs that the others use; 0: all */
	struct setting best, trial;
	enum { BASE, TRIAL, AFTER } part;
	int windows;		    /* of the part */
	double sum_s;		    /* of their phase times, but for the first one's */
	double trial_s;		    /* phase time in the trial */
	bool searching;		    /* there may be more to try */
	bool improved;		    /* the search in this dimension has found something */
	bool together;		    /* all ranks are searched next */
	struct mal_bracket eighths; /* the search for the best number of them */
	bool chosen;		    /* the trial, which waits until it may cost so much */
	double longer;		    /* phases of it, of work that scales, at most so many times */
	bool again;		    /* threads, because of a better schedule */
	bool threads_done;	    /* schedules are searched now */
	size_t schedule;	    /* that is tried next */
	double phase_s;		    /* average with the best */
	int drifted, calm;	    /* windows in a row */
	double run_s, lost_s;
};

static void search_threads(struct state *state)
{
	mal_bracket_begin(&state->eighths, state->min, ALL, state->best.eighths);
	state->improved = false;
	state->threads_done = false;
}

/* Search anew, all ranks together at first. */
static void begin_search(struct state *state)
{
	search_threads(state);
	memset(state->searched, 0, sizeof(state->searched));
	memset(state->hopeful, 0, sizeof(state->hopeful));
	state->searching = state->together = true;
	state->chosen = false;
	state->drifted = 0;
}

static void *create(const double *values)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->balancer = mal_policy_auto.create(values);
	if (!state->balancer) {
		free(state);
		return NULL;
	}
	state->budget = values[PARAM_BUDGET] / 100;
	state->gain = values[MAL_AUTO_GAIN] / 100;
	state->min = (int)values[PARAM_MIN];
	state->tune = values[PARAM_SCHEDULE] != 0;
	state->best.eighths = ALL;
	begin_search(state);
	return state;
}

static void destroy(void *opaque)
{
	struct state *state = opaque;

	if (state)
		mal_policy_auto.destroy(state->balancer);
	free(state);
}

/* The most CPUs that RANK uses, with EIGHTHS where it is searched; 0: all. */
static unsigned int max_of(const struct state *state, unsigned int rank, int eighths)
{
	if (!state->whole[rank])
		return state->max[rank];
	return eighths == ALL ? 0 : (state->whole[rank] * (unsigned int)eighths + ALL - 1) / ALL;
}

/* What RANK leaves off none of is 0. */
static unsigned int use_of(const struct state *state, const struct mal_view *view,
			   unsigned int rank, int eighths)
{
	unsigned int max = max_of(state, rank, eighths);

	return max < view->samples[rank].cpus ? max : 0;
}

/* Do ranks use as many of the CPUs that they have now with both numbers of eighths? */
static bool is_same_use(const struct state *state, const struct mal_view *view, int one, int other)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running &&
		    use_of(state, view, rank, one) != use_of(state, view, rank, other))
			return false;
	return true;
}

/*
 * The eighths, as bits, with which ranks use other numbers of CPUs than in all that this search has
 * measured.
 */
static unsigned int fresh(const struct state *state, const struct mal_view *view)
{
	unsigned int bits = 0;

	for (int eighths = 1; eighths <= ALL; eighths++) {
		bool is_new = true;

		for (int other = 1; is_new && other <= ALL; other++)
			is_new = !(state->eighths.measured >> other & 1) ||
				 !is_same_use(state, view, eighths, other);
		bits |= (unsigned int)is_new << eighths;
	}
	return bits;
}

static double computing_s(const struct mal_sample *sample)
{
	return sample->running ? sample->elapsed_s - sample->mpi_s : 0;
}

/* The eighths of its CPUs that RANK uses, one at least. */
static int eighths_of(const struct state *state, const struct mal_view *view, unsigned int rank)
{
	unsigned int cpus = view->samples[rank].cpus,
		     use = use_of(state, view, rank, state->best.eighths);
	int eighths = use ? (int)(ALL * use / cpus) : ALL;

	return eighths ? eighths : 1;
}

/* Tell auto how many CPUs ranks can use. */
static void tell(struct state *state)
{
	unsigned int max[MAL_MAX_RANKS];

	for (unsigned int rank = 0; rank < MAL_MAX_RANKS; rank++)
		max[rank] = max_of(state, rank, state->best.eighths);
	mal_auto_limit(state->balancer, max, MAL_MAX_RANKS);
}

/*
 * First all ranks are searched together: those of a balanced program are faster with fewer threads
 * only if all have fewer. Then those for which the others wait, if a trial made them faster.
 * Returns false if nobody is left to search.
 */
static bool next_ranks(struct state *state, const struct mal_view *view)
{
	unsigned int longest = 0;
	bool others = false;
	int eighths;

	for (unsigned int rank = 1; rank < view->rank_count; rank++)
		if (computing_s(&view->samples[rank]) > computing_s(&view->samples[longest]))
			longest = rank;
	if (!state->together && (state->searched[longest] || !state->hopeful[longest]))
		return false;
	eighths = eighths_of(state, view, longest);
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];
		bool near = state->together ||
			    (!state->searched[rank] &&
			     computing_s(sample) >= NEAR * computing_s(&view->samples[longest]));
		bool now = sample->running && near && eighths_of(state, view, rank) == eighths;

		state->max[rank] = max_of(state, rank, state->best.eighths);
		state->whole[rank] = now ? sample->cpus : 0;
		state->searched[rank] |= now && !state->together;
		others |= sample->running && !now;
	}
	state->best.eighths = eighths;
	tell(state);
	if (!state->together && !others)
		return false;
	state->again = state->together = false;
	search_threads(state);
	return true;
}

/* Choose another number of threads. Returns false when none is left. */
static bool next_threads(struct state *state, const struct mal_view *view)
{
	int eighths = mal_bracket_next(&state->eighths, state->best.eighths, fresh(state, view));

	state->trial = (struct setting){eighths, state->best.schedule};
	return eighths != 0;
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
 * Choose the next trial for these ranks: threads, then schedules, and again while one changes the
 * other. Returns false when nothing is left to try.
 */
static bool next_setting(struct state *state, const struct mal_view *view)
{
	if (!state->threads_done && next_threads(state, view))
		return true;
	if (!state->tune)
		return false;
	if (state->threads_done) {
		if (next_schedule(state))
			return true;
		if (!state->improved)
			return false;
		search_threads(state);
		state->again = true;
		if (next_threads(state, view))
			return true;
	}
	if (state->again && !state->improved)
		return false;
	state->threads_done = true;
	state->improved = false;
	state->schedule = 0;
	return next_schedule(state);
}

static bool next_trial(struct state *state, const struct mal_view *view)
{
	while (state->together || !next_setting(state, view))
		if (!next_ranks(state, view))
			return false;
	return true;
}

static void enter(struct state *state, int part)
{
	state->part = part;
	state->windows = 0;
	state->sum_s = 0;
}

/* The trial was faster than the best setting before it and after it. */
static void keep(struct state *state)
{
	mal_bracket_keep(&state->eighths, state->best.eighths, state->trial.eighths);
	state->best = state->trial;
	state->phase_s = state->trial_s;
	state->improved = true;
	enter(state, BASE);
	tell(state);
}

/* Phases of PHASE_S are longer by half as much as those of work that scales, or more. */
static bool is_slow(const struct state *state, double phase_s)
{
	return phase_s >= state->phase_s * (1 + state->longer) / 2;
}

/*
 * The trial was not faster, its phases took PHASE_S. Fewer threads than these may still be faster
 * if it was hardly slower.
 */
static void drop(struct state *state, double phase_s)
{
	mal_bracket_drop(&state->eighths, state->best.eighths, state->trial.eighths,
			 !is_slow(state, phase_s));
	enter(state, BASE);
}

static bool is_faster(const struct state *state, double best_s)
{
	return state->trial_s < (1 - state->gain) * best_s;
}

/* Seconds that RANK computed for in a phase. */
static double computing_of_phase(const struct mal_view *view, unsigned int rank, double phase_s)
{
	const struct mal_sample *sample = &view->samples[rank];

	return sample->elapsed_s > 0 ? phase_s * computing_s(sample) / sample->elapsed_s : 0;
}

/* Is any rank faster in the trial, be it that others are slower? */
static void look_at_ranks(struct state *state, const struct mal_view *view, double phase_s)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		double now_s = computing_of_phase(view, rank, phase_s);

		if (state->part == BASE)
			state->before_s[rank] = now_s;
		else if (state->part == TRIAL)
			state->hopeful[rank] |= now_s < (1 - state->gain) * state->before_s[rank];
	}
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
	state->calm = state->drifted ? 0 : state->calm + 1;
	if (state->drifted == DRIFT_WINDOWS) {
		begin_search(state);
		state->phase_s = phase_s;
	} else if (!state->drifted) {
		state->phase_s = PAST * state->phase_s + (1 - PAST) * phase_s;
	}
}

/* A window of a trial, or of the best setting after it. */
static void learn_trial(struct state *state, double phase_s, double window_s)
{
	if (phase_s > state->phase_s)
		state->lost_s += window_s * (1 - state->phase_s / phase_s);
	if (state->windows++)
		state->sum_s += phase_s;
	if (state->part == AFTER) {
		if (state->windows < AFTER_WINDOWS)
			return;
		if (is_faster(state, (state->phase_s + state->sum_s / (AFTER_WINDOWS - 1)) / 2))
			keep(state);
		else
			drop(state, state->trial_s);
		return;
	}
	if (state->windows < 2) {
		if (is_slow(state, phase_s))
			drop(state, phase_s);
		return;
	}
	state->trial_s = state->sum_s / (state->windows - 1);
	if (!is_faster(state, state->phase_s))
		drop(state, state->trial_s);
	else if (state->windows == TRIAL_WINDOWS)
		enter(state, AFTER);
}

/* So many times as long are phases of the trial at most, of work that scales. */
static double times_longer(const struct state *state, const struct mal_view *view)
{
	double longer = 1;

	if (state->trial.schedule != state->best.schedule ||
	    state->trial.eighths > state->best.eighths)
		return UNKNOWN_COST;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		unsigned int cpus = view->samples[rank].cpus,
			     best = use_of(state, view, rank, state->best.eighths),
			     trial = use_of(state, view, rank, state->trial.eighths);

		if (view->samples[rank].running && trial)
			longer = fmax(longer, (double)(best ? best : cpus) / trial);
	}
	return longer;
}

/*
 * What the trial may cost: what is slow ends at its first window, two windows of what is not cost
 * no more, and ranks may follow a window later. Windows of trials are short, or of one phase.
 */
static double cost_of_trial(const struct state *state, double phase_s, double window_s)
{
	return 2 * (state->longer - 1) * fmin(window_s, fmax(phase_s, MAL_WINDOW_FIRST_S));
}

static void begin_trial(struct state *state, const struct mal_view *view, double phase_s,
			double window_s)
{
	if (!state->searching || state->calm < REST || state->rest < REST)
		return;
	if (!state->chosen) {
		state->searching = state->chosen = next_trial(state, view);
		state->longer = times_longer(state, view);
	}
	if (!state->searching ||
	    state->lost_s + cost_of_trial(state, phase_s, window_s) > state->budget * state->run_s)
		return;
	state->chosen = false;
	enter(state, TRIAL);
}

/* Lend and move as auto does, which knows how many CPUs each rank can use. */
static void balance(struct state *state, const struct mal_view *view, struct mal_plan *plan)
{
	mal_policy_auto.decide(state->balancer, view, plan);
	state->rest = mal_auto_rest(state->balancer);
	state->last = *plan;
}

static void balance_as_before(const struct state *state, struct mal_plan *plan)
{
	plan->lend = state->last.lend;
	plan->grow = state->last.grow;
	plan->now_s = state->last.now_s;
	plan->forecast_s = state->last.forecast_s;
	plan->move_times = state->last.move_times;
	plan->lend_times = state->last.lend_times;
}

/* Is there nobody to share CPUs with? */
static bool is_alone(const struct mal_view *view)
{
	unsigned int running = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		running += !view->samples || view->samples[rank].running;
	return running < 2;
}

/* A window is over, in which nothing was tried. */
static void go_on(struct state *state, const struct mal_view *view, double phase_s, double window_s,
		  struct mal_plan *plan)
{
	if (is_alone(view))
		state->rest = REST;
	if (state->rest)
		watch(state, phase_s);
	if (!is_alone(view))
		balance(state, view, plan);
	begin_trial(state, view, phase_s, window_s);
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	struct state *state = opaque;
	double phase_s, window_s;
	struct setting setting;

	plan->bind = true;
	if (!view->samples) {
		if (!is_alone(view))
			balance(state, view, plan);
		return 0;
	}
	window_s = mal_model_elapsed(view->samples, view->rank_count);
	phase_s = mal_model_phase(view->samples, view->rank_count);
	if (phase_s <= 0)
		return 0;
	state->run_s += window_s;
	look_at_ranks(state, view, phase_s);
	if (state->part == BASE) {
		go_on(state, view, phase_s, window_s, plan);
	} else {
		balance_as_before(state, plan);
		learn_trial(state, phase_s, window_s);
	}
	setting = state->part == TRIAL ? state->trial : state->best;
	plan->short_windows |= state->part != BASE;
	plan->schedule = schedules[setting.schedule];
	for (unsigned int rank = 0; plan->use && rank < view->rank_count; rank++)
		plan->use[rank] = use_of(state, view, rank, setting.eighths);
	return 0;
}

static void map(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	const struct state *state = opaque;

	mal_policy_auto.map(state->balancer, view, plan);
}

const struct mal_policy mal_policy_explore = {
	.abi = MAL_POLICY_ABI,
	.name = "explore",
	.summary = "as auto, and try fewer threads than CPUs, and loop schedules",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.map = map,
	.destroy = destroy,
};
