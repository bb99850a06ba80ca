/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gen.c: the load of t/bench/suite: MPI ranks whose parallel regions work for the times that the
 * options give, on the timed node or on real CPUs (t/node/work.h).
 *
 * Ranks meet after each step: a phase, or each region of it with --alternate. The program never
 * asks for its number of threads, so it is malleable as it is.
 */
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "t/node/work.h"

#define MAX_RANKS 1024
/* As in contrib/examples/amr.c: columns of blocks a rank, those refined, and their work. */
#define COLUMNS 4
#define FRONT 5.0
#define REFINED 64

static struct options {
	double work_ms[MAX_RANKS]; /* of one core a phase */
	double serial, noise;
	int work_count, ranks, iterations, meet, regions, chunks, inner, rotate, random, unscaled;
	int is_static, drift, alternate, travel, sleeper, loads, crowd;
} options = {.work_ms = {15, 5},
	     .work_count = 2,
	     .ranks = 2,
	     .iterations = 20,
	     .meet = 1,
	     .regions = 1,
	     .chunks = 16,
	     .inner = 1,
	     .random = -1,
	     .unscaled = -1};

static const char help[] =
	"Usage: gen [OPTIONS], started as MPI program\n"
	"       gen --loads --ranks=N [OPTIONS], without MPI\n"
	"\n"
	"  --work=MS[,MS...]  a phase's time on one core by rank, cyclic (default 15,5)\n"
	"  --iterations=N     phases (default 20)\n"
	"  --regions=N        parallel regions a phase, which share its work (default 1)\n"
	"  --chunks=N         pieces of a loop (default 16)\n"
	"  --schedule=dynamic|static\n"
	"  --inner=N          loops a region, each with a barrier of the team (default 1)\n"
	"  --rotate=N         work moves to the next rank each N phases\n"
	"  --drift            work moves from rank to rank, once around over the run\n"
	"  --random=SEED      work moves to ranks at random each phase\n"
	"  --alternate        work moves on in each region, after which ranks meet\n"
	"  --travel           64 times the work where a front is that travels over ranks\n"
	"  --serial=PART      part of the work that is outside regions\n"
	"  --noise=PART       each work of a rank differs by so much (lognormal)\n"
	"  --meet=N           all ranks meet each N phases, else neighbours (default 1)\n"
	"  --sleeper          each rank has a thread of its own that sleeps for 100 ms at a time\n"
	"  --crowd=N          threads are in each other's way: teams of N are the fastest\n"
	"  --unscaled=RANK    one thread does all work of this rank\n"
	"  --loads            print a line a step: of each rank ms outside + in regions\n"
	"\n"
	"Prints the seconds of all phases by the clock of rank 0, and a checksum of what was "
	"done.\n";

__attribute__((noreturn)) static void wrong(const char *what, const char *text)
{
	fprintf(stderr, "gen: %s %s, see gen --help\n", what, text);
	exit(2);
}

static double number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 1e9))
		wrong("not a number from 0 on:", text);
	return value;
}

static void parse_work(char *text)
{
	char *save;

	options.work_count = 0;
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save))
		if (options.work_count < MAX_RANKS)
			options.work_ms[options.work_count++] = number(word);
}

#define FIRST_NUMBER 256
#define NUMBER(field) \
	{#field, required_argument, NULL, FIRST_NUMBER + (int)offsetof(struct options, field)}
#define FLAG(field) {#field, no_argument, &options.field, 1}

static void parse(int argc, char **argv)
{
	static const struct option list[] = {
		NUMBER(iterations),
		NUMBER(meet),
		NUMBER(regions),
		NUMBER(chunks),
		NUMBER(inner),
		NUMBER(rotate),
		NUMBER(random),
		NUMBER(unscaled),
		NUMBER(ranks),
		NUMBER(crowd),
		FLAG(drift),
		FLAG(alternate),
		FLAG(travel),
		FLAG(sleeper),
		FLAG(loads),
		{"work", required_argument, NULL, 'w'},
		{"serial", required_argument, NULL, 'S'},
		{"noise", required_argument, NULL, 'n'},
		{"schedule", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", list, NULL)) != -1) {
		if (option >= FIRST_NUMBER)
			*(int *)((char *)&options + option - FIRST_NUMBER) = (int)number(optarg);
		else if (option == 'w')
			parse_work(optarg);
		else if (option == 'S')
			options.serial = fmin(number(optarg), 1);
		else if (option == 'n')
			options.noise = number(optarg);
		else if (option == 's' && strcmp(optarg, "static") == 0)
			options.is_static = 1;
		else if (option == 's' && strcmp(optarg, "dynamic") != 0)
			wrong("no schedule", optarg);
		else if (option == 'h')
			exit(fputs(help, stdout) < 0);
		else if (option == '?')
			exit(2);
	}
	if (optind < argc)
		wrong("unknown argument", argv[optind]);
	if (!options.work_count || !options.ranks || !options.iterations || !options.regions ||
	    !options.chunks || !options.inner || !options.meet)
		wrong("0 where 1 is the least", "");
}

/* Bits that look like chance, of a number (splitmix64). */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* What --work lists for RANK, or for one further round. */
static double listed(int rank)
{
	rank = (rank % options.ranks + options.ranks) % options.ranks;
	return options.work_ms[rank % options.work_count];
}

/* How often the work of an unrefined rank RANK has, where the front is in PHASE. */
static double refinement(int rank, int phase)
{
	double middle = COLUMNS * options.ranks * (0.1 + 0.8 * phase / options.iterations);
	double from = fmax(middle - FRONT / 2, COLUMNS * rank);
	double to = fmin(middle + FRONT / 2, COLUMNS * (rank + 1));

	return 1 + (REFINED - 1) * fmax(to - from, 0) / COLUMNS;
}

/* A number from 0 to 1, never 0, that looks like chance. */
static double chance(uint64_t x)
{
	return ((double)(mix(x) >> 11) + 1) / 9007199254740992.0;
}

/* A factor of mean 1 (Box, Muller: Annals of Mathematical Statistics 29, 1958). */
static double noise(int rank, int phase, int region)
{
	uint64_t from = mix(((uint64_t)phase << 32) + ((uint64_t)region << 16) + (uint64_t)rank);
	double normal = sqrt(-2 * log(chance(from))) * cos(2 * 3.14159265358979 * chance(~from));

	return exp(options.noise * normal - options.noise * options.noise / 2);
}

/* The work of a RANK in a REGION of a PHASE without noise, in ms of one core. */
static double quiet_work_of(int rank, int phase, int region)
{
	double at = 0, between;

	if (options.travel)
		return listed(rank) * refinement(rank, phase) / options.regions;
	if (options.rotate)
		at += phase / options.rotate;
	if (options.drift)
		at += (double)options.ranks * phase / options.iterations;
	if (options.random >= 0)
		at += (double)(mix(mix((uint64_t)options.random) + (uint64_t)phase) %
			       (uint64_t)options.ranks);
	if (options.alternate)
		at += region * options.ranks / options.regions;
	between = at - floor(at);
	rank -= (int)at;
	return ((1 - between) * listed(rank) + between * listed(rank - 1)) / options.regions;
}

/* The work of a RANK in a REGION of a PHASE, in ms of one core. */
static double work_of(int rank, int phase, int region)
{
	double work = quiet_work_of(rank, phase, region);

	return options.noise > 0 ? work * noise(rank, phase, region) : work;
}

static void print_loads(void)
{
	int together = options.alternate ? 1 : options.regions;

	printf("regions %d chunks %d\n", together, options.chunks * options.inner);
	for (int step = 0; step < options.iterations * options.regions; step += together)
		for (int rank = 0; rank < options.ranks; rank++) {
			double work = together *
				      work_of(rank, step / options.regions, step % options.regions);
			double serial = rank == options.unscaled ? 1 : options.serial;

			printf("%.6g+%.6g%c", serial * work, (1 - serial) * work,
			       rank < options.ranks - 1 ? ' ' : '\n');
		}
}

/*
 * Work NS, but longer the more threads of this rank do: N of them take NS / N * (1 + N * N / CROWD
 * / CROWD) each.
 */
static void work_crowded(uint64_t ns)
{
	static int working;
	double crowding;

	if (!options.crowd) {
		work_ns(ns);
		return;
	}
	crowding = (double)__atomic_add_fetch(&working, 1, __ATOMIC_RELAXED) / options.crowd;
	work_ns((uint64_t)((double)ns * (1 + crowding * crowding)));
	__atomic_sub_fetch(&working, 1, __ATOMIC_RELAXED);
}

/* Work NS in each chunk; a thread takes TAKE of them at once. Returns the chunks' sum from FROM. */
static uint64_t work_dynamic(uint64_t ns, int take, uint64_t from)
{
	uint64_t sum = 0;

#pragma omp parallel for schedule(dynamic, take) reduction(+ : sum)
	for (int i = 0; i < options.chunks; i++) {
		work_crowded(ns);
		sum += mix(from + (uint64_t)i);
	}
	return sum;
}

static uint64_t work_static(uint64_t ns, uint64_t from)
{
	uint64_t sum = 0;

#pragma omp parallel for schedule(static) reduction(+ : sum)
	for (int i = 0; i < options.chunks; i++) {
		work_ns(ns);
		sum += mix(from + (uint64_t)i);
	}
	return sum;
}

static uint64_t work_inner(uint64_t ns, uint64_t from)
{
	uint64_t sum = 0;

#pragma omp parallel reduction(+ : sum)
	for (int k = 0; k < options.inner; k++)
#pragma omp for schedule(dynamic)
		for (int i = 0; i < options.chunks; i++) {
			work_ns(ns);
			sum += mix(from + (uint64_t)(k * options.chunks + i));
		}
	return sum;
}

static uint64_t region(int rank, int phase, int number)
{
	double ns = 1e6 * work_of(rank, phase, number);
	uint64_t from =
		mix(((uint64_t)phase * 1000 + (uint64_t)number) * MAX_RANKS + (uint64_t)rank);
	uint64_t each = (uint64_t)((1 - options.serial) * ns / options.chunks / options.inner);

	if (options.serial > 0)
		work_ns((uint64_t)(options.serial * ns));
	if (options.is_static)
		return work_static(each, from);
	if (options.inner > 1)
		return work_inner(each, from);
	return work_dynamic(each, rank == options.unscaled ? options.chunks : 1, from);
}

/* A step is over, the last one of PHASE. */
static void meet(int rank, int phase)
{
	int next = (rank + 1) % options.ranks, last = (rank + options.ranks - 1) % options.ranks;
	double given = phase, got;

	if ((phase + 1) % options.meet == 0) {
		MPI_Barrier(MPI_COMM_WORLD);
		return;
	}
	MPI_Sendrecv(&given, 1, MPI_DOUBLE, next, 0, &got, 1, MPI_DOUBLE, last, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(&given, 1, MPI_DOUBLE, last, 1, &got, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void *sleeper(void *nothing)
{
	while (nanosleep(&(struct timespec){0, 100000000}, NULL) == 0)
		;
	return nothing;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	uint64_t sum = 0, total = 0;
	int rank, level;
	double begin;

	parse(argc, argv);
	if (options.loads) {
		print_loads();
		return 0;
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &options.ranks);
	if (options.sleeper && pthread_create(&thread, NULL, sleeper, NULL))
		return 2;
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int phase = 0; phase < options.iterations; phase++)
		for (int i = 0; i < options.regions; i++) {
			sum += region(rank, phase, i);
			if (options.alternate || i == options.regions - 1)
				meet(rank, phase);
		}
	begin = MPI_Wtime() - begin;
	MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("time %.4f\nchecksum %016llx\n", begin, (unsigned long long)total);
	MPI_Finalize();
	return 0;
}
