/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * setup.c: the environment that makes a program a rank of a balanced step.
 *
 * Invariant: a rank is told all, or the task is told what failed (t/unit/test_launch.c:
 * a_rank_is_told_everything, what_cannot_be_set_is_named).
 */
#include "libmalleable/core/setup.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/core/variables.h"

#define LONGEST 8192

static int get_own(void *context, const char *name, char *value, size_t size)
{
	const char *found = mal_variable(environ, name);

	(void)context;
	if (!found || strlen(found) >= size)
		return found ? -1 : 0;
	strcpy(value, found);
	return 1;
}

/* Libc may not have started: in place where that can be (variables.h). */
static int set_own(void *context, const char *name, const char *value)
{
	char *old = mal_variable(environ, name);

	(void)context;
	if (!old || strlen(value) > strlen(old))
		return setenv(name, value, 1);
	strcpy(old, value);
	return 0;
}

static void unset_own(void *context, const char *name)
{
	(void)context;
	mal_variable_remove(environ, name);
}

const struct mal_setup_env mal_setup_own = {get_own, set_own, unset_own, NULL};

/* VALUE may be NULL: there is nothing to set. */
static int set(const struct mal_setup_env *env, const char *name, const char *value,
	       struct mal_error *err)
{
	if (value && env->set(env->context, name, value) < 0)
		return mal_fail(err, "cannot set %s in the task's environment", name);
	return 0;
}

static int set_number(const struct mal_setup_env *env, const char *name, long number,
		      struct mal_error *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	return set(env, name, text, err);
}

static int set_cpus(const struct mal_setup_env *env, const char *name,
		    const struct mal_cpumask *cpus, struct mal_error *err)
{
	char text[LONGEST];

	return set(env, name, cpus ? mal_cpumask_format(cpus, text, sizeof(text)) : NULL, err);
}

/*
 * Add NAME of LIBDIR, if it is there, to LIST, which has room for it. Returns 1 if it was, 0, or -1
 * with ERR.
 */
static int add_library(char *list, const char *libdir, const char *name, struct mal_error *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", libdir, name) >= (int)sizeof(path))
		return mal_fail(err, "%.64s...: too long", libdir);
	if (access(path, R_OK) < 0)
		return 0;
	sprintf(list + strlen(list), ":%s", path);
	return 1;
}

/* What was asked for by KEY has to be there. */
static int add_names(char *list, const char *libdir, const char *name, const char *key,
		     struct mal_error *err)
{
	int added = add_library(list, libdir, name, err);

	return added ? added : mal_fail(err, "%s=yes: there is no %s/%s", key, libdir, name);
}

/* Preload our libraries before the user's; the MPI one may not have been built. */
static int set_preload(const struct mal_setup *setup, const struct mal_setup_env *env,
		       struct mal_error *err)
{
	char before[LONGEST], value[LONGEST + 4 * PATH_MAX];
	int found = env->get(env->context, "LD_PRELOAD", before, sizeof(before));

	if (found < 0)
		return mal_fail(err, "LD_PRELOAD is longer than %zu bytes", sizeof(before) - 1);
	snprintf(value, PATH_MAX, "%s/libmalleable.so", setup->libdir);
	if (add_library(value, setup->libdir, "libmalleable_mpi.so", err) < 0 ||
	    (setup->keys.dlb &&
	     add_names(value, setup->libdir, "compat/libdlb.so", "dlb", err) < 0) ||
	    (setup->keys.geopm &&
	     add_names(value, setup->libdir, "compat/libgeopm.so", "geopm", err) < 0))
		return -1;
	if (found > 0 && before[0])
		sprintf(value + strlen(value), ":%s", before);
	return set(env, "LD_PRELOAD", value, err);
}

bool mal_setup_is_ours(const char *path, size_t length)
{
	static const char *const names[] = {"libmalleable.so", "libmalleable_mpi.so",
					    "compat/libdlb.so", "compat/libgeopm.so"};

	for (size_t i = 0; i < length; i++) {
		if (i > 0 && path[i - 1] != '/')
			continue;
		for (size_t name = 0; name < sizeof(names) / sizeof(names[0]); name++)
			if (mal_behind((char *)(uintptr_t)path + i, names[name]) == path + length)
				return true;
	}
	return false;
}

bool mal_setup_strip(char *list)
{
	char *to = list;
	bool any = false;

	for (const char *from = list; *from;) {
		size_t length = strcspn(from, ": "), whole = length + (from[length] != '\0');

		if (mal_setup_is_ours(from, length)) {
			any = true;
		} else {
			memmove(to, from, whole);
			to += whole;
		}
		from += whole;
	}
	if (any && to > list && to[-1] == ':')
		to--;
	*to = '\0';
	return any;
}

void mal_setup_forget(const struct mal_setup_env *env, bool has_hot_teams)
{
	static const char *const names[] = {
		MAL_ENV_SEGMENT_FD,  MAL_ENV_PATIENCE,	MAL_ENV_SOCKET, MAL_ENV_CGROUP,
		MAL_ENV_CPUS,	     MAL_ENV_MODE,	MAL_ENV_HOME,	MAL_ENV_LOCAL_RANK,
		MAL_ENV_MAX_THREADS, MAL_ENV_PROVE,	MAL_ENV_NODES,	MAL_ENV_GOMP,
		MAL_ENV_QUIET,	     MAL_ENV_HOT_TEAMS, MAL_ENV_BITS,	MAL_ENV_RANKS,
	};

	if (has_hot_teams)
		env->unset(env->context, "KMP_HOT_TEAMS_MODE");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		env->unset(env->context, names[i]);
}

void mal_setup_remove(const struct mal_setup_env *env)
{
	char value[LONGEST];

	if (env->get(env->context, MAL_ENV_SEGMENT_FD, value, sizeof(value)) != 1)
		return;
	if (env->get(env->context, "LD_PRELOAD", value, sizeof(value)) == 1 &&
	    mal_setup_strip(value)) {
		if (*value)
			env->set(env->context, "LD_PRELOAD", value);
		else
			env->unset(env->context, "LD_PRELOAD");
	}
	mal_setup_forget(env, env->get(env->context, MAL_ENV_HOT_TEAMS, value, sizeof(value)) == 1);
}

int mal_setup_apply(const struct mal_setup *setup, const struct mal_setup_env *env,
		    struct mal_error *err)
{
	bool has_hot_teams;
	char value[LONGEST];

	mal_setup_remove(env);
	/*
	 * Make libomp keep threads that a smaller team does not need, so that the next larger team
	 * is cheap.
	 */
	has_hot_teams = env->get(env->context, "KMP_HOT_TEAMS_MODE", value, sizeof(value)) != 0;
	if (set_preload(setup, env, err) < 0 ||
	    set_number(env, MAL_ENV_SEGMENT_FD, setup->segment_fd, err) < 0 ||
	    /* Always: it stands above what the user's environment has. */
	    set_number(env, MAL_ENV_PATIENCE, mal_patience(), err) < 0 ||
	    set(env, MAL_ENV_SOCKET, setup->socket, err) < 0 ||
	    set(env, MAL_ENV_CGROUP, setup->cgroup, err) < 0 ||
	    set_cpus(env, MAL_ENV_CPUS, setup->cpus, err) < 0 ||
	    set(env, MAL_ENV_MODE, setup->mode, err) < 0 ||
	    set_cpus(env, MAL_ENV_HOME, setup->home, err) < 0 ||
	    (setup->local_rank >= 0 &&
	     set_number(env, MAL_ENV_LOCAL_RANK, setup->local_rank, err) < 0) ||
	    (setup->ranks && set_number(env, MAL_ENV_RANKS, setup->ranks, err) < 0) ||
	    (setup->keys.max_threads &&
	     set_number(env, MAL_ENV_MAX_THREADS, setup->keys.max_threads, err) < 0) ||
	    set(env, MAL_ENV_PROVE, setup->keys.prove != MAL_PROVE_NO ? "yes" : NULL, err) < 0 ||
	    set(env, MAL_ENV_BITS, setup->bits, err) < 0 ||
	    (setup->nodes > 1 && set_number(env, MAL_ENV_NODES, setup->nodes, err) < 0) ||
	    set(env, MAL_ENV_QUIET, setup->quiet ? "yes" : NULL, err) < 0 ||
	    set(env, MAL_ENV_GOMP, setup->keys.keep_gomp ? "keep" : NULL, err) < 0 ||
	    set(env, "KMP_HOT_TEAMS_MODE", has_hot_teams ? NULL : "1", err) < 0 ||
	    set(env, MAL_ENV_HOT_TEAMS, has_hot_teams ? NULL : "yes", err) < 0)
		return -1;
	return 0;
}
