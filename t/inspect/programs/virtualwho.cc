// SPDX-License-Identifier: LGPL-2.1-or-later
/* Virtual calls, one of which asks for the thread. */
#include "corpus.h"
#include <memory>
#include <omp.h>
#include <vector>

namespace
{
constexpr int N = 200;

struct source {
	virtual ~source() = default;
	virtual double value(int i) = 0;
};

struct plain : source {
	double value(int i) override
	{
		return corpus_value(i);
	}
};

struct per_thread : source {
	double sums[64] = {};
	double value(int i) override
	{
		return sums[omp_get_thread_num()] += i;
	}
};
} // namespace

int main()
{
	int n = corpus_int(N);
	std::unique_ptr<source> first = std::make_unique<plain>();
	std::unique_ptr<source> second = std::make_unique<per_thread>();
	std::vector<double> a(n), b(n);

#pragma omp parallel for /* open: indirect */
	for (int i = 0; i < n; i++)
		a[i] = first->value(i);
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		b[i] = second->value(i);
	corpus_add(a.data(), a.size() * sizeof(double));
	corpus_add(b.data(), b.size() * sizeof(double));
	return corpus_end();
}
