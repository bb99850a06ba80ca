/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* phase.c: how long a made-up program's phase takes, from event to event. */
#include "t/closed/phase.h"

#include <limits.h>
#include <math.h>

#include "policies/model/model.h"

/* What differs by less than this part of a rank's regions is the same. */
#define ROUNDING 1e-12

struct scene {
	struct mal_runner *runners;
	const struct mal_phase_rules *rules;
	unsigned int count, computing, pool;
	bool lent;
	double now;
};

static unsigned int own(const struct mal_runner *runner)
{
	unsigned int cpus = runner->near_cpus + runner->far_cpus;

	return cpus ? cpus : 1;
}

/* By how much threads are in each other's way; a saturated memory bus is not saturated more. */
static double crowding(const struct mal_runner *runner, unsigned int used)
{
	return runner->crowd * (used < runner->most_crowd ? used : runner->most_crowd);
}

/*
 * The time of all regions if USED CPUs worked in all of them. Each thread has an equal part of the
 * work, so one on a slow CPU keeps all waiting. Borrowed CPUs take what they can; half are far.
 */
static double duration(const struct mal_runner *runner, unsigned int used)
{
	double mine = own(runner), slow = runner->far_cpus ? runner->remote : 1;
	double speed = mine / slow + (used - mine) * (1 + 1 / runner->remote) / 2;

	return runner->work_s *
	       (runner->fixed + (1 - runner->fixed) / speed + crowding(runner, used));
}

/* Count RUNNER's threads' time for a part of its regions. */
static void account(struct mal_runner *runner, double part)
{
	double mine = own(runner), used = runner->used, took = part * runner->took_s;
	double near_part = runner->far_cpus ? 1 / runner->remote : 1;
	double even = runner->work_s * (1 - runner->fixed) * part;
	double speed = mine * near_part + (used - mine) * (1 + 1 / runner->remote) / 2;
	double each = even / speed, busy;

	/* In each other's way threads look busy. In the fixed part one is. */
	busy = used * crowding(runner, runner->used) * runner->work_s * part +
	       runner->work_s * runner->fixed * part +
	       each * (runner->near_cpus * near_part + runner->far_cpus + (used - mine));
	if (!runner->near_cpus && !runner->far_cpus)
		busy += each;
	runner->busy_s += busy;
	runner->barrier_s += fmax(0, took * used - busy);
}

static void begin_regions(const struct scene *scene, struct mal_runner *runner)
{
	runner->activity = MAL_PARALLEL;
	runner->left = 1;
	runner->region_left = 0;
	runner->took_s = duration(runner, runner->used);
	(void)scene;
}

static void go_on(struct scene *scene, struct mal_runner *runner)
{
	switch ((enum mal_activity)runner->activity) {
	case MAL_SERIAL: begin_regions(scene, runner); break;
	case MAL_PARALLEL:
		runner->activity = MAL_WAITING;
		runner->done_s = scene->now;
		runner->left = MAL_LEND_AFTER_S;
		scene->pool += runner->used - own(runner);
		runner->used = own(runner);
		scene->computing--;
		break;
	case MAL_WAITING:
		runner->activity = MAL_LENT;
		scene->pool += own(runner) - (scene->rules->keep_one ? 1 : 0);
		break;
	case MAL_LENT: break;
	}
}

static unsigned int usable(const struct scene *scene, const struct mal_runner *runner)
{
	double region_s = runner->took_s / scene->rules->regions;
	unsigned int max = scene->rules->max > own(runner) ? scene->rules->max
			   : scene->rules->max		   ? own(runner)
							   : UINT_MAX;
	unsigned int grown = scene->rules->grow && region_s >= MAL_GROW_REGION_S
				     ? MAL_GROW_THREADS * own(runner)
				     : own(runner);

	if (runner->most && runner->most < max)
		max = runner->most;
	if (runner->region_left <= ROUNDING)
		return max;
	return grown < max ? grown : max;
}

static struct mal_runner *find_taker(const struct scene *scene)
{
	struct mal_runner *found = NULL;
	double longest = 0;

	for (unsigned int i = 0; i < scene->count; i++) {
		struct mal_runner *runner = &scene->runners[i];
		double left = runner->left * runner->took_s;

		if (runner->activity != MAL_PARALLEL || left <= longest ||
		    runner->used >= usable(scene, runner))
			continue;
		found = runner;
		longest = left;
	}
	return found;
}

static void share_pool(struct scene *scene)
{
	struct mal_runner *taker;

	while (scene->pool && (taker = find_taker(scene))) {
		taker->used++;
		taker->took_s = duration(taker, taker->used);
		scene->pool--;
		scene->lent = true;
	}
}

/* Returns the time until something changes with RUNNER; below 0: never. */
static double time_left(const void *opaque, unsigned int i)
{
	const struct scene *scene = opaque;
	const struct mal_runner *runner = &scene->runners[i];
	double part;

	if (runner->activity == MAL_LENT)
		return -1;
	if (runner->activity != MAL_PARALLEL)
		return runner->left;
	part = runner->region_left > ROUNDING ? runner->region_left : 1.0 / scene->rules->regions;
	return (scene->pool && part < runner->left ? part : runner->left) * runner->took_s;
}

static void compute(const struct scene *scene, struct mal_runner *runner, double seconds)
{
	double region = 1.0 / scene->rules->regions, part;

	part = runner->took_s > 0 ? seconds / runner->took_s : 1;
	if (part > runner->left)
		part = runner->left;
	account(runner, part);
	runner->left -= part;
	part -= runner->region_left;
	if (part < -ROUNDING) {
		runner->region_left = -part;
		return;
	}
	/* In the next region, or right before it. */
	part = fmod(part + ROUNDING, region) - ROUNDING;
	runner->region_left = part <= ROUNDING ? 0 : region - part;
}

static void pass(struct scene *scene, double seconds)
{
	scene->now += seconds;
	for (unsigned int i = 0; i < scene->count; i++) {
		struct mal_runner *runner = &scene->runners[i];

		if (runner->activity == MAL_LENT)
			continue;
		if (runner->activity == MAL_PARALLEL)
			compute(scene, runner, seconds);
		else
			runner->left -= seconds;
		if (runner->left <= (runner->activity == MAL_PARALLEL ? ROUNDING : MAL_ROUNDING_S))
			go_on(scene, runner);
	}
}

static void run_alone(struct mal_runner *runner)
{
	runner->took_s = duration(runner, runner->used);
	runner->done_s = runner->serial_s + runner->took_s;
	account(runner, 1);
}

double mal_phase_run(struct mal_runner *runners, unsigned int count,
		     const struct mal_phase_rules *rules)
{
	struct scene scene = {
		.runners = runners, .rules = rules, .count = count, .computing = count};
	double longest = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct mal_runner *runner = &runners[i];

		runner->activity = MAL_SERIAL;
		runner->left = runner->serial_s;
		runner->used = own(runner);
		runner->busy_s = runner->barrier_s = 0;
		if (!rules->lend)
			run_alone(runner);
	}
	while (rules->lend && scene.computing) {
		share_pool(&scene);
		pass(&scene, mal_next_event(&scene, scene.count, time_left));
	}
	for (unsigned int i = 0; i < count; i++)
		longest = fmax(longest, runners[i].done_s);
	return longest + (scene.lent ? rules->lend_s : 0);
}
