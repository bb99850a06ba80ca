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

/*
 * Whether the controller wrote nothing into REPORT, which was all 0 before. Each controller that
 * reaches its end writes a record: this one was killed, or failed.
 */
static inline bool mal_outcome_is_missing(const char *report)
{
	uint32_t magic;

	memcpy(&magic, report, sizeof(magic));
	return magic == 0;
}

/* Whether it wrote that no rank connected. The text behind is for users who asked for one. */
static inline bool mal_outcome_is_nothing(const char *report)
{
	uint32_t magic;

	memcpy(&magic, report, sizeof(magic));
	return magic == MAL_OUTCOME_NOTHING;
}
