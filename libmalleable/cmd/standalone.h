/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * standalone.h: a controller that no plugin started, of the user's own, on one node.
 *
 * Its socket is in a directory of the user's own. Not thread safe.
 */
#pragma once

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"
#include "libmalleable/core/launch.h"
#include "libmalleable/core/rundir.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/core/setup.h"
#include "policies/interface/choice.h"

/* Size of a report, and its end. */
#define MAL_STANDALONE_TEXT 4096

/* What is to be started. */
struct mal_standalone_options {
	const struct mal_user_options *user_options;
	const struct mal_choice *choice;
	const char *libdir, *step, *job_name;
	const char *allowed;		/* policies that may be set later, NULL: all */
	const char *off_file;		/* the administrator's off switch, NULL: none */
	const struct mal_cpumask *cpus; /* that the ranks may ever use */
	const struct mal_cpumask *idle; /* those of them that they do not start with, NULL: none */
	unsigned int ranks;		/* most that may come */
	unsigned int nodes;		/* that ranks may be on, 0: this one alone */
};

struct mal_standalone {
	struct mal_launched launched;
	int segment_fd;
	/* Empty: none. The step is balanced then, but malleable status does not see it. */
	char socket[MAL_SOCKET_PATH];
};

/* Start it. Returns 0, or -1 with ERR. End it in both cases. */
int mal_standalone_start(struct mal_standalone *standalone,
			 const struct mal_standalone_options *how, struct mal_error *err);

/* What makes a program a rank of it, in an environment; HOME is left out. */
struct mal_setup mal_standalone_setup(const struct mal_standalone *standalone,
				      const struct mal_standalone_options *how);

/*
 * End it. TEXT, all 0 before, is its report. With COMPLAINS a controller that has none is said on
 * standard error.
 */
void mal_standalone_end(struct mal_standalone *standalone, bool complains,
			char text[MAL_STANDALONE_TEXT]);

/* Print the report TEXT for the user on standard error, without the record at its start. */
void mal_standalone_print(char *text);
