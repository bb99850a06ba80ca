/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outside.c: a process that has the environment of a balanced step, but is not inside that step. */
#include "libmalleable/rank/program/outside.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/setup.h"

static int get(void *context, const char *name, char *value, size_t size)
{
	const char *found = getenv(name);

	(void)context;
	if (!found || strlen(found) >= size)
		return found ? -1 : 0;
	strcpy(value, found);
	return 1;
}

/* The new value is shorter than the old one. */
static int set(void *context, const char *name, const char *value)
{
	(void)context;
	strcpy(getenv(name), value);
	return 0;
}

static void unset(void *context, const char *name)
{
	(void)context;
	unsetenv(name);
}

void mal_outside_clean_up(void)
{
	static const struct mal_setup_env env = {get, set, unset, NULL};

	if (getenv(MAL_ENV_SEGMENT_FD) && !mal_inside())
		mal_setup_remove(&env);
}
