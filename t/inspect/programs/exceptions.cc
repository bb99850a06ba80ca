// SPDX-License-Identifier: LGPL-2.1-or-later
/* Exceptions that are thrown and caught inside a region. */
#include "corpus.h"
#include <omp.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
constexpr int N = 120;

NOINLINE double risky(int i)
{
	if (i % 7 == 0)
		throw std::runtime_error("seven");
	if (i % 11 == 0)
		throw i;
	return i * 2;
}

NOINLINE void by_thread()
{
	if (omp_get_thread_num() > 0)
		throw std::logic_error("not the first");
}

struct guard {
	double *place;
	~guard()
	{
		*place += 1;
	}
};
} // namespace

int main()
{
	int n = corpus_int(N), failures = 0;
	std::vector<double> a(n), b(n);
	std::string message;

#pragma omp parallel for reduction(+ : failures) /* free */
	for (int i = 0; i < n; i++) {
		try {
			a[i] = risky(i);
		} catch (const std::exception &) {
			failures++;
		} catch (int value) {
			a[i] = -value;
		}
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		try {
			guard on_exit{&b[i]};

			b[i] += risky(i);
		} catch (...) {
			b[i] += 100;
		}
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		try {
			a[i] += risky(i);
		} catch (const std::runtime_error &error) {
#pragma omp critical
			message = error.what();
		} catch (int) {
		}
	}
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++) {
		try {
			by_thread();
			b[i] += 1;
		} catch (const std::logic_error &) {
			b[i] += 2;
		}
	}
	corpus_add(a.data(), n * sizeof(double));
	corpus_add(b.data(), n * sizeof(double));
	corpus_add(message.data(), message.size());
	corpus_number(failures);
	return corpus_end();
}
