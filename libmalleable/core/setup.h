/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* setup.h: the environment that makes a program a rank of a balanced step. */
#pragma once

#include <stdbool.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"
#include "libmalleable/core/settings.h"

struct mal_setup {
	const char *libdir;		/* directory of our libraries */
	const struct mal_cpumask *cpus; /* CPUs that the ranks may ever use */
	const struct mal_cpumask *home; /* CPUs that the step starts with, NULL: the same */
	const char *cgroup;		/* the step's, NULL: none */
	const char *socket;		/* the controller's, NULL: none */
	int segment_fd;			/* the number that the ranks inherit */
	const char *mode;		/* auto, team, cpuset, or observe */
	struct mal_keys keys;		/* what of them is for ranks */
	const char *bits;		/* strict or keep; NULL: free */
	unsigned int nodes;		/* of the step; 0 and 1: there is no other */
	bool quiet;			/* ranks that run unbalanced do not say so */
	int local_rank;			/* -1: the ranks find it themselves */
	unsigned int ranks;		/* that no launcher numbers; 0: none */
};

/* Access to variables: of the process's own environment, or of a task's through Slurm. */
struct mal_setup_env {
	/*
	 * Copy NAME's value into VALUE, of SIZE bytes. Returns 1, 0 if it is not set, -1 if it is
	 * too long.
	 */
	int (*get)(void *context, const char *name, char *value, size_t size);
	/* Set NAME. Returns 0 or -1. */
	int (*set)(void *context, const char *name, const char *value);
	/* Remove NAME. */
	void (*unset)(void *context, const char *name);
	void *context;
};

/* The own environment. What is not longer than before is written in place. */
extern const struct mal_setup_env mal_setup_own;

/*
 * Whether the LENGTH bytes at PATH name one of our libraries, wherever it is installed. Calls no
 * function of libc's: rank/program/sanitizer.c may not.
 */
bool mal_setup_is_ours(const char *path, size_t length);

/* Take our libraries out of LIST, with the colon or blank behind each. Returns whether any was. */
bool mal_setup_strip(char *list);

/* Unset what mal_setup_apply() set, but for LD_PRELOAD. HAS_HOT_TEAMS: MAL_ENV_HOT_TEAMS is set. */
void mal_setup_forget(const struct mal_setup_env *env, bool has_hot_teams);

/*
 * Remove through ENV what mal_setup_apply() set, for a process that is not of that step. Values
 * that are set again are shorter. Does nothing in any other environment.
 */
void mal_setup_remove(const struct mal_setup_env *env);

/*
 * Set all variables of SETUP through ENV. Variables of the user are kept (LD_PRELOAD, KMP_*);
 * those of another balanced step, from inside which this one was started, are removed.
 * Returns 0, or -1 with ERR.
 */
int mal_setup_apply(const struct mal_setup *setup, const struct mal_setup_env *env,
		    struct mal_error *err);
