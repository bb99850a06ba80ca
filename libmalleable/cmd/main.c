/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c: the malleable command: find and run the subcommand. */
#include <stdio.h>
#include <string.h>

#include "libmalleable/cmd/cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"run", mal_cmd_run, "run a command balanced on this node, without Slurm"},
	{"status", mal_cmd_status, "balanced steps on this node, or of a job"},
	{"top", mal_cmd_top, "balanced steps on this node, live"},
	{"set", mal_cmd_set, "change a running step's CPUs, bounds or policy"},
	{"admin", mal_cmd_admin, "switch balancing off and on, on this node (root)"},
	{"replay", mal_cmd_replay, "what policies make of a recorded or a synthetic step"},
	{"inspect", mal_cmd_inspect, "which parallel regions can tell how large their team is"},
	{"policies", mal_cmd_policies, "list the policies and their parameters"},
};

static void usage(FILE *out)
{
	fputs("Usage: malleable COMMAND [OPTIONS]\n\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\nmalleable COMMAND --help tells more. --version prints the version.\n", out);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		usage(stdout);
		return 0;
	}
	if (strcmp(name, "--version") == 0) {
		puts("malleable " PACKAGE_VERSION);
		return 0;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	if (*name)
		fprintf(stderr, "malleable: unknown command '%s', see malleable --help\n", name);
	else
		usage(stderr);
	return 2;
}
