/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* generate.c: write the trace of a synthetic step (t/closed/synthetic.h), for malleable replay. */
#include <getopt.h>
#include <stdio.h>

#include "libmalleable/base/number.h"
#include "libmalleable/base/output.h"
#include "policies/interface/limits.h"
#include "t/closed/synthetic.h"

#define MAX_WINDOWS 1000000

static int usage(FILE *out, int status)
{
	fprintf(out,
		"Usage: generate [--ranks=N] [--cpus=N] [--windows=N] [--seed=N] KIND FILE\n"
		"Writes the trace of a synthetic step to FILE.\n"
		"  KIND       %s\n"
		"  --ranks    (default: 8)\n"
		"  --cpus     of each rank (default: 6)\n"
		"  --windows  (default: 400)\n"
		"  --seed     (default: 1)\n",
		mal_generate_kinds);
	return status;
}

/* Windows have no times. Returns 0, or -1 with ERR. */
static int save(const struct mal_trace *trace, const char *path, struct mal_error *err)
{
	FILE *file = mal_output_take(mal_output_named(path), path, "trace", err);
	struct mal_trace_writer *writer = file ? mal_trace_open(file, path, trace, err) : NULL;

	if (!writer)
		return -1;
	for (size_t i = 0; i < trace->window_count; i++) {
		const struct mal_trace_window *window = &trace->windows[i];

		mal_trace_write_window(writer, 0, window->elapsed_s,
				       mal_trace_samples(trace, window), window->owner,
				       trace->others, NULL, NULL, 0);
	}
	return mal_trace_close(writer, err);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"ranks", required_argument, NULL, 'r'},   {"cpus", required_argument, NULL, 'c'},
		{"windows", required_argument, NULL, 'w'}, {"seed", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},	   {0},
	};
	unsigned int ranks = 8, cpus = 6, windows = 400, seed = 1;
	struct mal_trace trace;
	struct mal_error err;
	int option, result;
	bool sound = true;

	while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
		switch (option) {
		case 'r': sound &= mal_number_parse(optarg, 1, MAL_MAX_RANKS, &ranks); break;
		case 'c': sound &= mal_number_parse(optarg, 1, MAL_MAX_CPUS, &cpus); break;
		case 'w': sound &= mal_number_parse(optarg, 1, MAX_WINDOWS, &windows); break;
		case 's': sound &= mal_number_parse(optarg, 1, UINT32_MAX, &seed); break;
		case 'h': return usage(stdout, 0);
		default: sound = false;
		}
	}
	if (!sound || argc - optind != 2 || ranks * cpus > MAL_MAX_CPUS)
		return usage(stderr, 2);
	result = mal_generate(&(struct mal_generation){argv[optind], ranks, cpus, windows, seed},
			      &trace, &err);
	if (result == 0)
		result = save(&trace, argv[optind + 1], &err);
	if (result < 0)
		fprintf(stderr, "generate: %s\n", err.text);
	mal_trace_destroy(&trace);
	return result < 0;
}
