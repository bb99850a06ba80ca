/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * first.c: which rank prints what is the same in all ranks of a step.
 *
 * Invariant: one rank of a step prints what all find (t/unit/test_core.c:
 * innermost_launcher_names_the_first_rank; t/t3007-nodes.t).
 */
#include "libmalleable/core/first.h"

#include <stddef.h>

#include "libmalleable/core/launcher_table.h"

/* The barrier keeps the compiler from making this a call of the C library's. */
char *mal_behind(char *text, const char *prefix)
{
	for (; *prefix; text++, prefix++) {
		__asm__ volatile("" ::: "memory");
		if (*text != *prefix)
			return NULL;
	}
	return text;
}

/* The value of NAME in VARIABLES, NULL: it is not set. */
static const char *find(char *const *variables, const char *name)
{
	for (char *const *at = variables; name && at && *at; at++) {
		const char *rest = mal_behind(*at, name);

		if (rest && *rest == '=')
			return rest + 1;
	}
	return NULL;
}

bool mal_is_first(char *const *variables)
{
	const char *rank = NULL;

	for (const struct mal_launcher *launcher = mal_launchers; launcher->name && !rank;
	     launcher++)
		rank = find(variables, launcher->facts[MAL_LAUNCHER_RANK]);
	/* Ranks of a launcher have it too: that of the script or the daemon around them. */
	if (!rank)
		rank = find(variables, "SLURM_PROCID");
	return !rank || (rank[0] == '0' && !rank[1]);
}
