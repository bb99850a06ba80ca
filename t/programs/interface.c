/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * interface.c: interface [HOW FILE], two ranks with one CPU each: rank 0 declares that it waits
 * until rank 1 has borrowed its CPU and said so (FILE.borrowed), and takes it back. Both print what
 * the calls of malleable.h return. HOW: mpi; plain: without MPI; threads: the same, and in another
 * thread than the first; busy: another thread of rank 0 computes, and rank 1 gets nothing; beside:
 * the first one computes, and another waits. Without arguments: what they return outside a balanced
 * step.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/malleable.h"
#include "t/programs/meeting.h"

/* How many CPUs this thread may run on, whatever a program is told. */
static int may_use(void)
{
	FILE *status = fopen("/proc/thread-self/status", "r");
	char line[4096] = "";
	int count = 0;

	while (status && strncmp(line, "Cpus_allowed:", 13) != 0)
		if (!fgets(line, sizeof(line), status))
			break;
	for (const char *digit = line + 13; *digit; digit++)
		if (*digit != ',')
			count += __builtin_popcountl(strtoul((char[]){*digit, 0}, NULL, 16));
	if (status)
		fclose(status);
	return count;
}

static void *lend(void *file)
{
	int offered = malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS), ended;

	await(file, "borrowed");
	ended = malleable_waiting_end();
	printf("offered %d, ended %d, has %d\n", offered, ended, malleable_cpus());
	say(file, "back");
	/* In MPI_Finalize() it lends again. */
	await(file, "done");
	return NULL;
}

static void hear(int cpus, void *last)
{
	*(int *)last = cpus;
}

static void *borrow(void *file)
{
	int cpus[8], heard = 0, changed, has;
	int first = syscall(SYS_gettid) == getpid();
	unsigned int seen;

	if (first)
		malleable_on_change(hear, &heard);
	while (malleable_borrow(MALLEABLE_ALL) < 2)
		usleep(1000);
	printf("has %d of %d, lists %d, may use %d\n", malleable_cpus(), malleable_cpus_owned(),
	       malleable_cpu_list(cpus, 8), may_use());
	seen = malleable_changes();
	say(file, "borrowed");
	changed = malleable_await_change(seen, -1);
	await(file, "back");
	printf("heard %d, changed %d, ", heard, changed);
	has = first ? malleable_poll() : malleable_cpus();
	printf("has %d, may use %d, heard %d, ", has, may_use(), heard);
	printf("returned %d\n", malleable_return(0));
	say(file, "done");
	return NULL;
}

static _Atomic int computing, enough;

static void *compute(void *nothing)
{
	computing = 1;
	while (!enough)
		continue;
	return nothing;
}

/* A thread waits until rank 1 has given up, and computes no more. */
static void *wait_beside(void *file)
{
	while (!computing)
		usleep(1000);
	malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
	say(file, "waits");
	await(file, "gave-up");
	malleable_waiting_end();
	enough = 1;
	return NULL;
}

/* How many CPUs rank 1 has at most of so many tries while rank 0 waits and computes. */
static void try_to_borrow(const char *file)
{
	int most = 0;

	await(file, "waits");
	for (int tries = 0; tries < 200; tries++) {
		int has = malleable_borrow(2);

		most = has > most ? has : most;
		usleep(1000);
	}
	say(file, "gave-up");
	printf("had %d at most\n", most);
}

int main(int argc, char **argv)
{
	const char *number = getenv("OMPI_COMM_WORLD_RANK");
	int cpu, rank = number ? atoi(number) : 0;
	struct malleable_times times = {.size = sizeof(times)};
	pthread_t thread;

	if (argc != 3) {
		malleable_phase();
		printf("%d %d %d %u ", malleable_cpus(), malleable_cpus_owned(),
		       malleable_cpu_list(&cpu, 1), malleable_changes());
		printf("%d %d %d %d ", malleable_waiting_begin(9), malleable_waiting_end(),
		       malleable_borrow(-1), malleable_return(0));
		printf("%d %d %d ", malleable_on_change(hear, &cpu), malleable_poll(),
		       malleable_on_change_remove(hear, &cpu));
		printf("%d %d %d %d %d ", malleable_limit(-1), malleable_disable(),
		       malleable_enable(), malleable_state(), malleable_await_change(0, -1));
		printf("%d %d %d %d\n", malleable_region(NULL), malleable_region_begin(9),
		       malleable_region_end(9), malleable_region_times(9, &times));
		return 0;
	}
	if (strcmp(argv[1], "mpi") == 0) {
		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	if (strcmp(argv[1], "busy") == 0 || strcmp(argv[1], "beside") == 0) {
		int first = strcmp(argv[1], "busy") == 0;

		malleable_cpus();
		if (rank) {
			try_to_borrow(argv[2]);
			return 0;
		}
		pthread_create(&thread, NULL, first ? compute : wait_beside, argv[2]);
		(first ? wait_beside : compute)(argv[2]);
		pthread_join(thread, NULL);
	} else if (strcmp(argv[1], "threads") == 0) {
		pthread_create(&thread, NULL, rank ? borrow : lend, argv[2]);
		pthread_join(thread, NULL);
	} else {
		(rank ? borrow : lend)(argv[2]);
	}
	if (strcmp(argv[1], "mpi") == 0)
		MPI_Finalize();
	return 0;
}
