// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ranges, iterators and pointers as loop variables. */
#include "corpus.h"
#include <array>
#include <vector>

namespace
{
constexpr int N = 230;
struct point {
	double x, y;
};
} // namespace

int main()
{
	int n = corpus_int(N);
	std::vector<point> points(n);
	std::array<double, 16> bins{};

#pragma omp parallel for /* free */
	for (auto &p : points)
		p = {1, 2};
#pragma omp parallel for /* free */
	for (auto p = points.begin(); p != points.end(); ++p)
		p->x += static_cast<double>(p - points.begin());
#pragma omp parallel for /* free */
	for (std::size_t i = 0; i < points.size(); ++i) {
#pragma omp atomic
		bins[i % 16] += points[i].x;
	}
#pragma omp parallel for lastprivate(n) /* free */
	for (point *p = points.data(); p < points.data() + points.size(); p += 3) {
		p->y *= p->x;
		n = static_cast<int>(p->y);
	}
	corpus_add(points.data(), points.size() * sizeof(point));
	corpus_add(bins.data(), sizeof(bins));
	corpus_number(n);
	return corpus_end();
}
