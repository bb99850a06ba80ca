/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.c: nanoseconds per empty parallel region, per MPI call and per phase of a program: what a
 * tool adds to them. The median of many short batches, so that an interruption of the machine
 * spoils one batch only. Between two ranks: of messages, the shortest batch, as a rank that is
 * interrupted keeps both waiting. For t/bench/overhead, which runs it without a tool, with an empty
 * one, balanced, and with peers.
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define MALLEABLE_DLOPEN
#include "libmalleable/malleable.h"

/* A batch takes some 0.2 to 1 ms. */
#define BATCHES 101
#define REGIONS 400
#define CALLS 4000
#define PHASES 200
#define EXCHANGES 50
#define NAPS 1000

static volatile int sink;

static void region(void)
{
#pragma omp parallel
	{
		if (sink)
			sink = 0;
	}
}

static void call(void)
{
	double in = 1, out;

	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

/* Two regions and a collective call over all ranks. */
static void phase(void)
{
	region();
	region();
	MPI_Barrier(MPI_COMM_WORLD);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nanoseconds per WHAT, of which a batch has COUNT. */
static double measure(void (*what)(void), int count)
{
	double each[BATCHES];

	for (int batch = 0; batch < BATCHES; batch++) {
		double begin = MPI_Wtime();

		for (int i = 0; i < count; i++)
			what();
		each[batch] = (MPI_Wtime() - begin) / count * 1e9;
	}
	qsort(each, BATCHES, sizeof(each[0]), compare);
	return each[BATCHES / 2];
}

/* A look for a message that never comes. */
static void test(void)
{
	static MPI_Request request;
	static int begun, message, done;

	if (!begun++)
		MPI_Irecv(&message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
	MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static int answer(void *nothing, MPI_Status *status)
{
	(void)nothing;
	MPI_Status_set_elements(status, MPI_INT, 0);
	MPI_Status_set_cancelled(status, 0);
	sched_yield();
	return MPI_SUCCESS;
}

static int nothing_left(void *nothing)
{
	(void)nothing;
	return MPI_SUCCESS;
}

static int not_cancelled(void *nothing, int complete)
{
	(void)nothing;
	(void)complete;
	return MPI_SUCCESS;
}

/* A wait in which the MPI library polls once: the end of a request that has come. */
static void wait_once(void)
{
	MPI_Request request;

	MPI_Grequest_start(answer, nothing_left, not_cancelled, NULL, &request);
	MPI_Grequest_complete(request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A wait that ends at once. */
static void declare(void)
{
	malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
	malleable_waiting_end();
}

/* A named region with nothing in it. Apart: outside a step its own instructions are counted. */
__attribute__((noinline)) static void name_region(void)
{
	static int number;

	if (!number)
		number = malleable_region("empty");
	malleable_region_begin(number);
	malleable_region_end(number);
}

/* Other calls, for the same reason apart. */
__attribute__((noinline)) static void look_at_cpus(void)
{
	sink = malleable_cpus();
}

__attribute__((noinline)) static void look_at_changes(void)
{
	sink = (int)malleable_changes();
}

__attribute__((noinline)) static void look_at_poll(void)
{
	sink = malleable_poll();
}

__attribute__((noinline)) static void look_at_phase(void)
{
	malleable_phase();
	sink = 0;
}

static void nap(void)
{
	const struct timespec pause = {0, 10000};

	nanosleep(&pause, NULL);
}

/* A wait that looks until it is over: nothing but what is added makes it longer. */
static void spin(void)
{
	double end = MPI_Wtime() + 10e-6;

	while (MPI_Wtime() < end)
		;
}

/*
 * COUNT waits of 10 us each way, in batches in turn, as a machine changes its pace. Each batch is a
 * phase, so that the controller measures both ways alike.
 */
static void compare_waits(void (*pass)(void), int how, long count)
{
	double took[2] = {0, 0}, sums[2] = {0, 0};
	long rounds = count / NAPS / 2;
	double *more = malloc((size_t)rounds * sizeof(*more));

	prctl(PR_SET_TIMERSLACK, 1);
	for (long batch = 0; more && batch < 4 * rounds; batch++) {
		/* Plain, declared, declared, plain. */
		int declared = batch % 4 == 1 || batch % 4 == 2;
		double begin = MPI_Wtime();

		for (int i = 0; i < NAPS; i++) {
			if (declared)
				malleable_waiting_begin(how);
			pass();
			if (declared)
				malleable_waiting_end();
		}
		took[declared] += MPI_Wtime() - begin;
		malleable_phase();
		if (batch % 4 < 3)
			continue;
		more[batch / 4] = took[1] / took[0] - 1;
		sums[0] += took[0];
		sums[1] += took[1];
		took[0] = took[1] = 0;
	}
	qsort(more, (size_t)rounds, sizeof(*more), compare);
	printf("plain %.3f declared %.3f us, median of %ld rounds %+.2f %%\n",
	       sums[0] / (double)(2 * rounds * NAPS) * 1e6,
	       sums[1] / (double)(2 * rounds * NAPS) * 1e6, rounds, 100 * more[rounds / 2]);
	free(more);
}

/* What can be repeated. */
static const struct {
	const char *name;
	void (*function)(void);
} repeated[] = {
	{"call", call},		{"changes", look_at_changes}, {"cpus", look_at_cpus},
	{"declared", declare},	{"named", name_region},	      {"phase", look_at_phase},
	{"poll", look_at_poll}, {"region", region},	      {"test", test},
	{"wait", wait_once},
};

/* What two ranks do. */
static int me;
static char byte, out[1024], in[1024];

static void ping_pong(void)
{
	if (me) {
		MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	} else {
		MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void sum(void)
{
	double one = 1, all;

	MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* From each to the other: a rank that only sends would not wait. */
static void cast(void)
{
	static double value;

	MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Bcast(&value, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}

static void exchange(void)
{
	MPI_Sendrecv(out, sizeof(out), MPI_CHAR, 1 - me, 0, in, sizeof(in), MPI_CHAR, 1 - me, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_all(void)
{
	MPI_Request requests[4];

	for (int i = 0; i < 2; i++) {
		MPI_Irecv(in + 8 * i, 8, MPI_CHAR, 1 - me, i, MPI_COMM_WORLD, &requests[i]);
		MPI_Isend(out + 8 * i, 8, MPI_CHAR, 1 - me, i, MPI_COMM_WORLD, &requests[2 + i]);
	}
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* Nanoseconds of WHAT, of which each does two where HALVES. */
static void shortest(const char *name, void (*what)(void), int halves, long batches)
{
	double least = 1e9;

	for (long batch = 0; batch < batches; batch++) {
		double begin = MPI_Wtime(), took;

		for (int i = 0; i < EXCHANGES; i++)
			what();
		took = (MPI_Wtime() - begin) / EXCHANGES / halves * 1e9;
		least = took < least ? took : least;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!me)
		printf("%s %.1f ", name, least);
}

static void between_ranks(long batches)
{
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	shortest("half", ping_pong, 2, batches);
	shortest("allreduce", sum, 1, batches);
	shortest("bcast", cast, 2, batches);
	shortest("sendrecv", exchange, 1, batches);
	shortest("waitall", wait_for_all, 1, batches);
}

/*
 * calls NAME N: only that, N times, for counting instructions; naps N, spins N: waits of
 * 10 us that sleep, or poll;
 * latency|messages N: messages between two ranks, after a region and without one.
 */
static void repeat(const char *what, long count)
{
	if (strcmp(what, "latency") == 0 || strcmp(what, "named") == 0)
		region();
	if (strcmp(what, "latency") == 0 || strcmp(what, "messages") == 0) {
		between_ranks(count);
		return;
	}
	if (strcmp(what, "naps") == 0)
		compare_waits(nap, MALLEABLE_WAIT_BLOCKS, count);
	if (strcmp(what, "spins") == 0)
		compare_waits(spin, MALLEABLE_WAIT_POLLS, count);
	for (size_t each = 0; each < sizeof(repeated) / sizeof(repeated[0]); each++)
		for (long i = 0; strcmp(what, repeated[each].name) == 0 && i < count; i++)
			repeated[each].function();
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	if (argc == 3) {
		repeat(argv[1], atol(argv[2]));
		MPI_Finalize();
		return 0;
	}
	measure(region, REGIONS);
	printf("region %.1f", measure(region, REGIONS));
	printf(" call %.1f", measure(call, CALLS));
	printf(" phase %.1f\n", measure(phase, PHASES));
	MPI_Finalize();
	return 0;
}
