/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pages.c: pages MS[,MS...]: each rank fills 4 MiB, works its MS per phase, then sleeps in its
 * phases for a while. At the end it prints how much of its memory is on the NUMA node on which it
 * runs.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGES 1024
#define PAGE 4096
#define PHASES 6
#define QUIET_PHASES 60
#define QUIET_US 300000

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double work_of(char *list, int rank)
{
	for (int i = 0; i < rank && strchr(list, ','); i++)
		list = strchr(list, ',') + 1;
	return atof(list) * 1e-3;
}

static void phase(double seconds)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < 64; i++) {
		double begin = now_s();

		while (now_s() - begin < seconds / 64)
			;
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	static void *page[PAGES];
	static int node[PAGES];
	unsigned int cpu = 0, here = 0, near = 0, far = 0;
	char *memory;
	int rank, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc != 2 || memory == MAP_FAILED)
		return 2;
	memset(memory, 1, (size_t)PAGES * PAGE);
	for (int i = 0; i < PHASES; i++)
		phase(work_of(argv[1], rank));
	for (int i = 0; i < QUIET_PHASES; i++) {
		usleep(QUIET_US);
		phase(1e-3);
	}
	for (int i = 0; i < PAGES; i++)
		page[i] = memory + (size_t)i * PAGE;
	syscall(SYS_move_pages, 0, (unsigned long)PAGES, page, NULL, node, 0);
	syscall(SYS_getcpu, &cpu, &here, NULL);
	for (int i = 0; i < PAGES; i++) {
		near += node[i] == (int)here;
		far += node[i] >= 0 && node[i] != (int)here;
	}
	printf("rank %d on node %u: %u %% of its pages are there, %u %% on others\n", rank, here,
	       100 * near / PAGES, 100 * far / PAGES);
	MPI_Finalize();
	return 0;
}
