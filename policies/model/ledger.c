/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ledger.c: what was measured of each way to run the step, and which way to take next. */
#include "policies/model/ledger.h"

#include <math.h>
#include <string.h>

/* Part of the time so far that trials may lose, and what they may lose at first, in windows. */
#define BUDGET 0.004
#define FIRST 0.35
/* Windows that count in an arm's means. */
#define HORIZON 24.0
/* An arm that was not played for so many windows counts half. */
#define STALE 200.0
/* After so many windows without it an arm is judged by what there is to gain now. */
#define OLD 3
/* Less to gain than this says nothing of an arm; and it gains so many times more at most. */
#define ROOM_MIN 0.02
#define ROOM_MOST 3.0
/* A trial costs this part of a window at least. */
#define COST_MIN 0.005
/* Deviations that count as a difference at first, and at most after false alarms. */
#define DOUBT 1.5
#define DOUBT_MAX 6.0
/* Least relative noise of a window. */
#define NOISE_MIN 0.002
/* Its first guess. */
#define NOISE_FIRST 0.02
/* Windows of a trial. */
#define TRIAL 1
/* A failed arm rests for so many windows, doubled each time. */
#define REST 16u
#define REST_MAX 1024u
/* An arm must be better by this to replace another one. */
#define BETTER 0.002
/* It is worth a trial if it may be better by this. */
#define WORTH 0.01
/* Least weight of a new difference. */
#define LONG 0.02
/*
 * What the model says of lending counts as much as so many windows. Ranks learn from several runs
 * of a region that it is worth to be grown: a first window with lending says little of others.
 */
#define LENDING_PRIOR 4.0
/*
 * Home without lending is measured after so many windows, at whatever cost: when ranks have learned
 * which regions to grow, and early enough that little is lost where lending does harm.
 */
#define HOME_AFTER 4
/* After so many windows a mean of wandering loads says nothing of the present. */
#define APART 8.0

void mal_ledger_reset(struct mal_ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	for (unsigned int arm = 0; arm < MAL_ARMS; arm++)
		ledger->arms[arm].doubt = DOUBT;
}

/* Learn how a signal differs; PLAYED has its mean before this window. */
static void learn_noise(struct mal_noise *noise, const struct mal_arm *played, double mean,
			double now, bool same)
{
	double step = now - noise->last, off = now - mean, weight;

	noise->last = now;
	if (!same || played->windows < 1)
		return;
	noise->count++;
	weight = fmax(LONG, 1.0 / noise->count);
	noise->near += weight * (step * step - noise->near);
	noise->all += weight * (off * off - noise->all);
}

void mal_ledger_learn(struct mal_ledger *ledger, const struct mal_ledger_window *window)
{
	struct mal_arm *played = &ledger->arms[window->arm];
	double now[MAL_LEDGER_SIGNALS] = {log(window->off_s), log(window->whole_s)}, weight;

	if (!ledger->windows) {
		ledger->allowance_s = FIRST * window->elapsed_s;
		ledger->arm = ledger->last = window->arm;
	}
	ledger->windows++;
	ledger->run_s += window->elapsed_s;
	for (unsigned int i = 0; i < MAL_ARMS; i++) {
		ledger->arms[i].age++;
		ledger->arms[i].rest -= ledger->arms[i].rest > 0;
	}
	for (unsigned int i = 0; i < MAL_LEDGER_SIGNALS; i++)
		learn_noise(&ledger->noise[i], played, played->level[i], now[i],
			    ledger->last == window->arm && window->still);
	ledger->last = window->arm;
	if (played->age > HORIZON)
		played->windows *= HORIZON / played->age;
	played->windows = fmin(played->windows + 1, HORIZON);
	played->age = 0;
	weight = 1 / played->windows;
	played->time += weight * (log(window->phase_s) - played->time);
	for (unsigned int i = 0; i < MAL_LEDGER_SIGNALS; i++)
		played->level[i] += weight * (now[i] - played->level[i]);
	played->room += weight * (window->room - played->room);
}

/* The deviation of the difference between ARM's and home's mean of a signal. */
static double deviation(const struct mal_ledger *ledger, const struct mal_arm *arm,
			const struct mal_noise *noise)
{
	const struct mal_arm *home = &ledger->arms[0];
	double white = noise->count ? noise->near / 2 : NOISE_FIRST * NOISE_FIRST;
	double wander = fmax(0, noise->all - white), apart = fabs(arm->age - home->age);

	return sqrt(fmax(white, NOISE_MIN * NOISE_MIN) *
			    (1 / arm->windows + 1 / fmax(home->windows, 0.2)) +
		    wander * fmin(1, apart / APART));
}

/* By how much the arm's work is more than home's, beyond noise. */
static double growth(const struct mal_ledger *ledger, const struct mal_arm *arm)
{
	double most = 0;

	for (unsigned int i = 0; i < MAL_LEDGER_SIGNALS; i++)
		most = fmax(most, arm->level[i] - ledger->arms[0].level[i] -
					  arm->doubt * deviation(ledger, arm, &ledger->noise[i]));
	return most;
}

/* By measurement alone. */
static double measured(const struct mal_ledger *ledger, unsigned int arm, double model)
{
	const struct mal_arm *played = &ledger->arms[arm], *home = &ledger->arms[0];
	double value, now = ledger->arms[ledger->last].room;

	value = played->time - played->level[MAL_LEDGER_OFF];
	if (played->age >= OLD && arm != ledger->last) {
		/* The same part of what there is to gain now. */
		if (played->room > -ROOM_MIN)
			return now < -ROOM_MIN ? model : value;
		value *= fmin(now / played->room, ROOM_MOST);
	}
	if (home->windows <= 0)
		return value;
	value += growth(ledger, played) - (home->time - home->level[MAL_LEDGER_OFF]);
	return value;
}

double mal_ledger_value(const struct mal_ledger *ledger, unsigned int arm, double model)
{
	double windows = ledger->arms[arm].windows;
	double prior = arm == MAL_ARM_LEND ? LENDING_PRIOR : 0;

	if (arm == 0)
		return 0;
	if (windows <= 0)
		return model;
	return (windows * measured(ledger, arm, model) + prior * model) / (windows + prior);
}

/* How far that may be wrong. */
static double error_of(const struct mal_ledger *ledger, unsigned int arm)
{
	double off = deviation(ledger, &ledger->arms[arm], &ledger->noise[MAL_LEDGER_OFF]);
	double whole = deviation(ledger, &ledger->arms[arm], &ledger->noise[MAL_LEDGER_WHOLE]);

	return 2 * fmin(off, whole);
}

/* The same, as good as it can be hoped for. */
static double hope(const struct mal_ledger *ledger, unsigned int arm, double model)
{
	const struct mal_arm *played = &ledger->arms[arm];

	if (played->windows <= 0)
		return -1;
	return mal_ledger_value(ledger, arm, model) -
	       error_of(ledger, arm) * (1 + played->age / STALE);
}

static unsigned int best_of(const struct mal_ledger *ledger, unsigned int allowed,
			    const double *model)
{
	unsigned int best = 0;
	double least = allowed & 1u << ledger->arm
			       ? mal_ledger_value(ledger, ledger->arm, model[ledger->arm]) - BETTER
			       : 1e9;

	best = allowed & 1u << ledger->arm ? ledger->arm : 0;
	for (unsigned int arm = 0; arm < MAL_ARMS; arm++) {
		double value = mal_ledger_value(ledger, arm, model[arm]);

		if (!(allowed & 1u << arm) || value >= least || ledger->arms[arm].rest)
			continue;
		best = arm;
		least = value;
	}
	return best;
}

/* Is ARM worth a trial, and can it be paid? */
static bool can_try(const struct mal_ledger *ledger, unsigned int arm, unsigned int best,
		    const double *model)
{
	double least = mal_ledger_value(ledger, best, model[best]);
	double value = mal_ledger_value(ledger, arm, model[arm]);
	double window_s = ledger->run_s / ledger->windows;
	const struct mal_arm *home = &ledger->arms[0];
	bool known = best == 0 || ledger->arms[best].windows > 0;
	bool open = arm == 0 ? !home->windows || (ledger->arms[best].windows > 0 &&
						  least + error_of(ledger, best) > -WORTH)
			     : hope(ledger, arm, model[arm]) < least - WORTH;

	if (arm == 0 && ledger->windows < HOME_AFTER)
		return false;
	return arm != best && known && !ledger->arms[arm].rest && open &&
	       ledger->lost_s + fmax(COST_MIN, value - least) * window_s * TRIAL <=
		       ledger->allowance_s + BUDGET * ledger->run_s;
}

static void fail(struct mal_arm *arm)
{
	arm->rest = REST << arm->fails < REST_MAX ? REST << arm->fails : REST_MAX;
	arm->fails += arm->fails < 10;
}

/* The arm was left because it is worse than another one. */
static void judge(struct mal_ledger *ledger, unsigned int next, const double *model)
{
	unsigned int left = ledger->arm;
	double value = mal_ledger_value(ledger, left, model[left]);

	if (left != next && left != 0 && value > -BETTER &&
	    value > mal_ledger_value(ledger, next, model[next]))
		fail(&ledger->arms[left]);
}

unsigned int mal_ledger_choose(struct mal_ledger *ledger, unsigned int allowed, const double *model,
			       bool *trial)
{
	unsigned int best = best_of(ledger, allowed, model), next = best;
	double window_s = ledger->run_s / fmax(ledger->windows, 1);
	double lost = mal_ledger_value(ledger, ledger->arm, model[ledger->arm]) -
		      mal_ledger_value(ledger, best, model[best]);

	/* What the last window lost is paid, trial or not. */
	ledger->lost_s += fmax(0, fmin(lost, 1)) * window_s;
	*trial = ledger->trial > 1;
	if (*trial) {
		ledger->trial--;
		return ledger->arm;
	}
	ledger->trial = 0;
	if (!ledger->arms[0].windows && ledger->windows >= HOME_AFTER)
		next = 0;
	for (unsigned int arm = 0; arm < MAL_ARMS && next == best && ledger->windows > 1; arm++)
		if (allowed & 1u << arm && can_try(ledger, arm, best, model))
			next = arm;
	*trial = next != best;
	ledger->trial = *trial ? TRIAL : 0;
	judge(ledger, next, model);
	ledger->arm = next;
	return next;
}
