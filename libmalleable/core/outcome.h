/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outcome.h: the figures that a controller reports to slurmstepd, before its text for the user.
 *
 * The controller is a process of the user. Root writes its own text into logs and comments, from
 * these figures and from what it knows itself: a user can falsify the figures, and nothing else.
 */
#ifndef MAL_CORE_OUTCOME_H
#define MAL_CORE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAL_OUTCOME_MAGIC 0x6d616c6fu
/* Stands in its place where no rank ever came: there are no figures. */
#define MAL_OUTCOME_NOTHING 0x6d616c6eu
#define MAL_OUTCOME_VERSION 2u

/* Why no rank came. */
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
	double outside_s; /* in no window: as long in any case */
};

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

/* Whether it wrote that no rank came. The text behind is for users who asked for one. */
static inline bool mal_outcome_is_nothing(const char *report)
{
	uint32_t magic;

	memcpy(&magic, report, sizeof(magic));
	return magic == MAL_OUTCOME_NOTHING;
}

#endif
