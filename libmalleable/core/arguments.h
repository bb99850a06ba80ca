/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arguments.h: what malleabled, the controller, is started with. One table makes its command line,
 * reads it, and describes it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "libmalleable/base/error.h"

/* Cgroups that the controller is put into at most, one per hierarchy. */
#define MAL_ARGUMENTS_CGROUPS 4
/* Strings on a command line at most, without the program's name and the NULL. */
#define MAL_ARGUMENTS_MAX 74

/* Texts are the caller's, or argv's; NULL: none. Descriptors: -1, none. */
struct mal_arguments {
	int segment_fd; /* the step's segment */
	int life_fd;	/* read end of a pipe; its other end's closing ends the controller */
	int report_fd;	/* pipe for the report */
	int start_fd;	/* socket for a descriptor of the new process: leave the parent */
	int listen_fd;	/* the controller's socket, listening */
	int site_fd;	/* room for the site's report (site_report.h) */
	int cgroup_fds[MAL_ARGUMENTS_CGROUPS]; /* cgroup.procs of these, open for writing */
	unsigned int cgroup_count;
	bool becomes_user; /* the caller is root; the controller becomes USER, GROUP */
	unsigned int user, group;
	const char *socket; /* path of listen_fd */
	const char *policy; /* as in --balance */
	const char *cpus;   /* of the step on this node, a list */
	const char *idle;   /* those of them that are idle ones of the job */
	const char *step, *node;
	const char *job_name;		    /* for the names of the user's files (file_name.h) */
	const char *array_job, *array_task; /* for them too */
	unsigned int node_number;	    /* of the step's nodes, from 0 */
	unsigned int node_files;	    /* 1: each node has a file of its own */
	const char *report_file;
	const char *trace_file;
	const char *allowed;   /* policies that may be set later, NULL: all */
	const char *libdir;    /* directory of loadable policies */
	const char *users_own; /* directory of the user's own policies, NULL: none */
	const char *off_file;  /* the administrator's off switch (off_file.h) */
	unsigned int nodes;    /* of the step, 0: it has one */
	unsigned int min_cpus; /* minimum of each rank, 0: one */
	unsigned int patience; /* the factor for all deadlines (base/patience.h), 0: one */
	unsigned int brief;    /* 1: the text of the report is the verdict alone */
	unsigned int layout;   /* MAL_SEGMENT_VERSION of whoever starts it, 0: not told */
};

/* In an initializer of struct mal_arguments: no descriptors. */
#define MAL_ARGUMENTS_NO_FDS \
	.segment_fd = -1, .life_fd = -1, .report_fd = -1, .start_fd = -1, .listen_fd = -1, \
	.site_fd = -1

struct mal_words {
	const char *words[MAL_ARGUMENTS_MAX + 2]; /* NULL ends them */
	unsigned int count;
};

/* A command line. It points into itself, and to the texts in what it was made of. */
struct mal_command_line {
	struct mal_words shown;	 /* from the program's name on */
	struct mal_words hidden; /* behind them, what others must not read (base/hidden.h) */
	char numbers[MAL_ARGUMENTS_MAX / 2][12];
	unsigned int number_count;
	int fds[MAL_ARGUMENTS_MAX / 2]; /* for MAL_SPAWN_FIRST_FD and following */
	unsigned int fd_count;
};

/*
 * Make LINE of ARGUMENTS for PROGRAM. Descriptors become those that mal_spawn() gives it. Thread
 * safe.
 */
void mal_arguments_format(const struct mal_arguments *arguments, const char *program,
			  struct mal_command_line *line);

/*
 * Read a command line into ARGUMENTS, which hold the defaults. Returns the index of the first word
 * that is no option; 0 for --help, -2 for --version, or -1 with ERR. Uses getopt_long(3): not
 * thread safe.
 */
int mal_arguments_parse(int argc, char **argv, struct mal_arguments *arguments,
			struct mal_error *err);

/* Print a line for each argument, as in a usage. */
void mal_arguments_print(FILE *out);
