/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* closed.h: malleable replay --closed: policies against a made-up program, in a closed loop. */
#ifndef MAL_CMD_CLOSED_H
#define MAL_CMD_CLOSED_H

#include <stdint.h>
#include <stdio.h>

#include "policies/interface/choice.h"

struct mal_closed_wanted {
	const char *load;     /* LOAD[,NAME=NUMBER...] */
	const char *topology; /* synthetic; NULL: two sockets */
	unsigned int ranks, cpus;
	uint64_t seed;
	bool json;
};

/* Print the names of the loads, and of their parameters. */
void mal_closed_help(FILE *out);

/* Run COUNT policies, and print what time each takes. Returns the exit status of the command. */
int mal_closed_compare(const struct mal_closed_wanted *wanted, const char *const *specs,
		       const struct mal_choice *choices, size_t count);

#endif
