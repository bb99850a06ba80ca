/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* closed.c: malleable replay --closed: policies against a made-up program, in a closed loop. */
#include "libmalleable/cmd/closed.h"

#include <jansson.h>
#include <stdlib.h>

#include "libmalleable/trace/places.h"
#include "policies/decide/closed.h"

void mal_closed_help(FILE *out)
{
	const char *name, *help;

	fprintf(out, "\nLoads of --closed: %s.\nTheir parameters:\n", mal_program_names);
	for (size_t i = 0; (help = mal_program_help(i, &name)); i++)
		fprintf(out, "  %-10s %s\n", name, help);
}

/* Put the program on WANTED's machine. */
static int place(const struct mal_closed_wanted *wanted, const struct mal_program *program,
		 struct mal_closed_places *places, struct mal_error *err)
{
	unsigned int cpus = wanted->ranks * wanted->cpus, there, number[MAL_MAX_CPUS];

	mal_closed_place(program, places);
	if (!wanted->topology)
		return 0;
	there = mal_places_count(wanted->topology, err);
	if (!there)
		return -1;
	if (there < cpus)
		return mal_fail(err, "the topology has %u CPUs, not %u", there, cpus);
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		number[cpu] = cpu;
	places->topology.package = places->package;
	return mal_places_read(wanted->topology, number, cpus, NULL, places->l3, places->numa,
			       places->package, err);
}

static void print_text(const struct mal_closed_wanted *wanted, const struct mal_closed *closed,
		       const char *const *specs, size_t count)
{
	printf("%s, seed %llu: %u ranks, %u CPUs, %.0f phases\n", wanted->load,
	       (unsigned long long)wanted->seed, wanted->ranks, wanted->ranks * wanted->cpus,
	       closed[0].phases);
	printf("off: %.3f s, attainable: %.3f s\n\n", closed[0].off_s, closed[0].ideal_s);
	printf("%-32s %12s %12s %8s %8s\n", "policy", "s", "to off", "windows", "moves");
	for (size_t i = 0; i < count; i++) {
		printf("%-32s %12.3f %12.4f %8u %8lu\n", specs[i], closed[i].elapsed_s,
		       closed[i].elapsed_s / closed[i].off_s, closed[i].windows, closed[i].moves);
		if (closed[i].rejection)
			printf("  rejected: %s\n", closed[i].rejection);
	}
}

static int print_json(const struct mal_closed_wanted *wanted, const struct mal_closed *closed,
		      const char *const *specs, size_t count)
{
	json_t *policies = json_array(), *root;
	int failed;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			policies,
			json_pack("{s:s, s:f, s:i, s:I, s:s?}", "policy", specs[i], "elapsed_s",
				  closed[i].elapsed_s, "windows", (int)closed[i].windows, "moves",
				  (json_int_t)closed[i].moves, "rejected", closed[i].rejection));
	root = json_pack("{s:s, s:I, s:i, s:i, s:f, s:f, s:f, s:o}", "load", wanted->load, "seed",
			 (json_int_t)wanted->seed, "ranks", (int)wanted->ranks, "cpus",
			 (int)(wanted->ranks * wanted->cpus), "phases", closed[0].phases, "off_s",
			 closed[0].off_s, "attainable_s", closed[0].ideal_s, "policies", policies);
	failed = !root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) < 0;
	putchar('\n');
	json_decref(root);
	return failed ? 1 : 0;
}

static int run(const struct mal_closed_wanted *wanted, struct mal_program *program,
	       struct mal_closed_places *places, const struct mal_choice *choices, size_t count,
	       struct mal_closed *closed)
{
	struct mal_error err;

	if (mal_program_read(wanted->load, wanted->ranks, wanted->cpus, wanted->seed, program,
			     &err) < 0 ||
	    place(wanted, program, places, &err) < 0) {
		fprintf(stderr, "malleable replay: %s\n", err.text);
		return 2;
	}
	for (size_t i = 0; i < count; i++)
		if (mal_closed_run(choices[i].policy, choices[i].values, program, &places->topology,
				   NULL, NULL, &closed[i], &err) < 0) {
			fprintf(stderr, "malleable replay: %s\n", err.text);
			return 1;
		}
	return 0;
}

int mal_closed_compare(const struct mal_closed_wanted *wanted, const char *const *specs,
		       const struct mal_choice *choices, size_t count)
{
	struct mal_program *program = calloc(1, sizeof(*program));
	struct mal_closed_places *places = calloc(1, sizeof(*places));
	struct mal_closed *closed = calloc(count, sizeof(*closed));
	int result = 1;

	if (program && places && closed)
		result = run(wanted, program, places, choices, count, closed);
	if (result == 0 && wanted->json)
		result = print_json(wanted, closed, specs, count);
	else if (result == 0)
		print_text(wanted, closed, specs, count);
	free(program);
	free(places);
	free(closed);
	return result;
}
