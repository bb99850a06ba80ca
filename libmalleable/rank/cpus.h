/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cpus.h: the CPUs that this rank owns and borrows. Primary thread only. */
#ifndef MAL_RANK_CPUS_H
#define MAL_RANK_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* Read the CPU words again if somebody changed ours since the last time. Returns true if they were read. */
bool mal_cpus_refresh(void);

/* Borrow up to LIMIT free CPUs, those nearest to ours first. Returns how many. */
unsigned int mal_cpus_borrow(unsigned int limit);

/* Give all borrowed CPUs back. */
void mal_cpus_release(void);

/* Carry out the plan in the segment: give what it takes from us, enter what it gives us and is left. */
void mal_cpus_apply_plan(void);

/* The rank ends: all that it has becomes free for the others. */
void mal_cpus_leave(void);

/* Say whether this rank wants to borrow at all: lenders act only while one does. */
void mal_cpus_want(bool want);

/* CPUs that the team is to use of so many CPUS: all, unless the policy wants fewer. */
unsigned int mal_cpus_to_use(unsigned int cpus);

#endif
