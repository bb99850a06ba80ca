// SPDX-License-Identifier: LGPL-2.1-or-later
// bodies.cc: a C++ example: gravity between bodies, each pair by each pair. The first rank moves
// three times as many bodies as the others, and after each step all ranks know where all bodies
// are. Run it as: srun -n 2 -c 4 --balance bodies
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <numeric>
#include <vector>

namespace
{

struct Vector {
	double x, y, z;
};

constexpr double time_step = 1e-5;
constexpr double softening = 1e-3;

Vector pull_on(const Vector &at, const std::vector<Vector> &all)
{
	Vector sum{0, 0, 0};

	for (const Vector &other : all) {
		const double x = other.x - at.x, y = other.y - at.y, z = other.z - at.z;
		const double square = x * x + y * y + z * z + softening;
		const double pull = 1 / (square * std::sqrt(square));

		sum.x += pull * x;
		sum.y += pull * y;
		sum.z += pull * z;
	}
	return sum;
}

// Bodies on a spiral: no two at one place, and nothing random.
std::vector<Vector> start(int count)
{
	std::vector<Vector> bodies;

	for (int i = 0; i < count; i++) {
		const double angle = 2.399963 * i, height = 1 - 2 * (i + 0.5) / count,
			     radius = std::sqrt(1 - height * height);

		bodies.push_back({radius * std::cos(angle), radius * std::sin(angle), height});
	}
	return bodies;
}

} // namespace

int main(int argc, char **argv)
{
	int rank, ranks, level;
	const int iterations = argc > 1 ? std::atoi(argv[1]) : 20;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (iterations < 1) {
		if (rank == 0)
			std::puts("usage: bodies [ITERATIONS]");
		MPI_Finalize();
		return 2;
	}
	std::vector<int> count(ranks, 1000), first(ranks, 0), doubles(ranks), first_double(ranks);
	count[0] = 3000;
	std::partial_sum(count.begin(), count.end() - 1, first.begin() + 1);
	for (int i = 0; i < ranks; i++) {
		doubles[i] = 3 * count[i];
		first_double[i] = 3 * first[i];
	}
	std::vector<Vector> all = start(first[ranks - 1] + count[ranks - 1]),
			    speed(count[rank], Vector{0, 0, 0});
	std::vector<Vector> mine(count[rank]);
	MPI_Barrier(MPI_COMM_WORLD);
	const double begin = MPI_Wtime();
	for (int step = 0; step < iterations; step++) {
#pragma omp parallel for schedule(dynamic, 16)
		for (int i = 0; i < count[rank]; i++) {
			const Vector &at = all[first[rank] + i];
			const Vector pull = pull_on(at, all);

			speed[i] = {speed[i].x + time_step * pull.x,
				    speed[i].y + time_step * pull.y,
				    speed[i].z + time_step * pull.z};
			mine[i] = {at.x + time_step * speed[i].x, at.y + time_step * speed[i].y,
				   at.z + time_step * speed[i].z};
		}
		MPI_Allgatherv(mine.data(), 3 * count[rank], MPI_DOUBLE, all.data(), doubles.data(),
			       first_double.data(), MPI_DOUBLE, MPI_COMM_WORLD);
	}
	const double elapsed = MPI_Wtime() - begin;

	// No force from outside: the momentum stays zero.
	double momentum = 0, energy = 0, sums[2], total[2];
	for (const Vector &v : speed) {
		momentum += v.x + v.y + v.z;
		energy += v.x * v.x + v.y * v.y + v.z * v.z;
	}
	sums[0] = momentum;
	sums[1] = energy;
	MPI_Reduce(sums, total, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	const bool right = rank != 0 || std::abs(total[0]) < 1e-6 * std::sqrt(total[1]);
	if (rank == 0)
		std::printf("elapsed %.4f s, result %.6e, %s\n", elapsed, total[1],
			    right ? "verified" : "WRONG");
	MPI_Finalize();
	return right ? 0 : 1;
}
