/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* setup.h: the environment that makes a program a rank of a balanced step. */
#ifndef MAL_CORE_SETUP_H
#define MAL_CORE_SETUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "libmalleable/core/cpumask.h"
#include "libmalleable/core/error.h"

struct mal_setup {
	const char *libdir;		/* where libmalleable.so and libmalleable_mpi.so are */
	const struct mal_cpumask *cpus; /* that the ranks may ever use */
	const struct mal_cpumask *home; /* that the step started with, NULL: the same */
	pid_t controller;
	int segment_fd;		  /* as the ranks inherit it */
	const char *mode;	  /* auto, team, cpuset, or observe */
	unsigned int max_threads; /* 0: not given */
	unsigned int nodes;	  /* of the step, 0: not known */
	bool events;		  /* changes of CPUs are told as PMIx events */
	bool keep_gomp;		  /* programs built for libgomp stay on it */
	int local_rank;		  /* -1: the ranks find it themselves */
};

/* Where variables are read and written: the process's own environment, or Slurm's for a task. */
struct mal_setup_env {
	/* Copy NAME's value into VALUE, at most SIZE bytes. False if there is none or it is too long. */
	bool (*get)(void *context, const char *name, char *value, size_t size);
	/* Set NAME. Returns 0 or -1. */
	int (*set)(void *context, const char *name, const char *value);
	void *context;
};

/* Set everything. What the user set (LD_PRELOAD, KMP_*) is kept. Returns 0, or -1 with ERR. */
int mal_setup_apply(const struct mal_setup *setup, const struct mal_setup_env *env, struct mal_error *err);

#endif
