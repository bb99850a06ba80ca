/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pages.c MIB MAPS SECONDS: an MPI program that has touched so much memory, in so many maps, and
 * computes for so long, in phases of some milliseconds. For t/bench/overhead.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 2048) << 20;
	size_t maps = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	double seconds = argc > 3 ? atof(argv[3]) : 10, sum = 0, begin;
	size_t each = size / maps / 4096 * 4096;

	MPI_Init(&argc, &argv);
	for (size_t i = 0; i < maps; i++) {
		/* What may be executed in every other one keeps the kernel from joining them. */
		char *map = mmap(NULL, each, PROT_READ | PROT_WRITE | (i % 2 ? PROT_EXEC : 0),
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (map == MAP_FAILED) {
			perror("pages: mmap");
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		memset(map, 1, each);
	}
	for (begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;) {
		for (int i = 0; i < 4000000; i++)
			sum += i * 0.5;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return sum < 0;
}
