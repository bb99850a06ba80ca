/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp_variables.c: the variables of OpenMP, which libgomp has read, as libomp is to find them.
 *
 * Invariant: each variable has the effect that it has in libgomp (t/t2018-settings.t).
 */
#include "libmalleable/rank/program/gomp_variables.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* omp_proc_bind_t */
enum { BIND_FALSE = 0, BIND_TRUE = 1 };

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
}

/* libgomp counted the CPUs before main(), which may have bound its thread since. */
static void set_threads(const struct mal_runtime *libgomp)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", libgomp->get_max_threads());
	setenv("OMP_NUM_THREADS", text, 0);
}

static void set_binding(const struct mal_runtime *libgomp)
{
	int bind = libgomp->get_proc_bind ? libgomp->get_proc_bind() : BIND_FALSE;

	if (bind == BIND_FALSE) {
		unsetenv("OMP_PROC_BIND");
		unsetenv("OMP_PLACES");
	} else {
		unsetenv("KMP_AFFINITY");
	}
	/* For libgomp that is thread by thread from place to place, for libomp spread. */
	if (bind == BIND_TRUE)
		setenv("OMP_PROC_BIND", "close", 1);
}

static void set_schedule(void)
{
	const char *value = getenv("OMP_SCHEDULE");
	char text[32];

	if (value && strncasecmp(value, "static", strlen("static")) != 0)
		return;
	snprintf(text, sizeof(text), value ? "monotonic:%s" : "dynamic", value);
	setenv("OMP_SCHEDULE", text, 1);
}

void mal_gomp_translate(const struct mal_runtime *libgomp)
{
	hide_others();
	set_threads(libgomp);
	set_binding(libgomp);
	set_schedule();
	/* libgomp has printed them already. */
	unsetenv("OMP_DISPLAY_ENV");
	/*
	 * libgomp's threads round as they did when they started, libomp's as the primary one does
	 * now; and libomp clears the primary one's flags at the end of a region of one thread.
	 */
	setenv("KMP_INHERIT_FP_CONTROL", "false", 1);
}
