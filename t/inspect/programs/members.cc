// SPDX-License-Identifier: LGPL-2.1-or-later
/* Members: regions in methods, pointers to members, classes with fields by thread. */
#include "corpus.h"
#include <omp.h>
#include <vector>

namespace
{
constexpr int N = 210;

class field
{
      public:
	explicit field(int n) : values_(n), by_thread_(omp_get_max_threads() + 64)
	{
	}
	NOINLINE void fill()
	{
#pragma omp parallel for /* free */
		for (int i = 0; i < size(); i++)
			values_[i] = corpus_value(i);
	}
	NOINLINE double sum() const
	{
		double all = 0;

#pragma omp parallel for reduction(+ : all) /* free */
		for (int i = 0; i < size(); i++)
			all += values_[i];
		return all;
	}
	NOINLINE void apply(double (field::*how)(int) const)
	{
#pragma omp parallel for /* free */
		for (int i = 0; i < size(); i++)
			values_[i] = (this->*how)(i);
	}
	NOINLINE double count_by_thread()
	{
#pragma omp parallel for /* bound: identity */
		for (int i = 0; i < size(); i++)
			by_thread_[omp_get_thread_num()] += 1;
		return by_thread_[0];
	}
	double twice(int i) const
	{
		return values_[i] * 2;
	}
	double next(int i) const
	{
		return i * 3;
	}
	void print() const
	{
		corpus_add(values_.data(), values_.size() * sizeof(double));
	}

      private:
	int size() const
	{
		return static_cast<int>(values_.size());
	}
	std::vector<double> values_;
	std::vector<double> by_thread_;
};
} // namespace

int main()
{
	field f(corpus_int(N));

	f.fill();
	corpus_number(f.sum());
	f.apply(&field::twice);
	f.print();
	f.apply(&field::next);
	f.print();
	corpus_number(f.count_by_thread());
	return corpus_end();
}
