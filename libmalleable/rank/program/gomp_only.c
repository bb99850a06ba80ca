/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp_only.c: where programs run with libgomp only, or otherwise (libgomp manual, ch. 3).
 *
 * Invariant: what libomp would end or run otherwise keeps libgomp (t/unit/test_gomp.c:
 * variables_keep_libgomp; t/t2012-gomp.t, t/t2018-settings.t).
 */
#include "libmalleable/rank/program/gomp_only.h"

#include <ctype.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libmalleable/base/raw.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/launcher_table.h"
#include "libmalleable/core/variables.h"

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

/* Whether LIST names CPUS only. */
static bool list_is_in(const char *list, const cpu_set_t *cpus)
{
	for (list += strspn(list, " \t,"); *list; list += strspn(list, " \t,"))
		if (!range_is_in(&list, cpus))
			return false;
	return true;
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
bool mal_gomp_may_be_replaced(void)
{
	struct rlimit limit;

	return MAL_RAW(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0 || limit.rlim_cur >= 1024;
}

/*
 * Values of which both runtimes make the same, whatever their case: # is a number from 1 to 1023, +
 * one of KiB that is a stack. * is any: libomp does not see these, libgomp alone prints, or they
 * name tools, of which libgomp has none.
 */
static const struct {
	const char *name, *forms;
} plain[] = {
	{"OMP_NUM_THREADS", "#"},
	{"OMP_THREAD_LIMIT", "#"},
	{"OMP_MAX_ACTIVE_LEVELS", "1|2|3|4"},
	{"OMP_DYNAMIC", "true|false"},
	{"OMP_CANCELLATION", "true|false"},
	{"OMP_WAIT_POLICY", "active|passive"},
	{"OMP_PROC_BIND", "true|false|close|spread|master|primary"},
	{"OMP_PLACES", "threads|cores|sockets"},
	{"OMP_SCHEDULE", "static|static,#|dynamic|dynamic,#|guided|guided,#|auto"},
	{"OMP_STACKSIZE", "+|+k|#m|#g"},
	{"OMP_DISPLAY_AFFINITY", "false"},
	{"OMP_DISPLAY_ENV", "*"},
	{"OMP_TOOL_LIBRARIES", "*"},
	{"GOMP_SPINCOUNT", "*"},
};

/* A number at *VALUE, which moves on behind it. */
static bool skip_number(const char **value, unsigned long min, unsigned long max)
{
	char *end;
	unsigned long number = strtoul(*value, &end, 10);
	bool digit = **value >= '1' && **value <= '9';

	*value = end;
	return digit && number >= min && number <= max;
}

/* Whether VALUE is of FORM, up to a bar. */
static bool is_of_form(const char *value, const char *form)
{
	for (; *form && *form != '|'; form++) {
		if (*form == '*')
			return true;
		if (*form == '#' && !skip_number(&value, 1, 1023))
			return false;
		if (*form == '+' && !skip_number(&value, 16, 9999999))
			return false;
		if (*form != '#' && *form != '+' && tolower((unsigned char)*value++) != *form)
			return false;
	}
	return !*value;
}

static bool is_plain(const char *entry)
{
	size_t length = strcspn(entry, "=");

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		const char *form = plain[i].forms;

		if (strlen(plain[i].name) != length || strncmp(plain[i].name, entry, length) != 0)
			continue;
		for (; form; form = strchr(form, '|') ? strchr(form, '|') + 1 : NULL)
			if (is_of_form(entry + length + (entry[length] == '='), form))
				return true;
	}
	return false;
}

bool mal_gomp_is_wanted(void)
{
	for (char **entry = environ; *entry; entry++)
		if ((strncmp(*entry, "OMP_", 4) == 0 || strncmp(*entry, "GOMP_", 5) == 0) &&
		    !is_plain(*entry))
			return true;
	return false;
}
