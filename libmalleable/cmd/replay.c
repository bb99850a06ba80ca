/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay.c: malleable replay: predict what policies make of a recorded or a synthetic step. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/base/output.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/compare.h"
#include "libmalleable/cmd/generate.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/trace/places.h"
#include "libmalleable/trace/trace.h"

#define MAX_WINDOWS 1000000

struct arguments {
	const char *path;
	const char *output;
	const char *libdir;    /* directory of loadable policies */
	const char *synthetic; /* topology */
	unsigned int cores;    /* 0: as recorded */
	struct mal_generation generation;
	struct mal_comparison comparison;
	bool phases;
	bool json;
};

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: malleable replay [OPTIONS] TRACE\n"
		"       malleable replay [OPTIONS] --generate=KIND\n"
		"\n"
		"Runs policies over a trace of srun --balance-trace, or over a synthetic one, and\n"
		"prints the time that the step would have taken with each.\n"
		"\n"
		"  --policy=POLICY[,KEY=VALUE...]  may be given several times\n"
		"                                  (default: off, lewi, sabo and auto)\n"
		"  --cores=N                       on N CPUs, divided evenly, not on the trace's\n"
		"  --topology=SYNTHETIC            on this machine, such as\n"
		"                                  \"pack:2 numa:1 l3:8 core:3 pu:1\" (hwloc(7))\n"
		"  --phases                        print each window too\n"
		"  --json                          print JSON\n"
		"  --generate=KIND                 %s\n"
		"    --ranks=N --cpus=N            ranks, and CPUs of each (default: 8, 6)\n"
		"    --windows=N                   (default: 400)\n"
		"    --seed=N                      (default: 1)\n"
		"  --output=FILE                   write the trace to FILE too\n"
		"  --libdir=DIR                    where loadable policies are\n"
		"  --help, --version\n"
		"\n"
		"Exit status: 0; 1: the trace cannot be read or written; 2: wrong arguments.\n",
		mal_generate_kinds);
}

static const struct mal_tool tool = {"malleable replay", PACKAGE_VERSION, usage};

/* Parse a number from 1 to MAX into *VALUE. */
static int parse_count(const char *name, const char *text, unsigned int max, unsigned int *value)
{
	if (mal_number_parse(text, 1, max, value))
		return 0;
	return mal_option_wrong(&tool, "--%s=%s: not a number from 1 to %u", name, text, max);
}

/* Handle one option. Returns 0, or what mal_option() returns where there is no more to do. */
static int take(int option, struct arguments *arguments)
{
	struct mal_generation *generation = &arguments->generation;
	struct mal_error err;
	unsigned int seed;

	switch (option) {
	case 'p':
		if (mal_compare_add(&arguments->comparison, optarg, &err) < 0)
			return mal_option_wrong(&tool, "%s", err.text);
		return 0;
	case 'c': return parse_count("cores", optarg, MAL_MAX_CPUS, &arguments->cores);
	case 't': arguments->synthetic = optarg; return 0;
	case 'P': arguments->phases = true; return 0;
	case 'j': arguments->json = true; return 0;
	case 'g': generation->kind = optarg; return 0;
	case 'o': arguments->output = optarg; return 0;
	case 'r': return parse_count("ranks", optarg, MAL_MAX_RANKS, &generation->ranks);
	case 'C': return parse_count("cpus", optarg, MAL_MAX_CPUS, &generation->cpus);
	case 'w': return parse_count("windows", optarg, MAX_WINDOWS, &generation->windows);
	case 's':
		if (parse_count("seed", optarg, UINT32_MAX, &seed) < 0)
			return MAL_OPTION_WRONG;
		generation->seed = seed;
		return 0;
	case 'L': arguments->libdir = optarg; return 0;
	default: return option;
	}
}

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"policy", required_argument, NULL, 'p'},
		{"cores", required_argument, NULL, 'c'},
		{"topology", required_argument, NULL, 't'},
		{"phases", no_argument, NULL, 'P'},
		{"json", no_argument, NULL, 'j'},
		{"generate", required_argument, NULL, 'g'},
		{"ranks", required_argument, NULL, 'r'},
		{"cpus", required_argument, NULL, 'C'},
		{"windows", required_argument, NULL, 'w'},
		{"seed", required_argument, NULL, 's'},
		{"output", required_argument, NULL, 'o'},
		{"libdir", required_argument, NULL, 'L'},
		MAL_OPTIONS_END,
	};
	int option, result;

	*arguments = (struct arguments){.generation = {NULL, 8, 6, 400, 1}, .libdir = MAL_LIBDIR};
	while ((option = mal_option(&tool, argc, argv, "", options)) != MAL_OPTION_END)
		if ((result = take(option, arguments)) != 0)
			return result;
	if (argc - optind + (arguments->generation.kind != NULL) != 1)
		return mal_option_wrong(&tool, "give one trace, or --generate=KIND");
	if (arguments->generation.ranks * arguments->generation.cpus > MAL_MAX_CPUS)
		return mal_option_wrong(&tool, "more than %d CPUs in all", MAL_MAX_CPUS);
	arguments->path = argv[optind];
	if (arguments->path && arguments->output &&
	    mal_output_is(arguments->output, arguments->path))
		return mal_option_wrong(&tool, "--output=%s: it is read; name another file",
					arguments->output);
	return 0;
}

/* Move the trace's ranks to other CPUs, in equal parts. */
static int change_machine(const struct arguments *arguments, struct mal_trace *trace,
			  struct mal_error *err)
{
	unsigned int cpus = arguments->cores;

	if (arguments->synthetic) {
		unsigned int count = mal_places_count(arguments->synthetic, err);

		if (!count)
			return -1;
		cpus = cpus ? cpus : count;
		if (count < cpus || cpus > MAL_MAX_CPUS)
			return mal_fail(err, "the topology has %u CPU%s, not %u", count,
					mal_plural(count), cpus);
	}
	if (!cpus)
		return 0;
	if (cpus < trace->rank_count)
		return mal_fail(err, "%u ranks cannot share %u CPU%s", trace->rank_count, cpus,
				mal_plural(cpus));
	if (mal_trace_change_cpus(trace, cpus, err) < 0)
		return -1;
	if (!arguments->synthetic)
		return 0;
	return mal_places_read(arguments->synthetic, trace->cpu, cpus, NULL, trace->l3, trace->numa,
			       trace->package, err);
}

static int get_trace(const struct arguments *arguments, struct mal_trace *trace,
		     struct mal_error *err)
{
	struct mal_trace_writer *writer;
	FILE *file;

	if (arguments->generation.kind ? mal_generate(&arguments->generation, trace, err) < 0
				       : mal_trace_read(trace, arguments->path, err) < 0)
		return -1;
	if (change_machine(arguments, trace, err) < 0)
		return -1;
	if (!arguments->output)
		return 0;
	file = mal_output_open(arguments->output, "trace", err);
	writer = file ? mal_trace_open(file, arguments->output, trace, err) : NULL;
	if (!writer)
		return -1;
	for (size_t i = 0; i < trace->window_count; i++) {
		const struct mal_trace_window *window = &trace->windows[i];

		mal_trace_write_window(writer, 0, window->elapsed_s,
				       mal_trace_samples(trace, window), window->owner);
	}
	return mal_trace_close(writer, err);
}

static double recorded_s(const struct mal_trace *trace)
{
	double sum = 0;

	for (size_t i = 0; i < trace->window_count; i++)
		sum += trace->windows[i].elapsed_s;
	return sum;
}

static void print_phases(const struct mal_trace *trace, const struct mal_compared *contenders,
			 size_t count)
{
	printf("%8s %12s", "window", "recorded s");
	for (size_t i = 0; i < count; i++)
		printf(" %12.12s", contenders[i].spec);
	putchar('\n');
	for (size_t window = 0; window < trace->window_count; window++) {
		printf("%8zu %12.6f", window + 1, trace->windows[window].elapsed_s);
		for (size_t i = 0; i < count; i++)
			printf(" %12.6f", contenders[i].window_s[window]);
		putchar('\n');
	}
	putchar('\n');
}

static void print_text(const struct mal_trace *trace, const struct mal_compared *contenders,
		       size_t count)
{
	const struct mal_outcome *first = mal_simulation_outcome(contenders[0].simulation);

	printf("step %s on %s, policy %s: %u rank%s, %u CPU%s, %zu window%s, %.3f s recorded%s\n",
	       trace->step, trace->node, trace->policy, trace->rank_count,
	       mal_plural(trace->rank_count), trace->topology.cpu_count,
	       mal_plural(trace->topology.cpu_count), trace->window_count,
	       mal_plural(trace->window_count), recorded_s(trace),
	       trace->cut ? " (its last line is not finished)" : "");
	printf("predicted: %.3f s unbalanced, at best %.3f s\n\n", first->off_s, first->ideal_s);
	printf("%-32s %12s %12s %8s %8s\n", "policy", "predicted s", "to off", "attained", "moves");
	for (size_t i = 0; i < count; i++) {
		const struct mal_outcome *outcome =
			mal_simulation_outcome(contenders[i].simulation);
		char to_off[32], share[32];

		printf("%-32s %12.3f %12s %8s %8lu\n", contenders[i].spec, outcome->elapsed_s,
		       mal_compare_number(outcome->elapsed_s / outcome->off_s, 4, to_off,
					  sizeof(to_off)),
		       mal_compare_number(mal_outcome_attained(outcome), 3, share, sizeof(share)),
		       outcome->moves);
		if (outcome->rejection)
			printf("  rejected: %s\n", outcome->rejection);
	}
}

static int print_json(const struct mal_trace *trace, const struct mal_compared *contenders,
		      size_t count, bool phases)
{
	json_t *policies = json_array();
	json_t *root;
	int failed;

	for (size_t i = 0; i < count; i++) {
		const struct mal_outcome *outcome =
			mal_simulation_outcome(contenders[i].simulation);
		double share = mal_outcome_attained(outcome);
		json_t *policy = json_pack(
			"{s:s, s:f, s:f, s:f, s:o, s:I, s:s?}", "policy", contenders[i].spec,
			"predicted_s", outcome->elapsed_s, "unbalanced_s", outcome->off_s,
			"ideal_s", outcome->ideal_s, "share_of_attainable",
			isnan(share) ? json_null() : json_real(share), "moves",
			(json_int_t)outcome->moves, "rejected", outcome->rejection);
		json_t *windows = json_array();

		for (size_t window = 0; phases && window < trace->window_count; window++)
			json_array_append_new(windows, json_real(contenders[i].window_s[window]));
		if (phases)
			json_object_set(policy, "windows_s", windows);
		json_decref(windows);
		json_array_append_new(policies, policy);
	}
	root = json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:f, s:o}", "step", trace->step, "node",
			 trace->node, "policy", trace->policy, "ranks", (int)trace->rank_count,
			 "cpus", (int)trace->topology.cpu_count, "windows",
			 (json_int_t)trace->window_count, "recorded_s", recorded_s(trace),
			 "policies", policies);
	failed = !root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) < 0;
	putchar('\n');
	json_decref(root);
	return failed ? 1 : 0;
}

int mal_cmd_replay(int argc, char **argv)
{
	struct arguments arguments;
	struct mal_comparison *comparison = &arguments.comparison;
	struct mal_trace trace = {0};
	struct mal_error err;
	int result = parse_arguments(argc, argv, &arguments);

	if (result)
		return result > 0 ? 0 : 2;
	if (mal_compare_choose(comparison, arguments.libdir, &err) < 0) {
		mal_option_wrong(&tool, "%s", err.text);
		return 2;
	}
	result = get_trace(&arguments, &trace, &err);
	if (result == 0)
		result = mal_compare_run(comparison, &trace, &err);
	if (result < 0) {
		fprintf(stderr, "malleable replay: %s\n", err.text);
		result = 1;
	} else if (arguments.json) {
		result = print_json(&trace, comparison->list, comparison->count, arguments.phases);
	} else {
		if (arguments.phases)
			print_phases(&trace, comparison->list, comparison->count);
		print_text(&trace, comparison->list, comparison->count);
	}
	mal_compare_clear(comparison);
	mal_trace_destroy(&trace);
	return result;
}
