/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay.c: malleable replay: predict what policies make of a recorded step.
 *
 * Invariant: bad input is one line, and ends with a status that is not 0 (t/t3003-replay.t).
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/base/json_number.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/loadable/loadable.h"
#include "libmalleable/trace/places.h"
#include "libmalleable/trace/trace.h"
#include "policies/decide/simulation.h"
#include "policies/interface/attained.h"
#include "policies/interface/choice.h"

#define POLICIES_MAX 16

/* A policy that runs over the trace. */
struct compared {
	const char *spec;
	struct mal_choice choice;
	struct mal_simulation *simulation;
	double *window_s; /* predicted, by window */
	/* predicted times, NaN: the model knows nothing of others that used the CPUs */
	struct mal_outcome outcome;
	double share;
};

struct arguments {
	const char *path;
	const char *libdir;    /* directory of loadable policies */
	const char *synthetic; /* topology */
	unsigned int cores;    /* 0: as recorded */
	struct compared policies[POLICIES_MAX];
	size_t policy_count;
	int phases, json; /* options: 0 or another number */
};

static const char usage[] =
	"[OPTIONS] TRACE\n"
	"\n"
	"Runs policies over a trace of srun --balance-trace, and prints the time that the\n"
	"step would have taken with each.\n"
	"\n"
	"  --policy=POLICY[,KEY=VALUE...]  may be given several times\n"
	"                                  (default: off, lewi, sabo and auto)\n"
	"  --cores=N                       on N CPUs, divided evenly, not on the trace's\n"
	"  --topology=SYNTHETIC            on this machine, such as\n"
	"                                  \"pack:2 numa:1 l3:8 core:3 pu:1\" (hwloc(7))\n"
	"  --phases                        print each window too\n"
	"  --json                          print JSON\n"
	"  --libdir=DIR                    where loadable policies are\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0; 1: the trace cannot be read; 2: wrong arguments.\n";

static const struct mal_tool tool = {.name = "malleable replay", .usage = usage};

static void add_policy(struct arguments *arguments, const char *spec)
{
	if (arguments->policy_count == POLICIES_MAX)
		mal_option_wrong(&tool, "more than %d policies", POLICIES_MAX);
	arguments->policies[arguments->policy_count++].spec = spec;
}

static void take(int option, struct arguments *arguments)
{
	switch (option) {
	case 'p': add_policy(arguments, optarg); break;
	case 'c':
		if (!mal_number_parse(optarg, 1, MAL_MAX_CPUS, &arguments->cores))
			mal_option_wrong(&tool, "--cores=%s: not a number from 1 to %u", optarg,
					 MAL_MAX_CPUS);
		break;
	case 't': arguments->synthetic = optarg; break;
	case 'L': arguments->libdir = optarg; break;
	}
}

static void parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	const struct option options[] = {
		{"policy", required_argument, NULL, 'p'},
		{"cores", required_argument, NULL, 'c'},
		{"topology", required_argument, NULL, 't'},
		{"phases", no_argument, &arguments->phases, 'P'},
		{"json", no_argument, &arguments->json, 'j'},
		{"libdir", required_argument, NULL, 'L'},
		MAL_OPTIONS_END,
	};
	int option;

	*arguments = (struct arguments){.libdir = MAL_LIBDIR};
	while ((option = mal_option(&tool, argc, argv, false, options)) != MAL_OPTION_END)
		take(option, arguments);
	if (argc - optind != 1)
		mal_option_wrong(&tool, "give one trace");
	arguments->path = argv[optind];
}

/* Find the policies, the usual ones where none was given; loadable ones are below the libdir. */
static void choose(struct arguments *arguments)
{
	static const char *const usual[] = {"off", "lewi", "sabo", "auto"};
	struct mal_error err;

	if (mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), &err) < 0)
		mal_option_wrong(&tool, "%s", err.text);
	if (!arguments->policy_count)
		for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			add_policy(arguments, usual[i]);
	for (size_t i = 0; i < arguments->policy_count; i++)
		if (mal_loadable_choose(arguments->policies[i].spec, arguments->libdir, NULL,
					&arguments->policies[i].choice, &err) < 0)
			mal_option_wrong(&tool, "%s", err.text);
}

/* Move the trace's ranks to other CPUs, in equal parts. */
static int change_machine(const struct arguments *arguments, struct mal_trace *trace,
			  struct mal_error *err)
{
	unsigned int cpus = arguments->cores;

	if (arguments->synthetic) {
		int count =
			mal_places_read(arguments->synthetic, NULL, 0, NULL, NULL, NULL, NULL, err);

		if (count < 0)
			return -1;
		cpus = cpus ? cpus : (unsigned int)count;
		if ((unsigned int)count < cpus || cpus > MAL_MAX_CPUS)
			return mal_fail(err, "the topology has %d CPU%s, not %u", count,
					mal_plural((unsigned int)count), cpus);
	}
	if (!cpus)
		return 0;
	if (cpus < trace->rank_count)
		return mal_fail(err, "%u ranks cannot share %u CPU%s", trace->rank_count, cpus,
				mal_plural(cpus));
	if (mal_trace_change_cpus(trace, cpus, err) < 0 ||
	    (arguments->synthetic &&
	     mal_places_read(arguments->synthetic, trace->cpu, cpus, NULL, trace->l3, trace->numa,
			     trace->package, err) < 0))
		return -1;
	return 0;
}

static int run(struct compared *compared, const struct mal_trace *trace, struct mal_error *err)
{
	struct mal_outcome *outcome = &compared->outcome;

	compared->simulation =
		mal_simulation_create(compared->choice.policy, compared->choice.values,
				      &trace->topology, trace->rank_count, trace->windows[0].owner);
	compared->window_s = calloc(trace->window_count, sizeof(double));
	if (!compared->simulation || !compared->window_s)
		return mal_fail(err, "out of memory");
	for (size_t i = 0; i < trace->window_count; i++)
		compared->window_s[i] = mal_simulation_window(
			compared->simulation, mal_trace_samples(trace, &trace->windows[i]));
	*outcome = *mal_simulation_outcome(compared->simulation);
	if (mal_others_are_many(trace->others))
		outcome->elapsed_s = outcome->off_s = outcome->ideal_s = NAN;
	compared->share = mal_attained(outcome->off_s, outcome->ideal_s, outcome->elapsed_s);
	return 0;
}

static double recorded_s(const struct mal_trace *trace)
{
	double sum = 0;

	for (size_t i = 0; i < trace->window_count; i++)
		sum += trace->windows[i].elapsed_s;
	return sum;
}

static void print_phases(const struct mal_trace *trace, const struct compared *policies,
			 size_t count)
{
	printf("%8s %12s", "window", "recorded s");
	for (size_t i = 0; i < count; i++)
		printf(" %12.12s", policies[i].spec);
	putchar('\n');
	for (size_t window = 0; window < trace->window_count; window++) {
		printf("%8zu %12.6f", window + 1, trace->windows[window].elapsed_s);
		for (size_t i = 0; i < count; i++)
			printf(" %12.6f", policies[i].window_s[window]);
		putchar('\n');
	}
	putchar('\n');
}

static void print_text(const struct mal_trace *trace, const struct compared *policies, size_t count)
{
	const struct mal_outcome *first = &policies[0].outcome;
	char others[MAL_OTHERS_TEXT];

	printf("step %s on %s, policy %s: %u rank%s, %u CPU%s, %zu window%s, %.3f s recorded%s\n",
	       trace->step, trace->node, trace->policy, trace->rank_count,
	       mal_plural(trace->rank_count), trace->topology.cpu_count,
	       mal_plural(trace->topology.cpu_count), trace->window_count,
	       mal_plural(trace->window_count), recorded_s(trace),
	       trace->cut ? " (its last line is not finished)" : "");
	if (mal_others_are_many(trace->others))
		printf("no estimate: %s: record it on a quiet node\n\n",
		       mal_others_format(trace->others, others));
	else
		printf("predicted: %.3f s unbalanced, at best %.3f s\n\n", first->off_s,
		       first->ideal_s);
	printf("%-32s %12s %12s %8s %8s\n", "policy", "predicted s", "to off", "attained", "moves");
	for (size_t i = 0; i < count; i++) {
		const struct mal_outcome *outcome = &policies[i].outcome;
		char predicted[32], to_off[32], share[32];

		printf("%-32s %12s %12s %8s %8lu\n", policies[i].spec,
		       mal_number_format(outcome->elapsed_s, 3, "", predicted),
		       mal_number_format(outcome->elapsed_s / outcome->off_s, 4, "", to_off),
		       mal_number_format(policies[i].share, 3, "", share), outcome->moves);
		if (outcome->rejection)
			printf("  rejected: %s\n", outcome->rejection);
	}
}

static int print_json(const struct mal_trace *trace, const struct compared *policies, size_t count,
		      bool phases)
{
	bool known = !mal_others_are_many(trace->others);
	char others[MAL_OTHERS_TEXT];
	json_t *list = json_array();
	json_t *root;
	int failed;

	for (size_t i = 0; i < count; i++) {
		const struct mal_outcome *outcome = &policies[i].outcome;
		json_t *windows = phases ? json_array() : NULL;

		for (size_t window = 0; windows && window < trace->window_count; window++)
			json_array_append_new(windows, json_real(policies[i].window_s[window]));
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:s?, s:o*}", "policy",
					policies[i].spec, "predicted_s",
					mal_json_number(outcome->elapsed_s), "unbalanced_s",
					mal_json_number(outcome->off_s), "ideal_s",
					mal_json_number(outcome->ideal_s), "share_of_attainable",
					mal_json_number(policies[i].share), "moves",
					(json_int_t)outcome->moves, "rejected", outcome->rejection,
					"windows_s", windows));
	}
	root = json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:f, s:s?, s:o}", "step", trace->step,
			 "node", trace->node, "policy", trace->policy, "ranks",
			 (int)trace->rank_count, "cpus", (int)trace->topology.cpu_count, "windows",
			 (json_int_t)trace->window_count, "recorded_s", recorded_s(trace),
			 "no_estimate", known ? NULL : mal_others_format(trace->others, others),
			 "policies", list);
	failed = !root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) < 0;
	putchar('\n');
	json_decref(root);
	return failed ? 1 : 0;
}

int mal_cmd_replay(int argc, char **argv)
{
	struct arguments arguments;
	struct compared *policies = arguments.policies;
	struct mal_trace trace = {0};
	struct mal_error err;
	int result;

	parse_arguments(argc, argv, &arguments);
	choose(&arguments);
	result = mal_trace_read(&trace, arguments.path, &err);
	if (result == 0)
		result = change_machine(&arguments, &trace, &err);
	for (size_t i = 0; result == 0 && i < arguments.policy_count; i++)
		result = run(&policies[i], &trace, &err);
	if (result < 0) {
		fprintf(stderr, "malleable replay: %s\n", err.text);
		result = 1;
	} else if (arguments.json) {
		result = print_json(&trace, policies, arguments.policy_count, arguments.phases);
	} else {
		if (arguments.phases)
			print_phases(&trace, policies, arguments.policy_count);
		print_text(&trace, policies, arguments.policy_count);
	}
	for (size_t i = 0; i < arguments.policy_count; i++) {
		mal_simulation_destroy(policies[i].simulation);
		free(policies[i].window_s);
	}
	mal_trace_destroy(&trace);
	return result;
}
