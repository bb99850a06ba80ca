/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loads.h: made-up programs for the closed loop: what each rank has to do in each phase, and how
 * its machine answers.
 *
 * The same seed gives the same work whatever a policy does, so that two policies meet the same
 * program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmalleable/base/error.h"
#include "policies/interface/limits.h"

/* Numbers of a load, set by name. Their meaning and bounds stand in the table in loads.c. */
enum mal_load_number {
	MAL_LOAD_PHASE,
	MAL_LOAD_PHASES,
	MAL_LOAD_EVERY,
	MAL_LOAD_HEAVY,
	MAL_LOAD_HEAVIES,
	MAL_LOAD_SERIAL,
	MAL_LOAD_FIXED,
	MAL_LOAD_CROWD,
	MAL_LOAD_REMOTE,
	MAL_LOAD_PART,
	MAL_LOAD_CACHE,
	MAL_LOAD_NOISE,
	MAL_LOAD_SPIKE,
	MAL_LOAD_REGIONS,
	MAL_LOAD_WAIT,
	MAL_LOAD_LEND,
	MAL_LOAD_LATE,
	MAL_LOAD_NUMBERS,
};

struct mal_program {
	const char *name;
	unsigned int shape; /* how loads are spread over ranks and time; see loads.c */
	unsigned int ranks, cpus;
	uint64_t seed;
	double number[MAL_LOAD_NUMBERS];
	/* Where the spread of the loads is now. */
	uint64_t unit;
	double state[MAL_MAX_RANKS], weight[MAL_MAX_RANKS];
};

/* "steady, drift, ..." */
extern const char mal_program_names[];

/* Text of parameter I: its name and what it is; NULL: there are no more. */
const char *mal_program_help(size_t i, const char **name);

/*
 * Read TEXT, LOAD[,NAME=NUMBER...], into PROGRAM, for RANKS ranks of CPUS CPUs. Returns 0, or -1
 * with ERR.
 */
int mal_program_read(const char *text, unsigned int ranks, unsigned int cpus, uint64_t seed,
		     struct mal_program *program, struct mal_error *err);

/* Phases of the run. */
double mal_program_phases(const struct mal_program *program);

/* Begin from the first phase. */
void mal_program_begin(struct mal_program *program);

/* Go to PHASE, which is not before the last one: its loads, by rank, are in program->weight. */
void mal_program_phase(struct mal_program *program, uint64_t phase);

/* A number from 0 to below 1 that depends on these alone. */
double mal_program_draw(const struct mal_program *program, uint64_t phase, uint64_t which);

/* RANK's work in PHASE, over what an even load has: with noise. */
double mal_program_work(const struct mal_program *program, uint64_t phase, unsigned int rank);

/* Is RANK one of those whose work scales as the numbers say? The others' scales well. */
bool mal_program_is_hard(const struct mal_program *program, unsigned int rank);
