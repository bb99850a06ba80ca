/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * family.c: ranks that start NUMBER children by MPI_Comm_spawn, compute with them until the file
 * FILE.1 is there, part from them, and go on alone until FILE.2 is. Sums must be right in each
 * round.
 *
 * Usage: family NUMBER FILE
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEPS 400000

/* A sum that is the same with any number of threads. Later ranks have more work. */
static long compute(int times)
{
	long sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (long i = 0; i < (long)times * STEPS; i++)
		sum += i % 7;
	return sum;
}

/* Compute with ALL until the file NUMBER is there. Returns how many rounds were wrong. */
static long go_on(MPI_Comm all, const char *file, int number)
{
	char path[4096];
	int rank, size, stop = 0;
	long right = 0, wrong = 0, sum;

	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(all, &size);
	snprintf(path, sizeof(path), "%s.%d", file, number);
	for (int i = 0; i < size; i++)
		for (long k = 0; k < (long)(i + 1) * STEPS; k++)
			right += k % 7;
	while (!stop) {
		long mine = compute(rank + 1);

		MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, all);
		wrong += sum != right;
		stop = access(path, F_OK) == 0;
		MPI_Bcast(&stop, 1, MPI_INT, 0, all);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	MPI_Comm parent, between, all;
	long wrong;
	int rank;

	if (argc < 3)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	between = parent;
	if (parent == MPI_COMM_NULL)
		MPI_Comm_spawn(argv[0], argv + 1, atoi(argv[1]), MPI_INFO_NULL, 0, MPI_COMM_WORLD,
			       &between, MPI_ERRCODES_IGNORE);
	MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
	wrong = go_on(all, argv[2], 1);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&between);
	if (parent == MPI_COMM_NULL)
		wrong += go_on(MPI_COMM_WORLD, argv[2], 2);
	if (rank == 0)
		printf("%s: %ld rounds were wrong\n",
		       parent == MPI_COMM_NULL ? "parents" : "children", wrong);
	MPI_Finalize();
	return 0;
}
