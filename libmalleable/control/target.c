/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* target.c: which step, and which of its ranks, a user's word means. */
#include "libmalleable/control/target.h"

#include <stdio.h>
#include <string.h>

/*
 * The rank in WANTED, which is the LENGTH first letters of a step's NAME, a dot and a number.
 * Empty: the step itself; NULL: another step.
 */
static const char *find_rank(const char *wanted, const char *name, size_t length)
{
	if (strncmp(wanted, name, length) != 0)
		return NULL;
	if (!wanted[length])
		return "";
	if (wanted[length] != '.' || !wanted[length + 1] ||
	    wanted[length + 1 + strspn(wanted + length + 1, "0123456789")])
		return NULL;
	return wanted + length + 1;
}

size_t mal_targets_find(const struct mal_steps *steps, const char *wanted,
			struct mal_target *targets)
{
	size_t count = 0;
	bool whole = false;
	struct mal_error err;

	for (size_t i = 0; i < steps->count; i++) {
		struct mal_target found = {.controller = &steps->controllers[i]};
		const char *rank;

		if (mal_step_name(found.controller, found.name, &err) < 0)
			continue;
		rank = find_rank(wanted, found.name, strlen(found.name));
		if (rank && !whole)
			count = 0;
		whole |= rank != NULL;
		if (!whole && mal_step_has_pid(found.controller))
			rank = find_rank(wanted, found.name,
					 (size_t)(strrchr(found.name, '.') - found.name));
		found.rank = rank;
		if (rank)
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
