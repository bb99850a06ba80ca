/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c: the malleable command: find and run the subcommand. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/core/built.h"
#include "libmalleable/core/env.h"

/* Where PATH has no malleable, or no tool, those beside this program are found, by tools too. */
static void add_own_directory(void)
{
	const char *list = getenv("PATH");
	char own[PATH_MAX], path[2 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		return;
	*slash = '\0';
	if (snprintf(path, sizeof(path), "%s%s%s", list ? list : "", list && *list ? ":" : "",
		     own) < (int)sizeof(path))
		setenv("PATH", path, 1);
}

/* Find the tool for COMMAND in PATH. */
static bool find_tool(const char *command, char tool[PATH_MAX])
{
	const char *list = getenv("PATH");

	for (size_t length; list && *list; list += length + (list[length] == ':')) {
		length = strcspn(list, ":");
		if (snprintf(tool, PATH_MAX, "%.*s/malleable-%s", (int)length, list, command) <
			    PATH_MAX &&
		    access(tool, X_OK) == 0)
			return true;
	}
	return false;
}

/*
 * Python takes no code from where the environment or the home of who runs it says: root may, with a
 * user's. The home has packages for a tool that is there itself (pip install --user).
 */
static void isolate_python(const char *tool)
{
	const char *home = getenv("HOME");
	size_t kept = 0, length = home ? strlen(home) : 0;

	for (char **each = environ; *each; each++)
		if (strncmp(*each, "PYTHON", strlen("PYTHON")) != 0)
			environ[kept++] = *each;
	environ[kept] = NULL;
	setenv("PYTHONSAFEPATH", "1", 1);
	if (length < 2 || strncmp(tool, home, length) != 0 || tool[length] != '/')
		setenv("PYTHONNOUSERSITE", "1", 1);
}

/* report, convert and acct are tools of their own (contrib/python). Returns if there is none. */
static int run_tool(int argc, char **argv)
{
	char tool[PATH_MAX];

	(void)argc;
	add_own_directory();
	if (find_tool(argv[0], tool)) {
		isolate_python(tool);
		execv(tool, argv);
	}
	mal_print_line(stderr,
		       "malleable %s: malleable-%s does this, and cannot be run: pip install %s",
		       argv[0], argv[0], MAL_TOOLS);
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
	{"offer", mal_cmd_offer, "lend a rank's CPUs while a command runs"},
	{"events", mal_cmd_events, "what happens in a running step"},
	{"admin", mal_cmd_admin, "switch balancing off and on (root); check plugstack.conf"},
	{"replay", mal_cmd_replay, "predict how other policies run a recorded step"},
	{"report", run_tool, "a page for the browser from recorded steps (malleable-report)"},
	{"convert", run_tool, "recorded steps for other programs (malleable-convert)"},
	{"acct", run_tool, "what balancing saved on a site (malleable-acct)"},
	{"try", run_tool, "which number of ranks is best for a program (malleable-try)"},
	{"inspect", mal_cmd_inspect, "which parallel regions depend on the size of their team"},
	{"policies", mal_cmd_policies, "list the policies and their parameters"},
};

static void usage(FILE *out)
{
	bool missing = false;
	char tool[PATH_MAX];

	add_own_directory();
	fputs("Usage: malleable COMMAND [OPTIONS]\n\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].run == run_tool && !find_tool(commands[i].name, tool))
			missing = true;
		else
			fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	if (missing)
		fprintf(out,
			"\nThe tools for analysts (report, convert, acct, try): pip install "
			"%s\n",
			MAL_TOOLS);
	fputs("\nmalleable help COMMAND tells more. --version prints the version and what it was "
	      "built with.\n",
	      out);
}

/* Root may have them from a user's shell (su): they name code to load. */
static void forget_variables(void)
{
	static const char *const names[] = {"HWLOC_PLUGINS_PATH", "HWLOC_COMPONENTS"};

	for (size_t i = 0; geteuid() == 0 && i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

/* Returns the exit status of the command NAME. */
static int run(const char *name, int argc, char **argv)
{
	const char *patience = getenv(MAL_ENV_PATIENCE);

	forget_variables();
	if (!mal_patience_take(patience)) {
		mal_print_line(
			stderr,
			"malleable: %s=%.32s: must be a number from 1 to %d, see malleable(1)",
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

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	bool help = strcmp(name, "help") == 0;
	char option[] = "--help", *of_command[] = {argc > 2 ? argv[2] : NULL, option, NULL};

	if (!*name) {
		usage(stderr);
		return 2;
	}
	if (help && argc > 3) {
		fputs("malleable help: give one command, see malleable --help\n", stderr);
		return 2;
	}
	if (help && argc == 3)
		return run(argv[2], 2, of_command);
	if (help || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
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
