/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* synthetic.c: traces of synthetic steps. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/core/segment.h"
#include "policies/model/model.h"
#include "t/closed/synthetic.h"

#define WINDOW_S 0.1
#define SERIAL_PART 0.01
#define COMMUNICATION_PART 0.02
#define REGIONS 5
#define NOISE 0.005
/* burst: one rank has this many times the load for some windows, then all are even again. */
#define BURST_LOAD 4
#define BURST_EVERY 20
#define BURST_LENGTH 8
/*
 * amr: the refined ranks, a quarter of all, have this many times the load; some windows later the
 * next ranks do.
 */
#define REFINED_LOAD 4
#define REFINED_WINDOWS 8

struct scene {
	const struct mal_generation *wanted;
	uint64_t random;
	unsigned int window;
	unsigned int chosen; /* rank of the burst */
};

/*
 * A number from 0 to below 1 by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, OOPSLA 2014).
 */
static double next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Loads from 1 to 3, always the same, spread over the ranks. */
static double steady(struct scene *scene, unsigned int rank)
{
	unsigned int ranks = scene->wanted->ranks;

	return 1 + 2.0 * (rank * 7919 % ranks) / (ranks > 1 ? ranks - 1 : 1);
}

/* A peak that moves around all ranks once. */
static double drift(struct scene *scene, unsigned int rank)
{
	double ranks = scene->wanted->ranks, top = ranks * scene->window / scene->wanted->windows;
	double width = ranks / 8 > 0.5 ? ranks / 8 : 0.5, distance = fabs(rank - top);

	if (distance > ranks / 2)
		distance = ranks - distance;
	return 1 + 3 * exp(-distance * distance / (2 * width * width));
}

static double burst(struct scene *scene, unsigned int rank)
{
	unsigned int at = scene->window % BURST_EVERY;

	if (rank == 0 && at == 0)
		scene->chosen = (unsigned int)(next(&scene->random) * scene->wanted->ranks);
	return at < BURST_LENGTH && rank == scene->chosen ? BURST_LOAD : 1;
}

static double shuffled(struct scene *scene, unsigned int rank)
{
	(void)rank;
	return 0.5 + 2 * next(&scene->random);
}

static double balanced(struct scene *scene, unsigned int rank)
{
	(void)scene;
	(void)rank;
	return 1;
}

static double amr(struct scene *scene, unsigned int rank)
{
	unsigned int ranks = scene->wanted->ranks, refined = (ranks + 3) / 4;
	unsigned int first = scene->window / REFINED_WINDOWS % ranks;

	return (rank + ranks - first) % ranks < refined ? REFINED_LOAD : 1;
}

static const struct {
	const char *name;
	double (*load)(struct scene *scene, unsigned int rank);
} kinds[] = {
	{"steady", steady},   {"drift", drift},	      {"burst", burst},
	{"random", shuffled}, {"balanced", balanced}, {"amr", amr},
};

const char mal_generate_kinds[] = "steady, drift, burst, random, balanced, amr";

/* Turn loads into parts of the whole, then into times of a window. */
static int add_window(struct scene *scene, double (*load)(struct scene *scene, unsigned int rank),
		      struct mal_trace *trace, struct mal_error *err)
{
	struct mal_sample *samples = trace->samples;
	struct mal_trace_window *window;
	const struct mal_generation *wanted = scene->wanted;
	unsigned int count[MAL_MAX_RANKS];
	double loads[MAL_MAX_RANKS], mpi_s[MAL_MAX_RANKS], sum = 0, elapsed_s;

	for (unsigned int rank = 0; rank < wanted->ranks; rank++) {
		loads[rank] = load(scene, rank);
		sum += loads[rank];
		count[rank] = wanted->cpus;
	}
	for (unsigned int rank = 0; rank < wanted->ranks; rank++) {
		struct mal_sample *sample = &samples[rank];
		double part = loads[rank] / sum * wanted->ranks *
			      (1 + NOISE * (2 * next(&scene->random) - 1));

		*sample = (struct mal_sample){
			.running = true,
			.work_s = part * (1 - SERIAL_PART) * WINDOW_S * wanted->cpus,
			.serial_s = SERIAL_PART * WINDOW_S,
			.mpi_s = COMMUNICATION_PART * WINDOW_S,
			.cpus = wanted->cpus,
			.team = wanted->cpus,
			.phases = 1,
		};
		sample->region_s = sample->work_s / wanted->cpus / REGIONS;
	}
	elapsed_s = mal_model_window(samples, wanted->ranks, &(struct mal_usage){.count = count},
				     mpi_s);
	for (unsigned int rank = 0; rank < wanted->ranks; rank++) {
		samples[rank].mpi_s = mpi_s[rank];
		samples[rank].elapsed_s = elapsed_s;
	}
	window = mal_trace_add_window(trace, samples, trace->parts);
	if (!window)
		return mal_fail(err, "out of memory for the trace");
	window->elapsed_s = elapsed_s;
	return 0;
}

int mal_generate(const struct mal_generation *wanted, struct mal_trace *trace,
		 struct mal_error *err)
{
	struct scene scene = {.wanted = wanted, .random = wanted->seed};
	double (*load)(struct scene *, unsigned int) = NULL;

	memset(trace, 0, sizeof(*trace));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, wanted->kind) == 0)
			load = kinds[i].load;
	if (!load)
		return mal_fail(err, "cannot generate '%.40s': known are %s", wanted->kind,
				mal_generate_kinds);
	if (wanted->ranks > MAL_MAX_RANKS)
		return mal_fail(err, "more than %d ranks", MAL_MAX_RANKS);
	if (mal_trace_create(trace, wanted->ranks, wanted->ranks * wanted->cpus, err) < 0)
		return -1;
	snprintf(trace->step, sizeof(trace->step), "%s", wanted->kind);
	snprintf(trace->node, sizeof(trace->node), "none");
	snprintf(trace->policy, sizeof(trace->policy), "off");
	for (; scene.window < wanted->windows; scene.window++)
		if (add_window(&scene, load, trace, err) < 0)
			return -1;
	return 0;
}
