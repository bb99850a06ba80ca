/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spank.c: Slurm's functions, for targets of the plugin's files. */
#include "t/fuzz/spank.h"

#include <stdarg.h>
#include <stdio.h>

#include "spank/contained.h"

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
