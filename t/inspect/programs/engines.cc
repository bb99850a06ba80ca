// SPDX-License-Identifier: LGPL-2.1-or-later
/* Engines of random numbers: of a thread, of an iteration. */
#include "corpus.h"
#include <omp.h>
#include <random>
#include <vector>

namespace
{
constexpr int N = 140;
thread_local std::minstd_rand engine(5);
} // namespace

int main()
{
	int n = corpus_int(N);
	std::vector<double> a(n);
	std::vector<std::mt19937> engines(64, std::mt19937(3));

#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++)
		a[i] = static_cast<double>(engine() % 1000);
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		a[i] += static_cast<double>(engines[omp_get_thread_num()]() % 1000);
#pragma omp parallel /* bound: private */
	{
		std::minstd_rand own(9);
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += static_cast<double>(own() % 1000);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		std::minstd_rand own(static_cast<unsigned>(i) + 1);

		a[i] += static_cast<double>(own() % 1000);
	}
	corpus_add(a.data(), n * sizeof(double));
	return corpus_end();
}
