// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops of C++ that are right in one thread alone, and some that are right in any number. */
#include "corpus.h"
#include <cstdlib>
#include <string>
#include <vector>
namespace {
enum { N = 200, M = 32 };
double out[N];
std::vector<int> kept;

NOINLINE void spend(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

struct generator {
	uint64_t seed = 7;
	NOINLINE double operator()()
	{
		uint64_t before = seed;

		spend(500);
		seed = before * 2806196910506780709u + 1;
		return static_cast<double>(before >> 54);
	}
};

NOINLINE double draw()
{
	static generator one{static_cast<uint64_t>(corpus_int(7))};

	return one();
}

struct solver {
	std::vector<double> work = std::vector<double>(M);
	double scale = 1, best = 0;
	NOINLINE double solve(int seed)
	{
		double sum = 0;

		for (int i = 0; i < M; i++)
			work[static_cast<size_t>(i)] = corpus_value(seed + i) * scale;
		spend(1000);
		for (double one : work)
			sum += one;
		return sum;
	}
	NOINLINE double pure(int seed) const
	{
		return corpus_value(seed) * scale;
	}
	NOINLINE void note(double value)
	{
		double before = best;

		spend(500);
		best = before + value;
	}
};

struct point {
	double x, v;
	NOINLINE void move(double t)
	{
		x += v * t;
	}
};
} // namespace

int main()
{
	int n = corpus_int(N);
	solver one;
	generator shared;
	std::vector<point> points(N);

#pragma omp parallel for schedule(dynamic) /* alone: a static of a function, shown */
	for (int i = 0; i < n; i++)
		out[i] = draw();
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: a generator of all, shown */
	for (int i = 0; i < n; i++)
		out[i] = shared();
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: a member that is scratch, shown */
	for (int i = 0; i < n; i++)
		out[i] = one.solve(i);
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: a member that is a result, shown */
	for (int i = 0; i < n; i++)
		one.note(i);
	corpus_number(one.best);
#pragma omp parallel for schedule(dynamic) /* alone: a vector of all that grows */
	for (int i = 0; i < n; i++)
		kept.push_back(i);
	corpus_add(kept.data(), kept.size() * sizeof(int));
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		points[static_cast<size_t>(i)].v = one.pure(i);
		points[static_cast<size_t>(i)].move(2);
	}
	for (const point &each : points)
		corpus_number(each.x);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		std::string text = "number ";

		text += std::to_string(i);
		out[i] = static_cast<double>(text.size());
	}
	corpus_add(out, sizeof(out));
	return corpus_end();
}
