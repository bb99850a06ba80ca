/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spank.c: what the plugin's files call of Slurm and of each other, for targets of these files. */
#include "t/fuzz/spank.h"

#include <stdarg.h>
#include <stdio.h>

#include "spank/cgroup.h"
#include "spank/contained.h"
#include "spank/launchers.h"

enum spank_context fuzz_context = S_CTX_LOCAL;

enum spank_context spank_context(void)
{
	return fuzz_context;
}

/* Format the text, so that unterminated strings are found. */
static void say(const char *format, va_list args)
{
	char text[8192];

	vsnprintf(text, sizeof(text), format, args);
}

#define SAYS(name) \
	void name(const char *format, ...) \
	{ \
		va_list args; \
		va_start(args, format); \
		say(format, args); \
		va_end(args); \
	}
SAYS(slurm_error)
SAYS(slurm_info)
SAYS(slurm_spank_log)

pid_t balance_contained_slurmstepd(void)
{
	return 1;
}

int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err)
{
	(void)cgroup;
	return mal_fail(err, "no control group");
}

bool balance_launchers_set(const struct mal_setup_env *env)
{
	(void)env;
	return true;
}

void balance_launchers_unset(const struct mal_setup_env *env)
{
	(void)env;
}
