/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starts.h: the functions that calls start as parallel regions. */
#ifndef MAL_INSPECT_STARTS_H
#define MAL_INSPECT_STARTS_H

#include <stddef.h>
#include <stdint.h>

enum { MAL_REGIONS = 20000 };

enum mal_runtime { MAL_RUNTIME_LIBOMP, MAL_RUNTIME_LIBGOMP };

struct mal_start {
	uint64_t entry;
	enum mal_runtime runtime;
	/* A size of the team is asked for. */
	int clause;
	/* Started by another call than the plain ones: teams, sections, reductions. */
	int other;
};

struct mal_starts {
	struct mal_start *starts;
	size_t count;
	/* A call starts a region whose function was not found. */
	int unknown;
};

#endif
