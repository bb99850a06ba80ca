/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lanes.h: how long the rank's threads were busy on each CPU (mal_lanes in core/segment.h).
 *
 * A thread's work since it was last added counts on its place, in the part of that time before
 * somebody else changed the place on the one before. Threads that nobody binds count on the rank's
 * own CPUs, one after the other.
 */
#pragma once

struct mal_rank;

/* What was counted before the rank came is of an earlier program. */
void mal_lanes_open(struct mal_rank *rank);

/* Add what thread INDEX of the team did so far: its place changes. Any thread. */
void mal_lanes_thread(const struct mal_rank *rank, unsigned int index);

/* Add what all did so far. Primary thread, behind mal_unmanaged_sample(). */
void mal_lanes_sample(struct mal_rank *rank);
