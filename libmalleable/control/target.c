/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* target.c: the steps that a user's word means. */
#include "libmalleable/control/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/core/step_word.h"
#include "libmalleable/malleable_control.h"

/* Those that are meant, into TARGETS; SILENT: the socket of one that does not tell its name. */
static int find(const struct mal_steps *steps, const char *wanted, struct mal_target *targets,
		const char **silent)
{
	int count = 0;
	bool whole = false, all;

	*silent = NULL;
	for (size_t i = 0; i < steps->count; i++) {
		struct mal_target found = {.controller = &steps->controllers[i]};

		if (mal_step_name(found.controller, found.name, NULL) < 0) {
			*silent = found.controller->socket;
			continue;
		}
		found.rank = mal_step_word(wanted, found.name, found.controller->socket, &all);
		if (!found.rank || (whole && !all))
			continue;
		if (all && !whole)
			count = 0;
		whole = all;
		targets[count++] = found;
	}
	return count;
}

/* No step is called WANTED. Returns what is wrong. */
static int missing(const struct mal_steps *steps, const char *wanted, const char *silent,
		   struct mal_error *err)
{
	if (silent)
		mal_fail(err, "no answer from %s", silent);
	else if (steps->others)
		mal_fail(err,
			 "no balanced step %s of yours on this node; %zu belong to other users",
			 wanted, steps->others);
	else
		mal_fail(err, "no balanced step %s on this node, see malleable status", wanted);
	return silent	       ? MALLEABLE_CONTROL_TIMEOUT
	       : steps->others ? MALLEABLE_CONTROL_NOT_ALLOWED
			       : MALLEABLE_CONTROL_NO_STEP;
}

/* Whether COUNT targets have one name; ERR lists the names. */
static bool are_one(const struct mal_target *targets, int count, const char *wanted,
		    struct mal_error *err)
{
	char names[256] = "";
	size_t different = 0, used = 0;

	for (int i = 0; i < count; i++) {
		if (i && strcmp(targets[i].name, targets[i - 1].name) == 0)
			continue;
		different++;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, " %s",
						 targets[i].name);
	}
	if (different > 1)
		mal_fail(err, "%s may be any of %zu steps:%s", wanted, different, names);
	return different == 1;
}

int mal_targets_find(const struct mal_steps *steps, const char *wanted, struct mal_target **targets,
		     struct mal_error *err)
{
	const char *silent;
	int count;

	*targets = calloc(steps->count + 1, sizeof(**targets));
	if (!*targets) {
		mal_fail(err, "out of memory");
		return MALLEABLE_CONTROL_SYSTEM;
	}
	count = find(steps, wanted, *targets, &silent);
	if (!count)
		return missing(steps, wanted, silent, err);
	return are_one(*targets, count, wanted, err) ? count : MALLEABLE_CONTROL_INVALID;
}
