/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outside.h: for how long the primary thread waits outside MPI and regions: for a device, a file or
 * another process.
 */
#pragma once

#include <stdint.h>

#include "libmalleable/rank/state/rank.h"

struct mal_snapshot;

/* In a long wait in MPI at tick NOW: what the primary thread polls there it does not sleep. */
void mal_outside_look_at_polls(struct mal_rank *rank, uint64_t now);

/* Add to SNAPSHOT, which is complete otherwise, how long it waited. Primary thread. */
void mal_outside_sample(struct mal_rank *rank, struct mal_snapshot *snapshot);

/* TICKS no longer count as in MPI: they were no wait outside it either. */
static inline void mal_outside_unmake(struct mal_rank *rank, uint64_t ticks)
{
	rank->outside_own.last.mpi -= ticks;
}

/* Around a call that waits for a device, in any thread of any process; such calls nest. */
struct mal_device_call {
	uint64_t begin; /* tick, 0: it is no wait outside MPI */
	uint64_t cpu_ns;
	uint64_t in_calls, spun_ns; /* before */
};
void mal_device_begin(struct mal_device_call *call);
void mal_device_end(const struct mal_device_call *call);
