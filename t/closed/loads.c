/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loads.c: made-up programs for the closed loop. */
#include "t/closed/loads.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Changes of the load, where nothing else is said, are this far apart. */
#define UNIT_S 0.1
/* Runs, where nothing else is said. */
#define RUN_S 40
#define PHASES_MIN 200
/* burst: a rank is heavy for some units out of so many. */
#define BURST_EVERY 20
#define BURST_LENGTH 8
/* amr: the refined ranks stay the same for so many units. */
#define REFINED_UNITS 8
/* walk: the largest step of a rank's load in a unit. */
#define WALK_STEP 0.15
/* tail: the exponent of the distribution of Pareto. */
#define TAIL_EXPONENT 2.0
/* kinds: the second kind of phase has this part of the first one's work. */
#define SECOND_KIND 0.4
/* spikes: a rank that is struck has this many times the work. */
#define SPIKE_LOAD 3

static const struct number {
	const char *name, *help;
	double fallback, min, max;
} numbers[MAL_LOAD_NUMBERS] = {
	[MAL_LOAD_PHASE] = {"phase", "seconds of a phase with even loads", 0.1, 1e-4, 10},
	[MAL_LOAD_PHASES] = {"phases", "phases of the run; 0: 40 s of them, at least 200", 0, 0,
			     1e7},
	[MAL_LOAD_EVERY] = {"every", "phases from one change of the load to the next; 0: 0.1 s", 0,
			    0, 1e6},
	[MAL_LOAD_HEAVY] = {"heavy", "load of the heaviest rank over that of the others", 3, 1,
			    100},
	[MAL_LOAD_HEAVIES] = {"heavies", "part of the ranks that is heavy", 0.25, 0, 1},
	[MAL_LOAD_SERIAL] = {"serial", "serial part of a phase", 0.01, 0, 10},
	[MAL_LOAD_FIXED] = {"fixed", "part of the work that no second CPU shortens (Amdahl)", 0, 0,
			    1},
	[MAL_LOAD_CROWD] = {"crowd", "crowding: at 1 the CPUs of the beginning are the best number",
			    0, 0, 10},
	[MAL_LOAD_REMOTE] = {"remote", "times slower on CPUs of another NUMA node", 1, 1, 10},
	[MAL_LOAD_PART] = {"part", "part of the ranks that fixed, crowd and remote hold for", 1, 0,
			   1},
	[MAL_LOAD_CACHE] = {"cache", "seconds of work that each CPU costs that moves", 1e-4, 0, 1},
	[MAL_LOAD_NOISE] = {"noise", "noise of each rank's work", 0.005, 0, 1},
	[MAL_LOAD_SPIKE] = {"spike", "probability that a rank is struck in a phase", 0, 0, 1},
	[MAL_LOAD_REGIONS] = {"regions", "parallel regions in a phase", 5, 1, 1000},
	[MAL_LOAD_WAIT] = {"wait", "part of a phase that is communication", 0.02, 0, 10},
	[MAL_LOAD_LEND] = {"lend", "seconds that lending costs a phase", 2e-5, 0, 0.1},
	[MAL_LOAD_LATE] = {"late", "phases until a plan takes effect", 0, 0, 100},
};

enum shape { STEADY, DRIFT, BURST, RANDOM, BALANCED, AMR, PERIODIC2, PERIODIC3, WALK, TAIL, KINDS };

static const struct load {
	const char *name;
	enum shape shape;
	struct {
		enum mal_load_number number;
		double value;
	} with[4]; /* value 0: no more */
} loads[] = {
	{"steady", STEADY, {{0}}},
	{"drift", DRIFT, {{0}}},
	{"burst", BURST, {{0}}},
	{"random", RANDOM, {{0}}},
	{"balanced", BALANCED, {{0}}},
	{"amr", AMR, {{0}}},
	{"periodic2", PERIODIC2, {{0}}},
	{"periodic3", PERIODIC3, {{0}}},
	{"walk", WALK, {{0}}},
	{"tail", TAIL, {{0}}},
	{"serial", STEADY, {{MAL_LOAD_SERIAL, 0.5}, {MAL_LOAD_PART, 0.2}}},
	{"amdahl", STEADY, {{MAL_LOAD_FIXED, 0.1}}},
	{"crowding", STEADY, {{MAL_LOAD_CROWD, 0.8}}},
	{"remote", STEADY, {{MAL_LOAD_REMOTE, 2.2}}},
	{"kinds", KINDS, {{0}}},
	{"spikes", BALANCED, {{MAL_LOAD_SPIKE, 0.02}}},
};

const char mal_program_names[] = "steady, drift, burst, random, balanced, amr, periodic2, "
				 "periodic3, walk, tail, serial, amdahl, crowding, remote, "
				 "kinds, spikes";

const char *mal_program_help(size_t i, const char **name)
{
	if (i >= MAL_LOAD_NUMBERS)
		return NULL;
	*name = numbers[i].name;
	return numbers[i].help;
}

static int read_number(struct mal_program *program, const char *text, size_t length,
		       struct mal_error *err)
{
	for (size_t i = 0; i < MAL_LOAD_NUMBERS; i++) {
		size_t name = strlen(numbers[i].name);
		char *end;
		double value;

		if (length <= name || strncmp(text, numbers[i].name, name) != 0 ||
		    text[name] != '=')
			continue;
		value = strtod(text + name + 1, &end);
		if (end != text + length || end == text + name + 1 ||
		    !(value >= numbers[i].min && value <= numbers[i].max))
			return mal_fail(err, "%.*s: not a number from %g to %g", (int)length, text,
					numbers[i].min, numbers[i].max);
		program->number[i] = value;
		return 0;
	}
	return mal_fail(err, "loads have no parameter '%.*s'", (int)length, text);
}

int mal_program_read(const char *text, unsigned int ranks, unsigned int cpus, uint64_t seed,
		     struct mal_program *program, struct mal_error *err)
{
	size_t length = strcspn(text, ",");
	const struct load *load = NULL;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (strlen(loads[i].name) == length && strncmp(text, loads[i].name, length) == 0)
			load = &loads[i];
	if (!load)
		return mal_fail(err, "no load '%.*s': known are %s", (int)length, text,
				mal_program_names);
	if (!ranks || !cpus || ranks > MAL_MAX_RANKS || ranks > MAL_MAX_CPUS / cpus)
		return mal_fail(err, "%u ranks with %u CPUs each are too many", ranks, cpus);
	memset(program, 0, sizeof(*program));
	program->name = load->name;
	program->shape = load->shape;
	program->ranks = ranks;
	program->cpus = cpus;
	program->seed = seed;
	for (size_t i = 0; i < MAL_LOAD_NUMBERS; i++)
		program->number[i] = numbers[i].fallback;
	for (size_t i = 0; i < 4 && load->with[i].value > 0; i++)
		program->number[load->with[i].number] = load->with[i].value;
	for (text += length; *text; text += length) {
		length = strcspn(++text, ",");
		if (read_number(program, text, length, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * SplitMix64's finish (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA
 * 2014).
 */
static uint64_t mix(uint64_t z)
{
	z += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

double mal_program_draw(const struct mal_program *program, uint64_t phase, uint64_t which)
{
	return (double)(mix(mix(mix(program->seed) + phase) + which) >> 11) * 0x1p-53;
}

/* What is drawn, so that numbers for one purpose say nothing about those for another. */
enum purpose {
	FOR_WEIGHT = 1 << 16,
	FOR_NOISE = 2 << 16,
	FOR_SPIKE = 6 << 16,
	FOR_CHOICE = 7 << 16
};

static bool is_heavy(const struct mal_program *program, uint64_t place)
{
	double heavies = program->number[MAL_LOAD_HEAVIES] * program->ranks;

	return (double)(place % program->ranks) < (heavies > 1 ? heavies : 1);
}

static double drift(const struct mal_program *program, unsigned int rank, double units)
{
	double ranks = program->ranks, top = ranks * (double)program->unit / units;
	double width = ranks / 8 > 0.5 ? ranks / 8 : 0.5, distance = fabs(rank - top);

	if (distance > ranks / 2)
		distance = ranks - distance;
	return 1 + (program->number[MAL_LOAD_HEAVY] - 1) *
			   exp(-distance * distance / (2 * width * width));
}

double mal_program_phases(const struct mal_program *program)
{
	double phases = program->number[MAL_LOAD_PHASES];

	if (phases >= 1)
		return phases;
	return fmax(PHASES_MIN, RUN_S / program->number[MAL_LOAD_PHASE]);
}

/* The load of RANK in the present unit of time, of UNITS in the run. */
static double weigh(struct mal_program *program, unsigned int rank, double units)
{
	double heavy = program->number[MAL_LOAD_HEAVY], ranks = program->ranks;
	double drawn = mal_program_draw(program, program->unit, FOR_WEIGHT + rank);
	uint64_t unit = program->unit;

	switch ((enum shape)program->shape) {
	case STEADY: return 1 + (heavy - 1) * (rank * 7919 % program->ranks) / (ranks - 0.999);
	case DRIFT: return drift(program, rank, units);
	case BURST:
		return unit % BURST_EVERY < BURST_LENGTH &&
				       rank == (unsigned int)(ranks *
							      mal_program_draw(program,
									       unit / BURST_EVERY,
									       FOR_CHOICE))
			       ? heavy
			       : 1;
	case RANDOM: return 1 + (heavy - 1) * drawn;
	case BALANCED: return 1;
	case AMR:
		return is_heavy(program, rank + ranks - unit / REFINED_UNITS % program->ranks)
			       ? heavy
			       : 1;
	case PERIODIC2:
	case PERIODIC3:
	case KINDS: {
		uint64_t period = program->shape == PERIODIC3 ? 3 : 2;

		return is_heavy(program, rank + unit % period * ((program->ranks + 1) / period))
			       ? heavy
			       : 1;
	}
	case WALK:
		program->state[rank] += WALK_STEP * log(heavy) * (2 * drawn - 1) * 2;
		if (fabs(program->state[rank]) > log(heavy))
			program->state[rank] *= 0.8;
		return exp(program->state[rank]);
	case TAIL: return drawn < 1 ? exp(-log(1 - drawn) / TAIL_EXPONENT) / 2 : 1;
	}
	return 1;
}

static void enter_unit(struct mal_program *program, double units)
{
	double sum = 0, part = program->shape == KINDS && program->unit % 2 ? SECOND_KIND : 1;

	for (unsigned int rank = 0; rank < program->ranks; rank++) {
		program->weight[rank] = weigh(program, rank, units);
		sum += program->weight[rank];
	}
	/* The whole stays the same, but for loads whose nature it is that it does not. */
	for (unsigned int rank = 0; rank < program->ranks && program->shape != TAIL; rank++)
		program->weight[rank] *= part * program->ranks / sum;
}

static double phases_of_unit(const struct mal_program *program)
{
	double every = program->number[MAL_LOAD_EVERY];

	if (program->shape == KINDS)
		return 1;
	if (every < 1)
		every = UNIT_S / program->number[MAL_LOAD_PHASE];
	return every < 1 ? 1 : every;
}

void mal_program_begin(struct mal_program *program)
{
	program->unit = 0;
	memset(program->state, 0, sizeof(program->state));
	enter_unit(program, mal_program_phases(program) / phases_of_unit(program));
}

void mal_program_phase(struct mal_program *program, uint64_t phase)
{
	double every = phases_of_unit(program);

	while (program->unit < (uint64_t)((double)phase / every)) {
		program->unit++;
		enter_unit(program, mal_program_phases(program) / every);
	}
}

double mal_program_work(const struct mal_program *program, uint64_t phase, unsigned int rank)
{
	double noise = -2, work = program->weight[rank];

	/* Four even numbers make a bell, near enough; its deviation is 1 / sqrt(3). */
	for (unsigned int i = 0; i < 4; i++)
		noise += mal_program_draw(program, phase, FOR_NOISE + (i << 16) + rank);
	work *= fmax(0.1, 1 + program->number[MAL_LOAD_NOISE] * 1.732 * noise);
	if (program->number[MAL_LOAD_SPIKE] > 0 &&
	    mal_program_draw(program, phase, FOR_SPIKE + rank) < program->number[MAL_LOAD_SPIKE])
		work *= SPIKE_LOAD;
	return work;
}

bool mal_program_is_hard(const struct mal_program *program, unsigned int rank)
{
	return rank < program->number[MAL_LOAD_PART] * program->ranks;
}
