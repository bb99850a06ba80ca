/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tbb.cc: the same as pthreads.c with oneTBB's parallel_for and two threads, in C++. */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

int main(int argc, char **argv)
{
	int rank, phases = argc > 1 ? std::atoi(argv[1]) : 20;
	std::atomic<std::uint64_t> sum{0};
	std::uint64_t mine, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
	tbb::task_arena arena(2);
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int phase = 0; phase < phases; phase++) {
		arena.execute([&] {
			tbb::parallel_for(0, 120, [&](int i) {
				std::uint64_t value = static_cast<std::uint64_t>(i);

				for (int j = 0; j < (rank == 0 ? 1000000 : 333333); j++)
					value = value * 6364136223846793005u + 1442695040888963407u;
				sum += value;
			});
		});
		MPI_Barrier(MPI_COMM_WORLD);
	}
	mine = sum;
	MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		std::printf("elapsed %.3f s, result %016llx\n", MPI_Wtime() - begin,
			    static_cast<unsigned long long>(all));
	MPI_Finalize();
	return 0;
}
