// SPDX-License-Identifier: LGPL-2.1-or-later
/* Private objects, exceptions, atomics of the library; what threads have once or of their own. */
#include "corpus.h"
#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <omp.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{
constexpr int N = 120;
std::atomic<int> made, counted;
std::mutex mutex;
thread_local std::vector<double> own(16);

struct counter {
	int value = 1;
	counter() = default;
	counter(const counter &other) : value(other.value)
	{
		made++;
	}
	counter &operator=(const counter &) = default;
};

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
struct by_thread : source {
	double value(int i) override
	{
		return omp_get_thread_num() + i;
	}
};

NOINLINE double risky(int i)
{
	if (i % 7 == 0)
		throw std::runtime_error("seven");
	if (i % 11 == 0)
		throw i;
	return i * 2;
}
} // namespace

int main()
{
	int n = corpus_int(N), failures = 0, kinds = 0;
	counter first;
	std::vector<double> a(n), b(n), c(n);
	std::vector<std::thread::id> ids(n);
	std::unique_ptr<source> sources[] = {std::make_unique<plain>(),
					     std::make_unique<by_thread>()};

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		counted += i;
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
#pragma omp parallel for firstprivate(first) /* bound: count, shown */
	for (int i = 0; i < n; i++)
		b[i] = first.value + i;
#pragma omp parallel /* bound: count, shown */
	std::cout << "one more\n" << std::flush;
#pragma omp parallel for /* bound: lock */
	for (int i = 0; i < n; i++) {
		std::lock_guard<std::mutex> lock(mutex);

		failures++;
	}
#pragma omp parallel for schedule(static) /* bound: tls, shown */
	for (int i = 0; i < n; i++)
		b[i] += own[3]++;
#pragma omp parallel for /* bound: pthread_self, shown */
	for (int i = 0; i < n; i++)
		ids[i] = std::this_thread::get_id();
#pragma omp parallel for /* bound: indirect */
	for (int i = 0; i < n; i++)
		c[i] = sources[0]->value(i);
#pragma omp parallel for /* bound: indirect, shown */
	for (int i = 0; i < n; i++)
		c[i] += sources[1]->value(i);
	for (int i = 1; i < n; i++)
		kinds += ids[i] != ids[i - 1];
	corpus_add(a.data(), n * sizeof(double));
	corpus_add(b.data(), n * sizeof(double));
	corpus_add(c.data(), n * sizeof(double));
	corpus_number(failures + counted + made * 1000 + kinds * 10000);
	return corpus_end();
}
