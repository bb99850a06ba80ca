/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp_only.c: where programs run with libgomp only, or otherwise (libgomp manual, ch. 3).
 *
 * Invariant: what libomp would end or run otherwise keeps libgomp (t/t2012-gomp.t).
 */
#include "libmalleable/rank/program/gomp_only.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libmalleable/base/raw.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/launcher_table.h"
#include "libmalleable/core/variables.h"

static bool is_true(const char *value)
{
	value += strspn(value, " \t");
	return strncasecmp(value, "true", 4) == 0;
}

/* Reads a number at *TEXT, and moves on behind it. */
static bool read_number(const char **text, unsigned long *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*number = strtoul(*text, &end, 10);
	*text = end;
	return *number < CPU_SETSIZE;
}

/* One range FIRST[-LAST[:STEP]] at *TEXT, all of it in CPUS. */
static bool range_is_in(const char **text, const cpu_set_t *cpus)
{
	unsigned long first, last, step = 1;

	if (!read_number(text, &first))
		return false;
	last = first;
	if (**text == '-' && (++*text, !read_number(text, &last) || last < first))
		return false;
	if (**text == ':' && (++*text, !read_number(text, &step) || !step))
		return false;
	for (; first <= last; first += step)
		if (!CPU_ISSET(first, cpus))
			return false;
	return true;
}

/* Whether LIST, as in GOMP_CPU_AFFINITY, names CPUS only. */
static bool list_is_in(const char *list, const cpu_set_t *cpus)
{
	for (list += strspn(list, " \t,"); *list; list += strspn(list, " \t,"))
		if (!range_is_in(&list, cpus))
			return false;
	return true;
}

/* libomp reads these before it looks for us: it prints something, or does not look at all. */
static bool is_about_tools(const char *name, const char *usual)
{
	const char *value = mal_variable(environ, name);

	return value && *value && strcasecmp(value, usual) != 0;
}

/*
 * How many of CPUS the rank starts with: where its launcher binds none, each has its part of the
 * step's (rank/attach.c).
 */
static unsigned long cpus_at_start(const cpu_set_t *cpus)
{
	const char *all = mal_variable(environ, MAL_ENV_HOME),
		   *ranks = mal_launcher_value(environ, MAL_LAUNCHER_LOCAL_SIZE);
	unsigned long count = (unsigned long)CPU_COUNT(cpus), parts;

	if (!all)
		all = mal_variable(environ, MAL_ENV_CPUS);
	if (all && ranks && list_is_in(all, cpus) && read_number(&ranks, &parts) && parts)
		count /= parts;
	return count;
}

bool mal_gomp_is_crowded(void)
{
	const char *value = mal_variable(environ, "OMP_NUM_THREADS");
	unsigned long threads;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	value += value ? strspn(value, " \t") : 0;
	return value && read_number(&value, &threads) &&
	       MAL_RAW(SYS_sched_getaffinity, 0, sizeof(cpus), &cpus) > 0 &&
	       threads > cpus_at_start(&cpus);
}

/* libomp makes its entry of 1 KiB as it starts (registered.c): a lower limit ends the program. */
static bool may_write(void)
{
	struct rlimit limit;

	return MAL_RAW(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0 || limit.rlim_cur >= 1024;
}

bool mal_gomp_is_wanted(void)
{
	const char *display = mal_variable(environ, "OMP_DISPLAY_AFFINITY"),
		   *list = mal_variable(environ, "GOMP_CPU_AFFINITY");
	cpu_set_t cpus;

	if (!may_write() || (display && is_true(display)) ||
	    is_about_tools("OMP_TOOL", "enabled") ||
	    is_about_tools("OMP_TOOL_VERBOSE_INIT", "disabled"))
		return true;
	CPU_ZERO(&cpus);
	return list && MAL_RAW(SYS_sched_getaffinity, 0, sizeof(cpus), &cpus) > 0 &&
	       !list_is_in(list, &cpus);
}
