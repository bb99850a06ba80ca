// SPDX-License-Identifier: LGPL-2.1-or-later
/* Virtual calls: of classes that look at nothing. */
#include "corpus.h"
#include <memory>
#include <vector>

namespace
{
constexpr int N = 240;

struct shape {
	virtual ~shape() = default;
	virtual double area(int i) const = 0;
};

struct square : shape {
	double area(int i) const override
	{
		return static_cast<double>(i) * i;
	}
};

struct strip : shape {
	double width;
	explicit strip(double w) : width(w)
	{
	}
	double area(int i) const override
	{
		return i * width;
	}
};
} // namespace

int main()
{
	int n = corpus_int(N);
	std::vector<std::unique_ptr<shape>> shapes;
	std::vector<double> a(n);
	double sum = 0;

	for (int i = 0; i < n; i++) {
		if (i % 2)
			shapes.push_back(std::make_unique<square>());
		else
			shapes.push_back(std::make_unique<strip>(i));
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = shapes[i]->area(i);
#pragma omp parallel for reduction(+ : sum) /* free */
	for (int i = 0; i < n; i++)
		if (dynamic_cast<const strip *>(shapes[i].get()))
			sum += a[i];
#pragma omp parallel for schedule(dynamic) /* free */
	for (int i = 0; i < n; i++) {
		std::unique_ptr<shape> own = std::make_unique<strip>(i + 1);

		a[i] += own->area(2);
	}
	corpus_add(a.data(), a.size() * sizeof(double));
	corpus_number(sum);
	return corpus_end();
}
