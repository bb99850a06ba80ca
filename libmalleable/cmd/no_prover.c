/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * no_prover.c: instead of prover/cmd, in a build without it: malleable inspect says so.
 *
 * Invariant: a build without the prover tells so (t/t0014-configure.t).
 */
#include <stdio.h>

#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/cmd.h"

static const char usage[] = "FILE...\n"
			    "\n"
			    "Reads no program: this malleable was built without the prover.\n";

static const struct mal_tool tool = {.name = "malleable inspect", .usage = usage};

int mal_cmd_inspect(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, MAL_OPTIONS_END};

	while (mal_option(&tool, argc, argv, false, options) != MAL_OPTION_END)
		;
	fputs("malleable inspect: built without the prover: build with it (configure "
	      "--with-prover)\n",
	      stderr);
	return 1;
}
