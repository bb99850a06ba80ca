/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* programs.h: random made-up programs for the closed loop (t/closed/closed.h). */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "t/closed/loads.h"

#define TEXT 512

static const char *const loads[] = {
	"steady", "drift", "burst",  "random", "balanced", "amr",    "periodic2", "periodic3",
	"walk",	  "tail",  "serial", "amdahl", "crowding", "remote", "kinds",	  "spikes"};
#define LOADS (sizeof(loads) / sizeof(loads[0]))

/* A random program. */
struct random_case {
	unsigned int ranks, cpus, load;
	uint64_t seed;
	double value[16];
	unsigned int set; /* bits: which values are given */
};

static const struct {
	const char *name;
	double low, high;
	bool logarithmic;
	double probability;
} dimensions[] = {
	{"phase", 1e-4, 10, true, 0.7},	    {"heavy", 1.1, 12, true, 0.7},
	{"heavies", 0, 0.7, false, 0.4},    {"every", 1, 60, true, 0.4},
	{"fixed", 0.01, 0.9, true, 0.25},   {"crowd", 0.05, 2, true, 0.25},
	{"remote", 1.05, 3, true, 0.3},	    {"part", 0.1, 1, false, 0.4},
	{"serial", 0.01, 1, true, 0.3},	    {"noise", 0.001, 0.2, true, 0.5},
	{"spike", 0.001, 0.05, true, 0.15}, {"cache", 1e-5, 3e-2, true, 0.3},
	{"late", 1, 1, false, 0.15},
};
#define DIMENSIONS (sizeof(dimensions) / sizeof(dimensions[0]))

static double draw(uint64_t seed, unsigned int which)
{
	struct mal_program program = {.seed = seed};

	return mal_program_draw(&program, 1, which);
}

static struct random_case make_case(uint64_t seed)
{
	struct random_case made = {.seed = seed};

	made.load = (unsigned int)(draw(seed, 1) * LOADS);
	made.ranks = 2 + (unsigned int)(draw(seed, 2) * draw(seed, 3) * 22);
	made.cpus = 1 + (unsigned int)(draw(seed, 4) * draw(seed, 5) * 16);
	for (unsigned int i = 0; i < DIMENSIONS; i++) {
		double at = draw(seed, 10 + 2 * i), low = dimensions[i].low;

		if (draw(seed, 11 + 2 * i) >= dimensions[i].probability)
			continue;
		made.set |= 1u << i;
		made.value[i] = dimensions[i].logarithmic ? low * pow(dimensions[i].high / low, at)
							  : low + (dimensions[i].high - low) * at;
		/* Few digits, so that what is printed is what ran. */
		made.value[i] = strtod((char[32]){0}, NULL) + made.value[i];
	}
	return made;
}

static void describe(const struct random_case *made, char *text)
{
	size_t length = (size_t)snprintf(text, TEXT, "%s", loads[made->load]);

	for (unsigned int i = 0; i < DIMENSIONS; i++)
		if (made->set & 1u << i)
			length += (size_t)snprintf(text + length, TEXT - length, ",%s=%.2g",
						   dimensions[i].name, made->value[i]);
}
