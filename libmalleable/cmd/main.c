/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c: the malleable command: find and run the subcommand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/core/built.h"
#include "libmalleable/core/env.h"

/* report, convert and acct are tools of their own (contrib/python). Returns if there is none. */
static int run_tool(int argc, char **argv)
{
	char tool[32];

	(void)argc;
	snprintf(tool, sizeof(tool), "malleable-%s", argv[0]);
	execvp(tool, argv);
	mal_print_line(stderr, "malleable %s: %s does this, and cannot be run: pip install %s",
		       argv[0], tool, MAL_TOOLS);
	return 1;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"run", mal_cmd_run, "run a command balanced on this node, without Slurm"},
	{"status", mal_cmd_status, "balanced steps on this node, or of a job"},
	{"top", mal_cmd_top, "balanced steps on this node, live"},
	{"set", mal_cmd_set, "change a running step's CPUs, bounds or policy"},
	{"admin", mal_cmd_admin, "switch balancing off and on (root); check plugstack.conf"},
	{"replay", mal_cmd_replay, "what policies make of a recorded or a synthetic step"},
	{"report", run_tool, "a page for the browser from recorded steps (malleable-report)"},
	{"convert", run_tool, "recorded steps for other programs (malleable-convert)"},
	{"acct", run_tool, "what balancing saved on a site (malleable-acct)"},
	{"inspect", mal_cmd_inspect, "which parallel regions can tell how large their team is"},
	{"policies", mal_cmd_policies, "list the policies and their parameters"},
};

static void usage(FILE *out)
{
	fputs("Usage: malleable COMMAND [OPTIONS]\n\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\nmalleable help COMMAND tells more. --version prints the version and what it was "
	      "built with.\n",
	      out);
}

/* Returns the exit status of the command NAME. */
static int run(const char *name, int argc, char **argv)
{
	const char *patience = getenv(MAL_ENV_PATIENCE);

	if (!mal_patience_take(patience)) {
		mal_print_line(
			stderr,
			"malleable: %s=%.32s: a number from 1 to %d is wanted, see malleable(1)",
			MAL_ENV_PATIENCE, patience, MAL_PATIENCE_MAX);
		return 2;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].run(argc, argv);
	mal_print_line(stderr, "malleable: unknown %s '%s', see malleable --help",
		       *name == '-' ? "option" : "command", name);
	return 2;
}

/* malleable help [COMMAND] */
static int help(int argc, char **argv)
{
	char option[] = "--help", *arguments[] = {argv[1], option, NULL};

	if (argc > 2) {
		fputs("malleable help: give one command, see malleable --help\n", stderr);
		return 2;
	}
	if (argc == 2)
		return run(argv[1], 2, arguments);
	usage(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!*name) {
		usage(stderr);
		return 2;
	}
	if (strcmp(name, "help") == 0)
		return help(argc - 1, argv + 1);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		usage(stdout);
		return 0;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		puts("malleable " PACKAGE_VERSION);
		mal_built_print(stdout);
		return 0;
	}
	return run(name, argc - 1, argv + 1);
}
