/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * packages.cc: phases in which rank 0 has four times the work of the others, done by a library
 * with threads: OpenBLAS (-DOPENBLAS), FFTW (-DFFTW) or Kokkos (-DKOKKOS). Prints a checksum of
 * what came out in every bit.
 */
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <vector>

#ifdef KOKKOS
#include <Kokkos_Core.hpp>
#endif

static const int phases = 15;

#ifdef OPENBLAS
extern "C" void cblas_dgemm(int, int, int, int, int, int, double, const double *, int,
			    const double *, int, double, double *, int);

static void work(std::vector<double> &data, int times)
{
	const int n = 320;
	std::vector<double> product(n * n);

	for (int i = 0; i < times; i++) {
		cblas_dgemm(101, 111, 111, n, n, n, 1.0 / n, data.data(), n, data.data(), n, 0.0,
			    product.data(), n);
		data.swap(product);
	}
}
static const size_t size = 320 * 320;
#elif defined(FFTW)
#include <fftw3.h>
#include <omp.h>

static fftw_plan plan_for(fftw_complex *at)
{
	static fftw_plan plan;

	if (!plan) {
		fftw_init_threads();
		fftw_plan_with_nthreads(omp_get_max_threads());
		plan = fftw_plan_dft_2d(512, 512, at, at, FFTW_FORWARD, FFTW_ESTIMATE);
	}
	return plan;
}

static void work(std::vector<double> &data, int times)
{
	fftw_complex *at = reinterpret_cast<fftw_complex *>(data.data());

	for (int i = 0; i < times; i++) {
		fftw_execute_dft(plan_for(at), at, at);
		for (double &value : data)
			value /= 512;
	}
}
static const size_t size = 2 * 512 * 512;
#else
static void work(std::vector<double> &data, int times)
{
	double *at = data.data();

	for (int i = 0; i < 8 * times; i++)
		Kokkos::parallel_for(
			"work", data.size(),
			KOKKOS_LAMBDA(const size_t n) { at[n] = std::sin(at[n]) + 0.5; });
}
static const size_t size = 50000;
#endif

static uint64_t checksum(const std::vector<double> &data)
{
	uint64_t sum = 14695981039346656037u;

	for (double value : data) {
		uint64_t bits;

		std::memcpy(&bits, &value, sizeof(bits));
		sum = (sum ^ bits) * 1099511628211u;
	}
	return sum;
}

static void run(int rank)
{
	std::vector<double> data(size);
	uint64_t mine, sum = 0;

	for (size_t i = 0; i < size; i++)
		data[i] = std::cos(0.1 * static_cast<double>(i % 1009));
	for (int phase = 0; phase < phases; phase++) {
		work(data, rank == 0 ? 24 : 6);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	mine = checksum(data);
	MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
	if (rank == 0)
		std::printf("result %016llx\n", static_cast<unsigned long long>(sum));
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef KOKKOS
	Kokkos::initialize(argc, argv);
#endif
	run(rank);
#ifdef KOKKOS
	Kokkos::finalize();
#endif
	MPI_Finalize();
	return 0;
}
