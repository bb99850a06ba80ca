/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena.cc: arena plain|calls: an arena of oneTBB, in which rank 0 has 40 chunks a step and rank 1
 * has 4. With calls it borrows, and has as many threads as the rank has CPUs. For
 * t/bench/interface.
 */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>

#define MALLEABLE_DLOPEN
#include <malleable.h>

static const int steps = 20;
static const int chunk = 1000000;
using limit = tbb::global_control;

static std::uint64_t compute(int number)
{
	std::uint64_t value = static_cast<std::uint64_t>(number);

	for (int i = 0; i < chunk; i++) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		value ^= value >> 13;
	}
	return value;
}

static void resize(int cpus, void *argument)
{
	/* The new one first: between them there would be none. */
	std::unique_ptr<limit> next(
		new limit(limit::max_allowed_parallelism, static_cast<std::size_t>(cpus)));

	static_cast<std::unique_ptr<limit> *>(argument)->swap(next);
}

int main(int argc, char **argv)
{
	bool calls = argc > 1 && std::strcmp(argv[1], "calls") == 0;
	std::atomic<std::uint64_t> sum{0};
	std::uint64_t mine, all;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::unique_ptr<limit> threads(new limit(limit::max_allowed_parallelism, 1));
	tbb::task_arena arena(2);
	const std::thread::id primary = std::this_thread::get_id();
	if (calls)
		malleable_on_change(resize, &threads);
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int step = 0; step < steps; step++) {
		if (calls)
			malleable_borrow(2);
		arena.execute([&] {
			tbb::parallel_for(
				0, rank ? 4 : 40,
				[&](int number) {
					if (calls && std::this_thread::get_id() == primary)
						malleable_poll();
					sum += compute(number);
				},
				tbb::simple_partitioner());
		});
		if (calls)
			malleable_return(0);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	mine = sum;
	MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		std::printf("elapsed %.4f s, result %016llx\n", MPI_Wtime() - begin,
			    static_cast<unsigned long long>(all));
	MPI_Finalize();
	return 0;
}
