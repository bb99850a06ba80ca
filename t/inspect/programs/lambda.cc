// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lambdas, functions as objects and templates. */
#include "corpus.h"
#include <functional>
#include <omp.h>
#include <vector>

namespace
{
constexpr int N = 300;
std::vector<double> a(N), b(N);

template <typename F> void each(int n, F f)
{
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		f(i);
}

template <typename F> NOINLINE double total(int n, F f)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum) /* free */
	for (int i = 0; i < n; i++)
		sum += f(i);
	return sum;
}
} // namespace

int main()
{
	int n = corpus_int(N);
	double scale = corpus_int(3);
	std::function<double(int)> value = [scale](int i) { return corpus_value(i) * scale; };

	each(n, [&](int i) { a[i] = corpus_value(i) * scale; });
	each(n, [](int i) { b[i] = i; });
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] += value(i);
	auto who = [&](int i) { a[i] += omp_get_thread_num(); };
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		who(i);
	corpus_number(total(n, [](int i) { return b[i]; }));
	corpus_add(a.data(), n * sizeof(double));
	corpus_add(b.data(), n * sizeof(double));
	return corpus_end();
}
