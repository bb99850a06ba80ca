/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policies.c: malleable policies: list the policies and their parameters.
 *
 * Invariant: each policy that srun takes is listed (t/t1003-loadable.t).
 */
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/loadable/list.h"
#include "libmalleable/loadable/loadable.h"

static const char usage[] = "[--libdir=DIRECTORY]\n"
			    "\n"
			    "Lists the policies for --balance and their parameters.\n"
			    "\n"
			    "  --libdir=DIRECTORY   those in DIRECTORY/policies too\n"
			    "  $" MAL_LOADABLE_VARIABLE "  a directory with policies of your own\n"
			    "  --help, --version\n";

static const struct mal_tool tool = {.name = "malleable policies", .usage = usage};

int mal_cmd_policies(int argc, char **argv)
{
	static const struct option options[] = {
		{"libdir", required_argument, NULL, 'L'},
		MAL_OPTIONS_END,
	};
	const char *directory = MAL_LIBDIR;
	struct mal_error err;

	while (mal_option(&tool, argc, argv, false, options) != MAL_OPTION_END)
		directory = optarg;
	if (optind < argc)
		mal_option_wrong(&tool, "unexpected argument %s", argv[optind]);
	if (mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), &err) < 0)
		mal_option_wrong(&tool, "%s", err.text);
	mal_policies_print(stdout, directory);
	return 0;
}
