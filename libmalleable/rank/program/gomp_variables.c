/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp_variables.c: the variables of OpenMP, which libgomp has read, as libomp is to find them.
 *
 * Invariant: each variable has the effect that it has in libgomp (t/t2018-settings.t).
 */
#include "libmalleable/rank/program/gomp_variables.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* omp_proc_bind_t */
enum { BIND_FALSE = 0, BIND_TRUE = 1 };
/* omp_sched_t */
#define MONOTONIC 0x80000000u
/* What may stand around a number in a variable. */
#define SPACES " \t\n\v\f\r"
/* Smaller stacks are refused by the C library (PTHREAD_STACK_MIN of its static limits). */
#define STACK_MIN 16384

static bool is_of_openmp(const char *entry)
{
	static const char *const prefixes[] = {"OMP_", "GOMP_", "KMP_", "LIBOMP_", NULL};

	for (int i = 0; prefixes[i]; i++)
		if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return strchr(entry, '=');
	return false;
}

char **mal_gomp_copy_variables(void)
{
	size_t count = 0;
	char **copy;

	for (char **entry = environ; entry && *entry; entry++)
		count += is_of_openmp(*entry);
	copy = calloc(count + 1, sizeof(*copy));
	count = 0;
	for (char **entry = environ; copy && entry && *entry; entry++)
		if (is_of_openmp(*entry) && (copy[count] = strdup(*entry)))
			count++;
	return copy;
}

void mal_gomp_free_variables(char **copy)
{
	for (char **entry = copy; entry && *entry; entry++)
		free(*entry);
	free(copy);
}

void mal_gomp_put_variables(char **copy)
{
	char **now = mal_gomp_copy_variables();

	for (char **entry = now; entry && *entry; entry++) {
		*strchr(*entry, '=') = '\0';
		unsetenv(*entry);
	}
	mal_gomp_free_variables(now);
	for (char **entry = copy; *entry; entry++) {
		char *value = strchr(*entry, '=');

		*value = '\0';
		setenv(*entry, value + 1, 1);
		*value = '=';
	}
}

/*
 * The variables of libomp's own mean nothing to libgomp. Not hidden are those that no program can
 * see the effect of.
 */
static void hide_others(void)
{
	static const char *const kept[] = {
		"KMP_HOT_TEAMS_MODE=", "KMP_DUPLICATE_LIB_OK=", "KMP_AFFINITY=disabled", NULL};
	char **now = mal_gomp_copy_variables();

	for (char **entry = now; entry && *entry; entry++) {
		bool keep = strncmp(*entry, "OMP_", 4) == 0 || strncmp(*entry, "GOMP_", 5) == 0;

		for (int i = 0; kept[i]; i++)
			keep |= strncmp(*entry, kept[i], strlen(kept[i])) == 0;
		*strchr(*entry, '=') = '\0';
		if (!keep)
			unsetenv(*entry);
	}
	mal_gomp_free_variables(now);
	unsetenv("OMP_DEBUG");
}

/* Whether VALUE is a list as libgomp reads it, of which the first is FIRST. */
static bool lists(const char *value, int first)
{
	char *end;

	for (bool begins = true;; begins = false) {
		unsigned long number;

		value += strspn(value, SPACES);
		number = strtoul(value, &end, 10);
		if (*value < '0' || *value > '9' || !number || number > INT_MAX ||
		    (begins && number != (unsigned long)first))
			return false;
		value = end + strspn(end, SPACES);
		if (!*value)
			return true;
		if (*value++ != ',')
			return false;
	}
}

/* What NAME is about is answered by ASK, if this libgomp has that; ABSENT: there is no limit. */
static void set_number(const char *name, int (*ask)(void), int absent)
{
	char text[16];
	int number;

	if (!ask)
		return;
	number = ask();
	snprintf(text, sizeof(text), "%d", number);
	if (number == absent)
		unsetenv(name);
	else
		setenv(name, text, 1);
}

static void set_truth(const char *name, int (*ask)(void))
{
	if (ask)
		setenv(name, ask() ? "true" : "false", 1);
}

/* libgomp counted the CPUs before main(), which may have bound its thread since. */
static void set_threads(const struct mal_runtime *libgomp)
{
	const char *value = getenv("OMP_NUM_THREADS");
	int threads = libgomp->get_max_threads ? libgomp->get_max_threads() : 0;

	if (threads > 0 && (!value || !lists(value, threads)))
		set_number("OMP_NUM_THREADS", libgomp->get_max_threads, 0);
}

static void set_schedule(const struct mal_runtime *libgomp)
{
	static const char *const names[] = {"dynamic", "static", "dynamic", "guided", "auto"};
	unsigned int number;
	int kind = 0, chunk = 0;
	char text[64];

	if (libgomp->get_schedule)
		libgomp->get_schedule(&kind, &chunk);
	number = (unsigned int)kind & ~MONOTONIC;
	if (number >= sizeof(names) / sizeof(names[0]))
		number = 0;
	snprintf(text, sizeof(text), chunk > 0 ? "%s%s,%d" : "%s%s",
		 (unsigned int)kind & MONOTONIC ? "monotonic:" : "", names[number],
		 number ? chunk : 1);
	setenv("OMP_SCHEDULE", text, 1);
}

/* The value of NAME as libgomp reads a size, 0: none. */
static unsigned long read_size(const char *name)
{
	static const char units[] = "bkmg";
	const char *value = getenv(name), *unit = units + 1;
	unsigned long size;
	char *end;

	if (!value)
		return 0;
	errno = 0;
	size = strtoul(value, &end, 10);
	if (end == value || errno)
		return 0;
	end += strspn(end, SPACES);
	if (*end) {
		unit = strchr(units, tolower((unsigned char)*end++));
		end += strspn(end, SPACES);
	}
	if (!unit || *end || size > ULONG_MAX >> (10 * (unit - units)))
		return 0;
	return size << (10 * (unit - units));
}

/* Of this libgomp cannot be asked. What the C library does not take is left out. */
static void set_stack_size(void)
{
	unsigned long size = read_size("OMP_STACKSIZE");
	char text[32];

	if (!size)
		size = read_size("GOMP_STACKSIZE");
	snprintf(text, sizeof(text), "%luB", size);
	unsetenv("GOMP_STACKSIZE");
	if (size >= STACK_MIN)
		setenv("OMP_STACKSIZE", text, 1);
	else
		unsetenv("OMP_STACKSIZE");
}

/* All of libgomp's places, to be freed; NULL: it has none. */
static char *list_places(const struct mal_runtime *libgomp)
{
	int count = libgomp->get_num_places ? libgomp->get_num_places() : 0;
	char *text = NULL;
	FILE *to;
	size_t size;

	to = count > 0 ? open_memstream(&text, &size) : NULL;
	for (int place = 0; to && place < count; place++) {
		int cpus = libgomp->get_place_num_procs(place), ids[CPU_SETSIZE];

		if (cpus <= 0 || cpus > CPU_SETSIZE)
			continue;
		libgomp->get_place_proc_ids(place, ids);
		for (int i = 0; i < cpus; i++)
			fprintf(to, "%s%d", i ? "," : place ? ",{" : "{", ids[i]);
		fputc('}', to);
	}
	if (to)
		fclose(to);
	return text;
}

static void set_places(const struct mal_runtime *libgomp)
{
	char *places = list_places(libgomp);
	int bind = libgomp->get_proc_bind ? libgomp->get_proc_bind() : BIND_FALSE;

	unsetenv("GOMP_CPU_AFFINITY");
	if (places)
		setenv("OMP_PLACES", places, 1);
	else
		unsetenv("OMP_PLACES");
	free(places);
	if (bind == BIND_FALSE)
		unsetenv("OMP_PROC_BIND");
	else
		unsetenv("KMP_AFFINITY");
	/* For libgomp that is thread by thread from place to place, for libomp spread. */
	if (bind == BIND_TRUE)
		setenv("OMP_PROC_BIND", "close", 1);
}

void mal_gomp_translate(const struct mal_runtime *libgomp)
{
	hide_others();
	set_threads(libgomp);
	set_number("OMP_THREAD_LIMIT", libgomp->get_thread_limit, INT_MAX);
	set_number("OMP_MAX_ACTIVE_LEVELS", libgomp->get_max_active_levels, -1);
	unsetenv("OMP_NESTED");
	set_number("OMP_MAX_TASK_PRIORITY", libgomp->get_max_task_priority, -1);
	/* Newer ones may look for devices to answer that. */
	if (getenv("OMP_DEFAULT_DEVICE"))
		set_number("OMP_DEFAULT_DEVICE", libgomp->get_default_device, -1);
	set_number("OMP_NUM_TEAMS", libgomp->get_max_teams, 0);
	set_number("OMP_TEAMS_THREAD_LIMIT", libgomp->get_teams_thread_limit, 0);
	set_truth("OMP_DYNAMIC", libgomp->get_dynamic);
	set_truth("OMP_CANCELLATION", libgomp->get_cancellation);
	set_schedule(libgomp);
	set_stack_size();
	set_places(libgomp);
	setenv("OMP_AFFINITY_FORMAT", "level %L thread %i affinity %A", 0);
	/* libgomp has printed them already. */
	unsetenv("OMP_DISPLAY_ENV");
	/*
	 * libgomp's threads round as they did when they started, libomp's as the primary one does
	 * now; and libomp clears the primary one's flags at the end of a region of one thread.
	 */
	setenv("KMP_INHERIT_FP_CONTROL", "false", 1);
}
