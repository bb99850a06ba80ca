/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outcome.h: the figures that a controller reports to slurmstepd, before its text for the user.
 *
 * The controller is a process of the user. Root writes its own text into logs, from these
 * figures and from what it knows itself: a user can falsify the figures, and nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "libmalleable/base/pinned.h"

#define MAL_OUTCOME_MAGIC 0x6d616c6fu
/* Stands in its place where no rank ever came: there are no figures. */
#define MAL_OUTCOME_NOTHING 0x6d616c6eu
/* And where the controller failed before it served the step: the text behind says why. */
#define MAL_OUTCOME_FAILED 0x6d616c70u
#define MAL_OUTCOME_VERSION 3u

/* Why no rank connected. */
enum mal_nothing {
	MAL_NOTHING_USED,   /* no task used MPI or OpenMP */
	MAL_NOTHING_LOADED, /* our libraries cannot be loaded where a program ran */
	MAL_NOTHING_SEEN,   /* not known */
	MAL_NOTHING_REASONS
};

struct mal_outcome_record {
	uint32_t magic;
	uint32_t version;
	/* 0: too short to measure, the times are 0 then; without ranks enum mal_nothing */
	uint64_t windows;
	uint64_t lends, moves;
	/*
	 * Seconds: as run, predicted without balancing (NaN: no estimate, as others used the CPUs),
	 * predicted with perfect balance.
	 */
	double elapsed_s, off_s, ideal_s;
};

/* clang-format off */
MAL_PIN_SIZE(mal_outcome_record, 56, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_outcome_record, magic, 0, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_outcome_record, version, 4, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_outcome_record, windows, 8, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_outcome_record, lends, 16, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_outcome_record, moves, 24, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_outcome_record, elapsed_s, 32, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_outcome_record, off_s, 40, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_outcome_record, ideal_s, 48, "MAL_OUTCOME_VERSION")
/* clang-format on */

static inline uint32_t mal_outcome_magic(const char *report)
{
	uint32_t magic;

	memcpy(&magic, report, sizeof(magic));
	return magic;
}

/*
 * Whether the controller wrote nothing into REPORT, which was all 0 before. Each controller that
 * reaches its end, or fails, writes a record: this one was killed.
 */
static inline bool mal_outcome_is_missing(const char *report)
{
	return mal_outcome_magic(report) == 0;
}

/* Whether it wrote that no rank connected. The text behind is for users who asked for one. */
static inline bool mal_outcome_is_nothing(const char *report)
{
	return mal_outcome_magic(report) == MAL_OUTCOME_NOTHING;
}

/* Why it failed, a text of the user's process; NULL: it did not. */
static inline const char *mal_outcome_failure(const char *report)
{
	return mal_outcome_magic(report) == MAL_OUTCOME_FAILED
		       ? report + sizeof(struct mal_outcome_record)
		       : NULL;
}
