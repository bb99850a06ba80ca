/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* target.c: the steps that a user's word means. */
#include "libmalleable/control/target.h"

#include <stdio.h>
#include <string.h>

#include "libmalleable/core/step_word.h"

size_t mal_targets_find(const struct mal_steps *steps, const char *wanted,
			struct mal_target *targets)
{
	size_t count = 0;
	bool whole = false, all;
	struct mal_error err;

	for (size_t i = 0; i < steps->count; i++) {
		struct mal_target found = {.controller = &steps->controllers[i]};

		if (mal_step_name(found.controller, found.name, &err) < 0)
			continue;
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

int mal_targets_are_one(const struct mal_target *targets, size_t count, const char *wanted,
			struct mal_error *err)
{
	char names[256] = "";
	size_t different = 1, used = 0;

	for (size_t i = 0; i < count; i++) {
		bool same = i && strcmp(targets[i].name, targets[i - 1].name) == 0;

		different += i && !same;
		if (!same && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, " %s",
						 targets[i].name);
	}
	if (different == 1)
		return 0;
	return mal_fail(err, "%s may be any of %zu steps:%s", wanted, different, names);
}

void mal_target_missing(const struct mal_steps *steps, const char *wanted, struct mal_error *err)
{
	if (steps->others)
		mal_fail(err,
			 "no balanced step %s of yours on this node; %zu belong to other users",
			 wanted, steps->others);
	else
		mal_fail(err, "no balanced step %s on this node, see malleable status", wanted);
}
