/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* model.c: compute how long a window takes with given CPUs, by simulation from event to event. */
#include "policies/model/model.h"

#include <limits.h>
#include <math.h>

#include "policies/interface/limits.h"

/* If regions are shorter than this, the next one is always about to begin. */
#define AT_ONCE_S 10e-6

struct runner {
	enum mal_activity activity;
	double left;	    /* s of serial time, or core seconds of work, or s until it lends */
	unsigned int own;   /* CPUs that it uses for good */
	unsigned int used;  /* with borrowed ones */
	unsigned int max;   /* that it can use when a region begins */
	unsigned int grown; /* and inside one */
	double region; /* core seconds of each of its regions, 0: one is always about to begin */
	double region_left; /* of the one that it is in */
	bool at_boundary;   /* between two of them */
	double done;
};

struct scene {
	struct runner *runners;
	unsigned int count;
	unsigned int computing;
	unsigned int pool; /* CPUs lent to nobody */
	bool keep_one;
	double phases; /* in the window: what each has once counts so many times */
	double now;
};

double mal_model_inside(const struct mal_sample *sample)
{
	return sample->elapsed_s - sample->serial_s - sample->mpi_s;
}

double mal_model_elapsed(const struct mal_sample *samples, unsigned int rank_count)
{
	double longest = 0;

	for (unsigned int rank = 0; rank < rank_count; rank++)
		if (samples[rank].running && samples[rank].elapsed_s > longest)
			longest = samples[rank].elapsed_s;
	return longest;
}

/* The phases of a window; unknown ones count as one. */
static double count_phases(const struct mal_sample *samples, unsigned int rank_count)
{
	double phases = 1;

	for (unsigned int rank = 0; rank < rank_count; rank++)
		if (samples[rank].running && samples[rank].phases > phases)
			phases = samples[rank].phases;
	return phases;
}

double mal_model_phase(const struct mal_sample *samples, unsigned int rank_count)
{
	return mal_model_elapsed(samples, rank_count) / count_phases(samples, rank_count);
}

double mal_model_regions(const struct mal_sample *sample)
{
	return sample->region_s > 0 ? fmax(mal_model_inside(sample) / sample->region_s, 1) : 0;
}

double mal_model_communication(const struct mal_sample *samples, unsigned int rank_count)
{
	double min = 0;
	bool any = false;

	for (unsigned int rank = 0; rank < rank_count; rank++) {
		if (!samples[rank].running || (any && samples[rank].mpi_s >= min))
			continue;
		min = samples[rank].mpi_s;
		any = true;
	}
	return min;
}

double mal_model_ideal(const struct mal_sample *samples, unsigned int rank_count, unsigned int cpus)
{
	double sum = 0, longest = 0;

	cpus = cpus ? cpus : 1;
	for (unsigned int rank = 0; rank < rank_count; rank++) {
		if (!samples[rank].running)
			continue;
		sum += samples[rank].work_s + samples[rank].serial_s;
		/* No distribution shortens serial parts. */
		longest = fmax(longest, samples[rank].serial_s + samples[rank].work_s / cpus);
	}
	return fmax(sum / cpus, longest) + mal_model_communication(samples, rank_count);
}

/* The phases of a window in which ranks compute: some have a collective call and no region. */
static double count_computing(const struct mal_sample *samples, unsigned int rank_count)
{
	double regions = 1;

	for (unsigned int rank = 0; rank < rank_count; rank++)
		if (samples[rank].running)
			regions = fmax(regions, mal_model_regions(&samples[rank]));
	return fmin(count_phases(samples, rank_count), regions);
}

/* Returns the core seconds of one region: the rank's work over its number of regions in a phase. */
static double work_of_region(const struct mal_sample *sample, double phases)
{
	return sample->work_s / fmax(mal_model_regions(sample) / phases, 1);
}

static struct runner start(const struct mal_sample *sample, unsigned int cpus,
			   const struct mal_usage *usage, double phases)
{
	struct runner runner = {.activity = MAL_SERIAL,
				.left = sample->serial_s,
				.own = cpus ? cpus : 1,
				.max = UINT_MAX};

	if (usage->lending.max)
		runner.max = usage->lending.max > runner.own ? usage->lending.max : runner.own;
	if (sample->max && runner.max > sample->max)
		runner.max = sample->max;
	if (runner.own > runner.max)
		runner.own = runner.max;
	runner.used = runner.own;
	runner.grown = usage->grow && sample->region_s >= MAL_GROW_REGION_S
			       ? MAL_GROW_THREADS * runner.own
			       : runner.own;
	if (runner.grown > runner.max)
		runner.grown = runner.max;
	if (sample->region_s > AT_ONCE_S)
		runner.region = work_of_region(sample, phases);
	return runner;
}

/* RUNNER's activity has ended: begin the next one. */
static void go_on(struct scene *scene, struct runner *runner, const struct mal_sample *sample)
{
	switch (runner->activity) {
	case MAL_SERIAL:
		runner->activity = MAL_PARALLEL;
		runner->left = sample->work_s;
		runner->region_left = runner->region;
		runner->at_boundary = true;
		break;
	case MAL_PARALLEL:
		runner->activity = MAL_WAITING;
		runner->done = scene->now;
		runner->left = scene->phases * MAL_LEND_AFTER_S;
		/* It gives back what it borrowed at once. */
		scene->pool += runner->used - runner->own;
		scene->computing--;
		break;
	case MAL_WAITING:
		runner->activity = MAL_LENT;
		scene->pool += runner->own - (scene->keep_one ? 1 : 0);
		break;
	case MAL_LENT: break;
	}
}

/* Returns the number of CPUs that RUNNER can use now. */
static unsigned int usable(const struct runner *runner)
{
	return runner->region <= 0 || runner->at_boundary ? runner->max : runner->grown;
}

/* Find the runner in a region that can use more CPUs and needs longest; NULL: none. */
static struct runner *find_taker(const struct scene *scene)
{
	struct runner *found = NULL;
	double longest = 0;

	for (unsigned int i = 0; i < scene->count; i++) {
		struct runner *runner = &scene->runners[i];

		if (runner->activity != MAL_PARALLEL || runner->used >= usable(runner) ||
		    runner->left <= longest * runner->used)
			continue;
		found = runner;
		longest = runner->left / runner->used;
	}
	return found;
}

/* Share out the pool CPU by CPU, as lenders do (find_borrower in libmalleable/rank/lend.c). */
static void share_pool(struct scene *scene)
{
	struct runner *taker;

	while (scene->pool && (taker = find_taker(scene))) {
		taker->used++;
		scene->pool--;
	}
}

/*
 * Returns the time until RUNNER's activity ends, or its next region begins while CPUs are free;
 * below 0: never.
 */
static double time_left(const void *opaque, unsigned int i)
{
	const struct scene *scene = opaque;
	const struct runner *runner = &scene->runners[i];
	double end;

	switch (runner->activity) {
	case MAL_PARALLEL: end = runner->left / runner->used; break;
	case MAL_LENT: return -1;
	default: end = runner->left;
	}
	if (runner->activity == MAL_PARALLEL && scene->pool && runner->used < runner->max &&
	    runner->region > 0 && runner->region_left / runner->used < end)
		return runner->region_left / runner->used;
	return end;
}

/* Account for WORK that RUNNER has done in its region, or in several. */
static void leave_region(struct runner *runner, double work)
{
	runner->region_left -= work;
	runner->at_boundary = runner->region_left <= MAL_ROUNDING_S * runner->used;
	if (runner->at_boundary)
		runner->region_left = runner->region - fmod(-runner->region_left, runner->region);
}

/* Let DURATION pass. */
static void pass(struct scene *scene, double duration, const struct mal_sample *samples)
{
	scene->now += duration;
	for (unsigned int i = 0; i < scene->count; i++) {
		struct runner *runner = &scene->runners[i];
		double rate = runner->activity == MAL_PARALLEL ? runner->used : 1;

		if (runner->activity == MAL_LENT)
			continue;
		runner->left -= duration * rate;
		if (runner->left <= MAL_ROUNDING_S * rate)
			go_on(scene, runner, &samples[i]);
		else if (runner->region > 0 && runner->activity == MAL_PARALLEL)
			leave_region(runner, duration * rate);
	}
}

/*
 * Run all ranks to their ends, with lending. Where the window has several PHASES, that is one of
 * them in slow motion: a rank lends late in each.
 */
static void run(struct runner *runners, const struct mal_sample *samples, unsigned int rank_count,
		bool keep_one, double phases)
{
	struct scene scene = {
		.runners = runners, .count = rank_count, .keep_one = keep_one, .phases = phases};

	for (unsigned int rank = 0; rank < rank_count; rank++) {
		if (!samples[rank].running)
			runners[rank].activity = MAL_LENT;
		else
			scene.computing++;
	}
	while (scene.computing) {
		share_pool(&scene);
		pass(&scene, mal_next_event(&scene, scene.count, time_left), samples);
	}
}

double mal_model_window(const struct mal_sample *samples, unsigned int rank_count,
			const struct mal_usage *usage, double *mpi_s)
{
	double communication = mal_model_communication(samples, rank_count), length = 0;
	double phases = count_computing(samples, rank_count);
	struct runner runners[MAL_MAX_RANKS];

	if (rank_count > MAL_MAX_RANKS)
		return NAN;
	for (unsigned int rank = 0; rank < rank_count; rank++) {
		runners[rank] = start(&samples[rank], usage->count[rank], usage, phases);
		runners[rank].done =
			samples[rank].serial_s + samples[rank].work_s / runners[rank].own;
	}
	if (usage->lend)
		run(runners, samples, rank_count, usage->lending.keep_one, phases);
	for (unsigned int rank = 0; rank < rank_count; rank++)
		if (samples[rank].running && runners[rank].done > length)
			length = runners[rank].done;
	for (unsigned int rank = 0; mpi_s && rank < rank_count; rank++)
		mpi_s[rank] =
			samples[rank].running ? length - runners[rank].done + communication : 0;
	return length + communication;
}

double mal_next_event(const void *scene, unsigned int count, mal_time_left *left_of)
{
	double soonest = -1;

	for (unsigned int i = 0; i < count; i++) {
		double left = (*left_of)(scene, i);

		if (left >= 0 && (soonest < 0 || left < soonest))
			soonest = left;
	}
	return soonest;
}
