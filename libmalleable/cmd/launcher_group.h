/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launcher_group.h: give the ranks that one launcher forks on this node a controller.
 *
 * The first of them starts a process, the group's leader, to which all of them connect before their
 * program is executed. When as many as the launcher starts have come, it starts the controller and
 * gives each the segment. When all of them have ended it ends the controller and prints the report.
 * It holds the standard error of the rank that started it, which is a pipe of the launcher's: so
 * the launcher ends behind the report.
 */
#pragma once

#include "libmalleable/base/cpumask.h"
#include "libmalleable/cmd/rendezvous.h"
#include "libmalleable/core/rundir.h"
#include "libmalleable/core/settings.h"
#include "policies/interface/choice.h"

struct mal_launcher_group {
	struct mal_user_options user_options;
	struct mal_choice choice;
	const char *libdir;
	struct mal_rendezvous rendezvous;
	int listening;		 /* there, -1: another process does */
	char name[16];		 /* the launcher's program */
	struct mal_cpumask cpus; /* the launcher's */
	bool quiet;		 /* nobody asked for balancing: nothing is printed */
	unsigned int nodes;	 /* that it may start ranks on, 0: this one alone */
};

/* What a rank sends, with a pidfd of itself. */
struct mal_launcher_group_request {
	struct mal_cpumask cpus; /* its own */
	unsigned int expected;	 /* ranks that the launcher starts here, 0: unknown */
};

/* What it gets, with the segment's descriptor; without one it is not balanced. */
struct mal_launcher_group_answer {
	struct mal_cpumask cpus;
	char socket[MAL_SOCKET_PATH]; /* the controller's, empty: none */
};

/* Lead the group of ranks that come to the rendezvous, until all have ended. */
void mal_launcher_group_run(const struct mal_launcher_group *group);
