/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * throws.cc: an error handler leaves an MPI call by an exception in each phase; rank 0 computes
 * three times as long as rank 1.
 */
#include <cstdio>
#include <ctime>
#include <mpi.h>
#include <stdexcept>

static void fail(MPI_Comm *, int *, ...)
{
	throw std::runtime_error("MPI");
}

static void work(double seconds)
{
	std::clock_t begin = std::clock();

	while (static_cast<double>(std::clock() - begin) < seconds * CLOCKS_PER_SEC)
		;
}

int main(int argc, char **argv)
{
	int rank, value = 0, caught = 0;
	MPI_Errhandler handler;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_create_errhandler(fail, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	for (int i = 0; i < 30; i++) {
		try {
			MPI_Send(&value, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD);
		} catch (const std::runtime_error &) {
			caught++;
		}
		work(rank ? 4e-3 : 12e-3);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	std::printf("caught %d\n", caught);
	return 0;
}
