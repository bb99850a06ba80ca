/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launcher_table.h: what is known of launchers such as mpirun: one table. A new launcher is a row
 * (CONTRIBUTING.md).
 *
 * Invariant: the rows alone tell launchers apart; a rank belongs to the first of them whose
 * variable is set (t/unit/test_core.c: launchers_of_the_table).
 */
#pragma once

#include <stdbool.h>

/* What a launcher tells each rank, in a variable. */
enum mal_launcher_fact {
	MAL_LAUNCHER_RANK,	 /* among all ranks, from 0 */
	MAL_LAUNCHER_LOCAL_RANK, /* among those of the node */
	MAL_LAUNCHER_SIZE,	 /* number of all ranks */
	MAL_LAUNCHER_LOCAL_SIZE, /* of those of the node */
	MAL_LAUNCHER_PATH,	 /* directories where it looked for the program */
	MAL_LAUNCHER_DIRECTORY,	 /* its own, of this user */
	MAL_LAUNCHER_JOB,	 /* name of the ranks that it started together */
	MAL_LAUNCHER_FACTS
};

struct mal_launcher {
	const char *name; /* NULL: behind the last one */
	/* Programs that fork its ranks on other nodes, in a step of one task a node. */
	const char *daemons[3];
	/*
	 * The variable that names what it starts in front of each rank. It then forks ranks on its
	 * own node without a daemon.
	 */
	const char *agent;
	const char *facts[MAL_LAUNCHER_FACTS];
};

extern const struct mal_launcher mal_launchers[];

/* The launcher with daemon PROGRAM, a path; NULL: none. */
const struct mal_launcher *mal_launcher_of_daemon(const char *program);

/*
 * The value of FACT that a launcher left in VARIABLES; NULL: none. Calls no function of libc's:
 * rank/program/sanitizer.c may not.
 */
const char *mal_launcher_value(char *const *variables, enum mal_launcher_fact fact);

/*
 * Whether VARIABLES, an environment, which may be NULL, are those of a step's first rank, which
 * prints what is the same in all of them, or of a program that no launcher started. Calls none
 * either.
 */
bool mal_is_first(char *const *variables);

/* The same, for the first one that is a number up to MAX. */
bool mal_launcher_number(char *const *variables, enum mal_launcher_fact fact, unsigned int max,
			 unsigned int *number);
