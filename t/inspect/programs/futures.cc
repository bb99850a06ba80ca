// SPDX-License-Identifier: LGPL-2.1-or-later
/* Objects that are shared, counted and made once. */
#include "corpus.h"
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

namespace
{
constexpr int N = 150;
std::once_flag once;
int begun;

using number = std::variant<int, double>;

NOINLINE double as_double(const number &x)
{
	return std::visit([](auto value) { return static_cast<double>(value); }, x);
}
} // namespace

int main()
{
	int n = corpus_int(N);
	auto shared = std::make_shared<std::vector<double>>(n, 2.0);
	std::vector<double> a(n);
	long holders = 0;

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		std::shared_ptr<std::vector<double>> mine = shared;

		a[i] = (*mine)[i] + i;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		number x = i % 2 ? number(i) : number(i * 3.0);
		std::optional<double> y;

		if (i % 3)
			y = as_double(x);
		a[i] += y.value_or(7);
	}
#pragma omp parallel for /* open: once */
	for (int i = 0; i < n; i++) {
		std::call_once(once, [] { begun++; });
		a[i] += begun;
	}
#pragma omp parallel /* bound: count */
	{
		std::shared_ptr<std::vector<double>> mine = shared;
#pragma omp barrier
#pragma omp single
		holders = mine.use_count();
	}
	corpus_add(a.data(), n * sizeof(double));
	corpus_number(static_cast<double>(holders));
	return corpus_end();
}
