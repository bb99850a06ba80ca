/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policies.c: policies on made-up programs in a closed loop (t/closed/closed.h): one program, a
 * table of loads and shapes, and a search for the programs on which auto does worst.
 *
 * Prints times over off; needs nothing but a built tree.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/loadable/loadable.h"
#include "policies/interface/choice.h"
#include "t/closed/closed.h"
#include "t/closed/programs.h"

/* Behind by more than this is a loss. */
#define ALLOWED 1.01
#define KEPT 50

/* From NO_LEND on they are tested. */
enum { LEWI, SABO, EXPLORE, NO_LEND, AUTO, POLICIES };
static const char *const specs[POLICIES] = {"lewi", "sabo", "explore", "auto,lend=no", "auto"};
static struct mal_choice choices[POLICIES];
static const unsigned int shapes[][2] = {{8, 6}, {16, 3}, {4, 2}, {64, 4}, {2, 1}};

#define MOST 16

struct options {
	unsigned long search;
	uint64_t seed;
	bool shrink, only_auto;
	const char *load, *policies[MOST], *libdir;
	unsigned int ranks, cpus, count;
};

/* What policies made of a program: times over off. */
struct found {
	double over[POLICIES];
	char rejection[MAL_REJECTION_TEXT];
};

static int run(const char *text, unsigned int ranks, unsigned int cpus, uint64_t seed,
	       unsigned int from, struct found *found)
{
	static struct mal_program program;
	static struct mal_closed_places places;
	struct mal_error err;

	*found = (struct found){{0}, ""};
	if (mal_program_read(text, ranks, cpus, seed, &program, &err) < 0) {
		fprintf(stderr, "policies: %s\n", err.text);
		return -1;
	}
	mal_closed_place(&program, &places);
	for (unsigned int i = from; i < POLICIES; i++) {
		struct mal_closed closed;

		if (mal_closed_run(choices[i].policy, choices[i].values, &program, &places.topology,
				   &closed, &err) < 0)
			return -1;
		found->over[i] = closed.elapsed_s / closed.off_s;
		if (closed.rejection[0])
			memcpy(found->rejection, closed.rejection, sizeof(found->rejection));
	}
	return 0;
}

/* By what factor POLICY is behind the best of those that it is compared with, or off. */
static double behind(const struct found *found, unsigned int policy)
{
	double best = fmin(1, found->over[SABO]);

	if (policy == AUTO)
		best = fmin(best, fmin(found->over[LEWI], found->over[NO_LEND]));
	return found->over[policy] / best;
}

static unsigned int table(const struct options *options)
{
	unsigned int losses[POLICIES] = {0}, all = 0;

	printf("| load | shape |");
	for (unsigned int i = 0; i < POLICIES; i++)
		printf(" %s |", specs[i]);
	printf("\n| --- | --- | --- | --- | --- | --- | --- |\n");
	for (size_t load = 0; load < LOADS; load++)
		for (size_t shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
			struct found found;

			if (run(loads[load], shapes[shape][0], shapes[shape][1], options->seed, 0,
				&found) < 0)
				exit(1);
			printf("| %s | %ux%u |", loads[load], shapes[shape][0], shapes[shape][1]);
			for (unsigned int i = 0; i < POLICIES; i++) {
				bool lost = i >= NO_LEND && behind(&found, i) > ALLOWED;

				printf(" %.3f%s |", found.over[i], lost ? " **" : "");
				losses[i] += lost;
			}
			printf("%s\n", found.rejection);
			fflush(stdout);
		}
	for (unsigned int i = NO_LEND; i < POLICIES; i++) {
		printf("%s: %u of %zu entries more than 1 %% behind off or another policy (**)\n",
		       specs[i], losses[i], LOADS * sizeof(shapes) / sizeof(shapes[0]));
		all += losses[i];
	}
	return all;
}

static double try(const struct random_case *made, unsigned int policy)
{
	char text[TEXT];
	struct found found;

	describe(made, text);
	if (run(text, made->ranks, made->cpus, made->seed, 0, &found) < 0)
		exit(1);
	return behind(&found, policy);
}

/* Make a case simpler while POLICY still loses half of what it lost. */
static struct random_case shrink(struct random_case made, unsigned int policy, double lost)
{
	double wanted = 1 + (lost - 1) / 2;

	for (bool again = true; again;) {
		again = false;
		for (unsigned int i = 0; i < DIMENSIONS + 4; i++) {
			struct random_case simpler = made;

			if (i < DIMENSIONS)
				simpler.set &= ~(1u << i);
			else if (i == DIMENSIONS)
				simpler.ranks = made.ranks > 2 ? (made.ranks + 1) / 2 : 2;
			else if (i == DIMENSIONS + 1)
				simpler.cpus = (made.cpus + 1) / 2;
			else if (i == DIMENSIONS + 2)
				simpler.load = 0;
			else
				simpler.seed = 1;
			if (memcmp(&simpler, &made, sizeof(made)) == 0 ||
			    try(&simpler, policy) < wanted)
				continue;
			made = simpler;
			again = true;
		}
	}
	return made;
}

struct loss {
	double factor;
	uint64_t seed;
};

static void keep(struct loss *losses, double factor, uint64_t seed)
{
	unsigned int at = KEPT - 1;

	if (factor <= losses[at].factor)
		return;
	for (; at > 0 && losses[at - 1].factor < factor; at--)
		losses[at] = losses[at - 1];
	losses[at] = (struct loss){factor, seed};
}

static unsigned long search(const struct options *options)
{
	static struct loss losses[POLICIES][KEPT];
	unsigned long lost[POLICIES] = {0}, sum = 0;
	double slower[POLICIES] = {0};

	for (uint64_t seed = options->seed; seed < options->seed + options->search; seed++) {
		struct random_case made = make_case(seed);
		struct found found;
		char text[TEXT];

		describe(&made, text);
		if (run(text, made.ranks, made.cpus, seed, options->only_auto ? AUTO : 0, &found) <
		    0)
			exit(1);
		if (options->only_auto) {
			slower[AUTO] += found.over[AUTO] > ALLOWED;
			keep(losses[AUTO], found.over[AUTO], seed);
			continue;
		}
		for (unsigned int i = NO_LEND; i < POLICIES; i++) {
			lost[i] += behind(&found, i) > ALLOWED;
			slower[i] += found.over[i] > ALLOWED;
			keep(losses[i], behind(&found, i), seed);
		}
	}
	for (unsigned int i = options->only_auto ? AUTO : NO_LEND; i < POLICIES; i++) {
		sum += options->only_auto ? (unsigned long)slower[i] : lost[i];
		printf("%s: %lu of %lu more than 1 %% behind, %.0f more than 1 %% slower than "
		       "off\n",
		       specs[i], lost[i], options->search, slower[i]);
		for (unsigned int at = 0; at < KEPT && losses[i][at].factor > ALLOWED; at++) {
			struct random_case made = make_case(losses[i][at].seed);
			double factor = losses[i][at].factor;
			char text[TEXT];

			if (options->shrink && at < 5) {
				made = shrink(made, i, factor);
				factor = try(&made, i);
			}
			describe(&made, text);
			printf("  %.3f behind: policies --load=%s --shape=%ux%u --seed=%llu "
			       "--policy=%s\n",
			       factor, text, made.ranks, made.cpus, (unsigned long long)made.seed,
			       specs[i]);
		}
	}
	return sum;
}

/*
 * Run the policies that were asked for against one program. Returns the exit status: 1 where one of
 * them is behind off or another one.
 */
static int compare(const struct options *options)
{
	static struct mal_program program;
	static struct mal_closed_places places;
	struct mal_error err;
	double best_s = INFINITY, worst_s = 0;

	if (mal_program_read(options->load, options->ranks, options->cpus, options->seed, &program,
			     &err) < 0) {
		fprintf(stderr, "policies: %s\n", err.text);
		return 2;
	}
	mal_closed_place(&program, &places);
	printf("%-24s %10s %8s %8s %8s\n", "policy", "s", "to off", "windows", "moves");
	for (unsigned int i = 0; i < options->count; i++) {
		struct mal_choice choice;
		struct mal_closed closed;

		if (mal_loadable_choose(options->policies[i], options->libdir, NULL, &choice,
					&err) < 0 ||
		    mal_closed_run(choice.policy, choice.values, &program, &places.topology,
				   &closed, &err) < 0) {
			fprintf(stderr, "policies: %s\n", err.text);
			return 2;
		}
		if (!i)
			printf("%-24s %10.3f\n%-24s %10.3f\n", "off", closed.off_s, "attainable",
			       closed.ideal_s);
		best_s = fmin(best_s, fmin(closed.off_s, closed.elapsed_s));
		worst_s = fmax(worst_s, closed.elapsed_s);
		printf("%-24s %10.3f %8.4f %8u %8lu%s%s\n", options->policies[i], closed.elapsed_s,
		       closed.elapsed_s / closed.off_s, closed.windows, closed.moves,
		       closed.rejection[0] ? " rejected: " : "", closed.rejection);
	}
	return worst_s > ALLOWED * best_s;
}

static int usage(FILE *out, int status)
{
	const char *name, *help;

	fputs("Usage: policies [OPTIONS]\n"
	      "\n"
	      "Prints a table of policies over loads and shapes, times over off.\n"
	      "\n"
	      "  --search=N     try N random programs instead, and print the worst\n"
	      "  --auto         with auto alone, and compared with off alone: for many programs\n"
	      "  --shrink       make the worst five simpler first\n"
	      "  --seed=N       of the table's programs, or the first one's (default: 1)\n"
	      "  --load=LOAD[,NAME=NUMBER...]\n"
	      "                 one program instead\n"
	      "    --shape=RANKSxCPUS            its ranks, and CPUs of each (default: 8x6)\n"
	      "    --policy=POLICY[,KEY=VALUE...]  may be given several times (default: all)\n"
	      "    --libdir=DIR                  where loadable policies and malleable-policy\n"
	      "                                  are; those of MALLEABLE_POLICIES, too\n"
	      "  --help\n"
	      "\n"
	      "Exit status 1: one of them is more than 1 % behind off or another policy.\n",
	      out);
	fprintf(out, "\nLoads: %s.\nTheir parameters:\n", mal_program_names);
	for (size_t i = 0; (help = mal_program_help(i, &name)); i++)
		fprintf(out, "  %-10s %s\n", name, help);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"search", required_argument, NULL, 'n'}, {"shrink", no_argument, NULL, 'r'},
		{"auto", no_argument, NULL, 'a'},	  {"seed", required_argument, NULL, 's'},
		{"load", required_argument, NULL, 'l'},	  {"shape", required_argument, NULL, 'S'},
		{"policy", required_argument, NULL, 'p'}, {"libdir", required_argument, NULL, 'L'},
		{"help", no_argument, NULL, 'h'},	  {NULL, 0, NULL, 0}};
	struct options options = {.seed = 1, .ranks = 8, .cpus = 6, .libdir = MAL_LIBDIR};
	struct mal_error err;
	int option;

	while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1)
		switch (option) {
		case 'n': options.search = strtoul(optarg, NULL, 10); break;
		case 'a': options.only_auto = true; break;
		case 'r': options.shrink = true; break;
		case 's': options.seed = strtoul(optarg, NULL, 10); break;
		case 'l': options.load = optarg; break;
		case 'S':
			if (sscanf(optarg, "%ux%u", &options.ranks, &options.cpus) != 2)
				return usage(stderr, 2);
			break;
		case 'p':
			if (options.count == MOST)
				return usage(stderr, 2);
			options.policies[options.count++] = optarg;
			break;
		case 'L': options.libdir = optarg; break;
		case 'h': return usage(stdout, 0);
		default: return usage(stderr, 2);
		}
	for (unsigned int i = 0; !options.count && i < POLICIES; i++)
		options.policies[i] = specs[i];
	options.count = options.count ? options.count : POLICIES;
	if (mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), &err) < 0) {
		fprintf(stderr, "policies: %s\n", err.text);
		return 2;
	}
	if (options.load)
		return compare(&options);
	for (unsigned int i = 0; i < POLICIES; i++)
		if (mal_choose(specs[i], NULL, "auto", &choices[i], &err) < 0) {
			fprintf(stderr, "policies: %s\n", err.text);
			return 2;
		}
	return (options.search ? search(&options) : table(&options)) ? 1 : 0;
}
