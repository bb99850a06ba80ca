/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.c: malleable run: the controller and the library without Slurm, on one node.
 *
 * Invariant: the command's status and output are as without us (t/t2003-run.t).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/command.h"
#include "libmalleable/cmd/standalone.h"
#include "libmalleable/core/outcome.h"
#include "libmalleable/core/report_wish.h"
#include "libmalleable/core/script.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/core/setup.h"
#include "libmalleable/loadable/list.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/choice.h"

/* What mal_option() returns for the settings, and how many there are at most. */
#define FIRST_SETTING 256
#define SETTINGS_MAX 8
/* The exit status if the command cannot be balanced. */
#define NOT_SET_UP 125

struct arguments {
	struct mal_user_options user_options;
	const char *libdir;
	const char *home;
	unsigned int ranks; /* 0: a launcher numbers them */
};

static void print_options(void)
{
	mal_settings_print(stdout, MAL_SETTING_OPTION);
	fputs("  --home=LIST                       the CPUs that the ranks start with; this\n"
	      "                                    process's other CPUs are idle ones that\n"
	      "                                    they may get\n"
	      "  --ranks=N                         processes that COMMAND starts without a\n"
	      "                                    launcher are ranks, N at once, with equal\n"
	      "                                    parts of the CPUs\n"
	      "  --libdir=DIR                      where the controller and the libraries are\n"
	      "  --help, --version\n"
	      "\n"
	      "The exit status is that of COMMAND; 2: wrong arguments; 125: balancing could\n"
	      "not be set up; 126, 127: COMMAND could not be run.\n",
	      stdout);
}

static const char usage[] =
	"[OPTIONS] [--] COMMAND...\n"
	"\n"
	"Runs a command, such as mpirun -n 4 ./app, and balances the cores of its ranks\n"
	"on this node. For machines without Slurm, or without the plugin in Slurm.\n"
	"\n";

static const struct mal_tool tool = {
	.name = "malleable run", .usage = usage, .more = print_options};

/* VALUE NULL: the option has none. */
static void take(struct arguments *arguments, const struct mal_setting *setting, const char *value)
{
	struct mal_error err;

	if (mal_setting_set(setting, &arguments->user_options, value ? value : "", &err) < 0)
		mal_option_wrong(&tool, "--%s: %s", setting->name, err.text);
}

/* Options of the table of settings, and those that only this command has. */
static void list_options(struct option *options)
{
	static const struct option own[] = {
		{"libdir", required_argument, NULL, 'L'},
		{"home", required_argument, NULL, 'H'},
		{"ranks", required_argument, NULL, 'R'},
		MAL_OPTIONS_END,
	};
	const struct mal_setting *setting;
	size_t count = 0;

	for (int i = 0; (setting = mal_setting_at(MAL_SETTING_OPTION, (size_t)i)); i++)
		if (count < SETTINGS_MAX)
			options[count++] = (struct option){
				setting->name,
				setting->value[0] == '[' ? optional_argument : required_argument,
				NULL, FIRST_SETTING + i};
	memcpy(options + count, own, sizeof(own));
}

static void parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	struct option options[SETTINGS_MAX + 6];
	const struct mal_setting *setting;
	struct mal_error err;
	int option;

	*arguments = (struct arguments){.libdir = MAL_LIBDIR};
	for (size_t i = 0; (setting = mal_setting_at(MAL_SETTING_OPTION, i)); i++)
		take(arguments, setting, getenv(setting->variable));
	if (mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), &err) < 0)
		mal_option_wrong(&tool, "%s", err.text);
	list_options(options);
	while ((option = mal_option(&tool, argc, argv, true, options)) != MAL_OPTION_END) {
		switch (option) {
		case 'L': arguments->libdir = optarg; break;
		case 'H': arguments->home = optarg; break;
		case 'R':
			if (!mal_number_parse(optarg, 1, MAL_MAX_RANKS, &arguments->ranks))
				mal_option_wrong(&tool, "--ranks=%s: must be from 1 to %d", optarg,
						 MAL_MAX_RANKS);
			break;
		default:
			setting = mal_setting_at(MAL_SETTING_OPTION,
						 (size_t)(option - FIRST_SETTING));
			take(arguments, setting, optarg);
		}
	}
	if (strcmp(arguments->user_options.spec, "help") == 0) {
		mal_policies_print(stdout, arguments->libdir);
		exit(0);
	}
	if (optind == argc)
		mal_option_wrong(&tool, "give a command");
	/* The command may change its directory, and then could load nothing from there. */
	if (*arguments->libdir != '/')
		mal_option_wrong(&tool, "--libdir=%s: must be an absolute path", arguments->libdir);
}

/* Divide CPUS into HOME, those in LIST, and IDLE, the others. */
static int read_home(const char *list, const struct mal_cpumask *cpus, struct mal_cpumask *home,
		     struct mal_cpumask *idle, struct mal_error *err)
{
	if (mal_cpumask_parse(list, home, err) < 0)
		return -1;
	mal_cpumask_intersect(home, cpus);
	*idle = *cpus;
	mal_cpumask_drop(idle, home);
	return mal_cpumask_count(home)
		       ? 0
		       : mal_fail(err, "--home=%.64s: this process has none of these CPUs", list);
}

static int start(const struct arguments *arguments, const struct mal_choice *choice,
		 const char *command, struct mal_standalone *standalone, struct mal_error *err)
{
	const char *slash = strrchr(command, '/');
	struct mal_cpumask cpus, home, idle;
	struct mal_standalone_options how = {
		.user_options = &arguments->user_options,
		.choice = choice,
		.libdir = arguments->libdir,
		.step = command,
		.job_name = slash ? slash + 1 : command,
		.cpus = &cpus,
	};
	struct mal_setup setup;

	if (mal_cpumask_get_affinity(0, &cpus) < 0)
		return mal_fail_errno(err, "cannot read this process's CPUs");
	how.ranks = arguments->ranks ? arguments->ranks : mal_cpumask_count(&cpus);
	if (arguments->home) {
		if (read_home(arguments->home, &cpus, &home, &idle, err) < 0)
			return -1;
		how.idle = &idle;
	}
	if (mal_standalone_start(standalone, &how, err) < 0)
		return -1;
	setup = mal_standalone_setup(standalone, &how);
	setup.ranks = arguments->ranks;
	if (arguments->home)
		setup.home = &home;
	return mal_setup_apply(&setup, &mal_setup_own, err);
}

int mal_cmd_run(int argc, char **argv)
{
	struct mal_standalone standalone = {.launched = MAL_LAUNCHED_NONE, .segment_fd = -1};
	struct arguments arguments;
	struct mal_choice choice;
	struct mal_error err;
	char text[MAL_STANDALONE_TEXT] = {0};
	int result;

	parse_arguments(argc, argv, &arguments);
	mal_script_tell();
	if (mal_loadable_choose(arguments.user_options.spec, arguments.libdir, NULL, &choice,
				&err) < 0)
		mal_option_wrong(&tool, "--balance: %s", err.text);
	if (choice.keys.grow_job)
		mal_option_wrong(&tool, "grow=job and pool=job are for steps of Slurm: use srun");
	if (!choice.policy->decide)
		return mal_command_run(tool.name, argv + optind, -1, NOT_SET_UP);
	if (start(&arguments, &choice, argv[optind], &standalone, &err) < 0) {
		fprintf(stderr, "balance: %s\n", err.text);
		mal_standalone_end(&standalone, false, text);
		return NOT_SET_UP;
	}
	result = mal_command_run(tool.name, argv + optind, standalone.segment_fd, NOT_SET_UP);
	mal_standalone_end(&standalone, true, text);
	/* A command that failed has said so: that no rank connected is no news then. */
	if (mal_report_wish(arguments.user_options.report) != MAL_REPORT_OFF &&
	    (result == 0 || !mal_outcome_is_nothing(text)))
		mal_standalone_print(text);
	return result;
}
