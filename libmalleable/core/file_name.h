/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file_name.h: names of files that users give with %j and the like in them, as Slurm's do. The
 * controller reads them, as the user: root only passes them on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What stands for the letters. */
struct mal_file_facts {
	const char *step;	  /* JOB.STEP, JOB.LAUNCHER; without a number job and step are 0 */
	const char *node;	  /* its name, %h is that up to the first point */
	const char *job_name;	  /* NULL: unknown */
	const char *array_job;	  /* NULL: it is no task of an array */
	const char *array_task;	  /* the same */
	unsigned int node_number; /* in the step, from 0 */
	bool node_files;	  /* each node needs a file of its own */
};

/*
 * Make PATH, of SIZE bytes, of NAME: %j job, %s step, %a task of the array (0: none), %A job of the
 * whole array, %n number of the node, %h its name, %x the job's name, %% a percent sign; %4j has
 * leading zeros. Anything else stays. In an array .TASK is added to a name with neither %a nor %j,
 * and with NODE_FILES .NODE to one with neither %n nor %h; *ADDED says whether. Returns PATH, or
 * NAME where that would not fit. Thread safe.
 */
const char *mal_file_name(const char *name, const struct mal_file_facts *facts, char *path,
			  size_t size, bool *added);
