/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * main.c: malleabled, the malleability controller of one step on one node.
 *
 * Invariant: Bad arguments end the program with status 2 before anything is opened
 * (t/unit/test_malleabled.c: arguments_are_checked).
 */
#include <stdio.h>

#include "libmalleable/base/confine.h"
#include "libmalleable/base/hidden.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/controller/detach.h"
#include "libmalleable/controller/step.h"
#include "libmalleable/controller/step_report.h"
#include "libmalleable/core/arguments.h"
#include "libmalleable/loadable/loadable.h"

static void usage(FILE *out)
{
	fputs("Usage: malleabled --segment-fd N --life-fd N --cpus LIST [OPTIONS]\n"
	      "\n"
	      "The malleability controller of one job step on one node. The balance plugin of\n"
	      "Slurm and `malleable run` start it; it is of no use by itself.\n"
	      "\n",
	      out);
	mal_arguments_print(out);
	fputs("  --help, --version\n", out);
}

/* Returns 0 to go on, 1 to end well, -1 on bad arguments. */
static int parse_arguments(int argc, char **argv, struct mal_arguments *arguments)
{
	struct mal_error err;
	int next;

	*arguments = (struct mal_arguments){
		MAL_ARGUMENTS_NO_FDS, .policy = "", .step = "?", .node = "?", .libdir = MAL_LIBDIR,
	};
	next = mal_arguments_parse(argc, argv, arguments, &err);
	if (next == 0)
		usage(stdout);
	if (next == -2)
		puts("malleabled " PACKAGE_VERSION);
	if (next == 0 || next == -2)
		return 1;
	if (next > 0 && (arguments->segment_fd < 0 || arguments->life_fd < 0 || !arguments->cpus ||
			 next < argc))
		next = mal_fail(&err, "--segment-fd, --life-fd and --cpus are needed, and nothing "
				      "beside options");
	if (next < 0)
		fprintf(stderr, "malleabled: %s, see malleabled --help\n", err.text);
	return next < 0 ? -1 : 0;
}

/* Run the step that ARGUMENTS describe up to its end. */
static int run(const struct mal_arguments *arguments, struct mal_error *err)
{
	/* Other threads look at these, and into the segment, for as long as this process lives. */
	static struct mal_controller controller;
	static struct mal_step_facts step;
	int result = mal_step_open(&step, arguments, err);

	if (result == 0)
		result = mal_controller_start(&controller, &step, err);
	if (result == 0) {
		mal_controller_serve(&controller);
		mal_ending_report(&controller);
	}
	mal_controller_close(&controller);
	return result;
}

int main(int argc, char **argv)
{
	struct mal_arguments arguments;
	struct mal_error err = {""};
	int result;

	mal_hidden_take(&argc, &argv);
	result = parse_arguments(argc, argv, &arguments);
	if (result)
		return result > 0 ? 0 : 2;
	mal_ignore_signals();
	mal_patience_set(arguments.patience);
	if (arguments.start_fd >= 0 && mal_detach(&arguments, &err) < 0) {
		fprintf(stderr, "malleabled: %s\n", err.text);
		return 1;
	}
	mal_wake_at_end(arguments.life_fd);
	/* Policies that the site adds after this are for steps that start later. */
	mal_confine(arguments.users_own || mal_loadable_has_any(arguments.libdir));
	if (run(&arguments, &err) == 0)
		return 0;
	mal_ending_fail(arguments.report_fd, &err);
	fprintf(stderr, "malleabled: %s\n", err.text);
	return 1;
}
