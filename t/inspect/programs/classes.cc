// SPDX-License-Identifier: LGPL-2.1-or-later
/* Methods, lambdas, templates, ranges and virtual calls in a program in which nothing can tell. */
#include "corpus.h"
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

namespace
{
constexpr int N = 210;

struct shape {
	virtual ~shape() = default;
	virtual double area(int i) const = 0;
};
struct square : shape {
	double area(int i) const override
	{
		return i * i;
	}
};
struct strip : shape {
	double width = 3;
	double area(int i) const override
	{
		return i * width;
	}
};

class field
{
      public:
	explicit field(int n) : values_(n)
	{
	}
	NOINLINE void fill()
	{
#pragma omp parallel for /* hot */
		for (int i = 0; i < static_cast<int>(values_.size()); i++)
			values_[i] = corpus_value(i);
	}
	NOINLINE double sum() const
	{
		double all = 0;

#pragma omp parallel for reduction(+ : all) /* hot: not by gcc */
		for (auto place = values_.begin(); place < values_.end(); ++place)
			all += *place;
		return all;
	}
	std::vector<double> values_;
};

template <typename function> NOINLINE void apply(std::vector<double> &to, function f)
{
#pragma omp parallel for schedule(dynamic, 4) /* hot */
	for (int i = 0; i < static_cast<int>(to.size()); i++)
		to[i] = f(i);
}
} // namespace

int main()
{
	int n = corpus_int(N);
	field f(n);
	std::vector<double> a(n), b(n), c(n);
	std::unique_ptr<shape> shapes[] = {std::make_unique<square>(), std::make_unique<strip>()};
	std::function<double(int)> held = [&](int i) { return f.values_[i] * 2; };

	f.fill();
	apply(a, [&](int i) { return f.values_[i] + i; });
	apply(b, [](int i) { return i % 7; });
#pragma omp parallel for /* hot: not by gcc, not from one */
	for (int i = 0; i < n; i++)
		b[i] += shapes[i % 2]->area(i);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		b[i] += held(i);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		std::vector<double> row(1 + i % 9, i);

		std::iota(row.begin(), row.end(), i);
		std::reverse(row.begin(), row.end());
		std::sort(row.begin(), row.end());
		c[i] = std::accumulate(row.begin(), row.end(), 0.0);
	}
	corpus_add(a.data(), n * sizeof(double));
	corpus_add(b.data(), n * sizeof(double));
	corpus_add(c.data(), n * sizeof(double));
	corpus_number(f.sum());
	return corpus_end();
}
