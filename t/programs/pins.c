/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pins.c: no OpenMP. Rank 0 works in threads that it bound to its CPU, each in another way, and in
 * one that it did not bind. Prints how often one of the former had another mask than its own, and
 * whether the latter got a second CPU.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* At most: some minutes on a busy machine. */
#define PHASES 3000

struct bound {
	const char *name;
	int cpu; /* -1: not bound */
	_Atomic unsigned int wrong, wide;
	pthread_t thread;
};

enum { SELF, TID, RAW, OTHER, ATTRIBUTES, CHILD, FREE, THREADS };

static struct bound threads[THREADS] = {
	{.name = "self"},	{.name = "tid"},   {.name = "raw"}, {.name = "other"},
	{.name = "attributes"}, {.name = "child"}, {.name = "free"}};
static pthread_barrier_t begin, end;
static _Atomic int stop;

static cpu_set_t only(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET(cpu, &mask);
	return mask;
}

/* Read the thread's mask from the kernel, not through an interposed function. */
static void look(struct bound *self)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	syscall(SYS_sched_getaffinity, 0, sizeof(mask), &mask);
	self->wide |= CPU_COUNT(&mask) > 1;
	self->wrong += self->cpu >= 0 && !(CPU_COUNT(&mask) == 1 && CPU_ISSET(self->cpu, &mask));
}

/* 3 ms of CPU time, so that each thread looks equally often. */
static void work(struct bound *self)
{
	struct timespec now;
	long start_ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	start_ns = now.tv_sec * 1000000000L + now.tv_nsec;
	do {
		look(self);
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * 1000000000L + now.tv_nsec - start_ns < 3000000);
}

static void *run(void *opaque)
{
	struct bound *self = opaque;
	cpu_set_t mask = only(self->cpu >= 0 ? self->cpu : 0);

	switch (self - threads) {
	case SELF:
		pthread_setaffinity_np(pthread_self(), sizeof(mask), &mask);
		pthread_create(&threads[CHILD].thread, NULL, run, &threads[CHILD]);
		break;
	case TID: sched_setaffinity((pid_t)syscall(SYS_gettid), sizeof(mask), &mask); break;
	case RAW: syscall(SYS_sched_setaffinity, 0, sizeof(mask), &mask); break;
	}
	for (;;) {
		pthread_barrier_wait(&begin);
		if (stop)
			return NULL;
		work(self);
		pthread_barrier_wait(&end);
	}
}

/* CPU is the rank's; RAW is bound to OTHER, a mask that the rank is never given. */
static void start(int cpu, int other)
{
	cpu_set_t mask = only(cpu);
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(mask), &mask);
	for (int i = 0; i < THREADS; i++)
		threads[i].cpu = i == FREE ? -1 : i == RAW ? other : cpu;
	for (int i = 0; i < THREADS; i++)
		if (i != CHILD)
			pthread_create(&threads[i].thread, i == ATTRIBUTES ? &attributes : NULL,
				       run, &threads[i]);
	pthread_setaffinity_np(threads[OTHER].thread, sizeof(mask), &mask);
	pthread_attr_destroy(&attributes);
}

/* Run until the unbound thread has got a second CPU, and a little longer. */
static int phase(int more)
{
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	return threads[FREE].wide ? more - 1 : more;
}

int main(int argc, char **argv)
{
	int rank, cpu, cpus[2], more = 20;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	cpu = sched_getcpu();
	MPI_Allgather(&cpu, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD);
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	if (rank == 0)
		start(cpus[0], cpus[1]);
	for (int i = 0; i < PHASES && more; i++) {
		if (rank == 0)
			more = phase(more);
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	stop = 1;
	if (rank == 0)
		pthread_barrier_wait(&begin);
	for (int i = 0; rank == 0 && i < THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		printf("%s wrong %u%s\n", threads[i].name, threads[i].wrong,
		       threads[i].wide ? ", wide" : "");
	}
	MPI_Finalize();
	return 0;
}
