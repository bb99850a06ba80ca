/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * others.h: what others, processes or a virtual machine's host, used of a step's CPUs: whether any
 * estimate holds beside them, and in words.
 *
 * Invariant: The report, a replay and the status agree (t/t3003-replay.t: beside others).
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* The model of times knows the ranks alone. It is wrong by about as much as others took. */
#define MAL_OTHERS_MUCH 0.1

/* Room for the words. */
#define MAL_OTHERS_TEXT 64

/* So far; NaN: not known. */
struct mal_others_parts {
	double used;  /* of the CPUs' time */
	double taken; /* of a thread's time, of the one from which they took most */
};

static inline bool mal_others_are_many(struct mal_others_parts parts)
{
	/* Where the kernel counts no waits, all that others use may be taken from ranks. */
	return (isnan(parts.taken) ? parts.used : parts.taken) > MAL_OTHERS_MUCH;
}

/* "others used 48 % of the CPUs" into TEXT, or of one CPU if these are only few. Returns TEXT. */
static inline const char *mal_others_format(struct mal_others_parts parts,
					    char text[MAL_OTHERS_TEXT])
{
	bool all = !(parts.taken > parts.used) || parts.used > MAL_OTHERS_MUCH;

	snprintf(text, MAL_OTHERS_TEXT, "others used %.0f %% of %s",
		 100 * (all ? parts.used : parts.taken), all ? "the CPUs" : "a CPU");
	return text;
}
