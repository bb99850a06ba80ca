/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* generate.c: write the trace of a synthetic step (t/closed/synthetic.h), for malleable replay. */
#include <getopt.h>
#include <stdio.h>

#include "libmalleable/base/number.h"
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
		result = mal_trace_save(&trace, argv[optind + 1], &err);
	if (result < 0)
		fprintf(stderr, "generate: %s\n", err.text);
	mal_trace_destroy(&trace);
	return result < 0;
}
