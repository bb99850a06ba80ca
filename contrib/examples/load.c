/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * load.c: a load generator: each rank computes for a given time per parallel region, then all ranks
 * meet.
 *
 * The work is arithmetic, calibrated once, so that a second thread really halves it; the program
 * does not sleep or read the clock while it works. It never asks for its number of threads, so it
 * is malleable as it is. On the timed node (t/node) the work is time.
 */
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/examples/example.h"

#define MAX_RANKS 4096

struct options {
	double work_ms[MAX_RANKS]; /* per region, by rank; the last one counts for the rest */
	int work_count;
	int regions;
	int iterations;
	int chunks;
	const char *profile;
	const char *until;
	bool mark;
	int warm_up;
	bool verbose;
	double units_per_ms;
};

static void usage(FILE *out)
{
	fputs("Usage: load [OPTIONS], started as MPI program\n"
	      "\n"
	      "  --work=MS[,MS...]   one-core time per region of rank 0, 1, ... (default 15,5)\n"
	      "  --regions=N         parallel regions per iteration (default 10)\n"
	      "  --iterations=N      iterations, each ended by MPI_Barrier (default 20)\n"
	      "  --until=FILE        go on after these until FILE exists\n"
	      "  --chunks=N          pieces of a region's work (default 16)\n"
	      "  --profile=steady|drift|burst|random\n"
	      "                      how the work changes over the iterations (default steady):\n"
	      "                      drift rotates it over the ranks, burst gives one rank all\n"
	      "                      of it every 8th, random mixes it\n"
	      "  --mark-phases       call malleable_phase() after each iteration\n"
	      "  --warm-up=N         iterations before, not timed (default 0)\n"
	      "  --verbose           print the time of each iteration\n"
	      "  --units=N           arithmetic units per ms, instead of calibrating\n"
	      "\n"
	      "Prints the elapsed time and a checksum that depends on the work only.\n",
	      out);
}

static int parse_work(char *text, struct options *options)
{
	char *save;

	options->work_count = 0;
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		char *end;

		if (options->work_count == MAX_RANKS)
			return -1;
		options->work_ms[options->work_count] = strtod(word, &end);
		if (*end || options->work_ms[options->work_count] < 0)
			return -1;
		options->work_count++;
	}
	return options->work_count ? 0 : -1;
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option list[] = {
		{"work", required_argument, NULL, 'w'},
		{"regions", required_argument, NULL, 'r'},
		{"iterations", required_argument, NULL, 'i'},
		{"until", required_argument, NULL, 'U'},
		{"chunks", required_argument, NULL, 'c'},
		{"profile", required_argument, NULL, 'p'},
		{"mark-phases", no_argument, NULL, 'm'},
		{"warm-up", required_argument, NULL, 'W'},
		{"verbose", no_argument, NULL, 'v'},
		{"units", required_argument, NULL, 'u'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*options = (struct options){{15, 5}, 2, 10, 20, 16, "steady", NULL, false, 0, false, 0};
	while ((option = getopt_long(argc, argv, "h", list, NULL)) != -1) {
		switch (option) {
		case 'w':
			if (parse_work(optarg, options) < 0)
				return -1;
			break;
		case 'r': options->regions = atoi(optarg); break;
		case 'i': options->iterations = atoi(optarg); break;
		case 'U': options->until = optarg; break;
		case 'c': options->chunks = atoi(optarg); break;
		case 'p': options->profile = optarg; break;
		case 'm': options->mark = true; break;
		case 'W': options->warm_up = atoi(optarg); break;
		case 'v': options->verbose = true; break;
		case 'u': options->units_per_ms = atof(optarg); break;
		case 'h': usage(stdout); exit(0);
		default: return -1;
		}
	}
	return options->regions > 0 && options->iterations > 0 && options->warm_up >= 0 &&
			       options->chunks > 0 && optind == argc
		       ? 0
		       : -1;
}

/*
 * COUNT units of arithmetic that no compiler can shorten, or move past a reading of the clock. On
 * the timed node it is their time, and what they lead to.
 */
__attribute__((noinline)) static double compute(long count, double start)
{
	double value = start;

	if (example_unit_ns > 0) {
		example_take((double)count);
		return 1 + (start - 1) * pow(0.999999, (double)count);
	}
	for (long i = 0; i < count; i++)
		value = value * 0.999999 + 1e-6;
	__asm__ volatile("" : "+m"(value) : : "memory");
	return value;
}

static double calibrate(void)
{
	double best = 0;
	volatile double keep = 0;

	for (int i = 0; i < 5; i++) {
		const long units = 2000000;
		double begin = MPI_Wtime();
		double rate;

		keep += compute(units, 1);
		rate = (double)units / ((MPI_Wtime() - begin) * 1e3);
		best = rate > best ? rate : best;
	}
	return best;
}

/* The work of RANK in ITERATION, in ms per region. */
static double work_of(const struct options *options, int rank, int ranks, int iteration)
{
	int source = rank;

	if (strcmp(options->profile, "drift") == 0)
		source = (rank +
			  iteration * ranks / (options->iterations > 0 ? options->iterations : 1)) %
			 ranks;
	else if (strcmp(options->profile, "burst") == 0 && iteration % 8)
		return options->work_ms[options->work_count - 1];
	else if (strcmp(options->profile, "random") == 0)
		source = (rank + (int)((unsigned int)iteration * 2654435761u >> 16)) % ranks;
	return options->work_ms[source < options->work_count ? source : options->work_count - 1];
}

static double region(const struct options *options, double ms)
{
	long units = (long)(ms * options->units_per_ms / options->chunks);
	double sum = 0;

	/* By a static schedule gcc's code asks for the thread's number, and could know its team. */
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
	for (int i = 0; i < options->chunks; i++)
		sum += compute(units, i);
	return sum;
}

/* Whether to run ITERATION. Rank 0 alone looks for the file, so that all end in the same one. */
static bool goes_on(const struct options *options, int rank, int iteration)
{
	int on = iteration < options->iterations;

	if (on || !options->until)
		return on;
	if (rank == 0)
		on = access(options->until, F_OK) != 0;
	MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return on;
}

int main(int argc, char **argv)
{
	static struct options options;
	void (*mark)(void) = NULL;
	bool timed = example_take_ns(0) == 0;
	int rank, ranks, level;
	double begin, elapsed, sum = 0, total;

	if (parse(argc, argv, &options) < 0) {
		fputs("load: wrong option, see --help\n", stderr);
		return 2;
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (options.mark)
		mark = example_find_mark();
	if (options.units_per_ms <= 0)
		options.units_per_ms = timed ? 1e6 : calibrate();
	if (timed)
		example_unit_ns = 1e6 / options.units_per_ms;
	MPI_Bcast(&options.units_per_ms, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = -options.warm_up; goes_on(&options, rank, i); i++) {
		double ms = work_of(&options, rank, ranks, i < 0 ? 0 : i);
		double start = MPI_Wtime();

		if (i == 0)
			begin = start;
		for (int r = 0; r < options.regions; r++)
			sum += region(&options, ms);
		MPI_Barrier(MPI_COMM_WORLD);
		if (mark)
			mark();
		if (options.verbose && rank == 0)
			printf("iteration %d: %.4f s\n", i, MPI_Wtime() - start);
	}
	elapsed = MPI_Wtime() - begin;
	MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("elapsed %.4f s, units %.0f, checksum %.6e\n", elapsed, options.units_per_ms,
		       total);
	MPI_Finalize();
	return 0;
}
