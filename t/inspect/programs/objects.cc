// SPDX-License-Identifier: LGPL-2.1-or-later
/* Private objects: their constructors run once for each thread. */
#include "corpus.h"
#include <vector>

namespace
{
constexpr int N = 250;
int made, copied, ended;

struct counted {
	double value = 1;
	counted()
	{
#pragma omp atomic
		made++;
	}
	counted(const counted &other) : value(other.value)
	{
#pragma omp atomic
		copied++;
	}
	~counted()
	{
#pragma omp atomic
		ended++;
	}
};

struct quiet {
	double value;
	quiet() : value(0)
	{
	}
};

struct adder {
	double sum = 0;
	std::vector<double> seen;
	void operator+=(const adder &other)
	{
		sum += other.sum;
	}
};
#pragma omp declare reduction(add:adder : omp_out += omp_in)
} // namespace

int main()
{
	int n = corpus_int(N);
	std::vector<double> a(n);
	counted first;
	quiet still;
	adder all;

#pragma omp parallel for firstprivate(first) /* bound: count */
	for (int i = 0; i < n; i++)
		a[i] = first.value;
#pragma omp parallel /* bound: count */
	{
		counted own;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += own.value;
	}
#pragma omp parallel for private(still) /* free */
	for (int i = 0; i < n; i++) {
		still.value = i;
		a[i] += still.value;
	}
#pragma omp parallel for reduction(add : all) /* free */
	for (int i = 0; i < n; i++)
		all.sum += i;
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		std::vector<double> own(static_cast<size_t>(i) + 1, 2.0);

		a[i] += own[i / 2] + own.size();
	}
	corpus_number(made + copied * 100 + ended * 10000);
	corpus_number(all.sum);
	corpus_add(a.data(), n * sizeof(double));
	return corpus_end();
}
