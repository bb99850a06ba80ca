/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outcome.h: the figures that a controller reports to slurmstepd, before its text for the user.
 *
 * The controller is a process of the user. Root writes its own text into logs and comments, from
 * these figures and from what it knows itself: a user can falsify the figures, and nothing else.
 */
#ifndef MAL_CORE_OUTCOME_H
#define MAL_CORE_OUTCOME_H

#include <stdint.h>

#define MAL_OUTCOME_MAGIC 0x6d616c6fu
#define MAL_OUTCOME_VERSION 1u

struct mal_outcome_record {
	uint32_t magic;
	uint32_t version;
	uint64_t windows; /* 0: too short to measure, the times are 0 then */
	uint64_t lends, moves;
	/* Seconds: as run, predicted without balancing, predicted with perfect balance. */
	double elapsed_s, off_s, ideal_s;
};

#endif
