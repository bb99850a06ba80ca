// SPDX-License-Identifier: LGPL-2.1-or-later
/* thread_local objects, those made at first use, and threads' ids. */
#include "corpus.h"
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace
{
constexpr int N = 180;
std::atomic<int> made;
std::mutex mutex;
std::set<std::thread::id> ids;

struct cache {
	double last = 0;
	std::vector<double> buffer;
	cache() : buffer(16)
	{
		made++;
	}
};
thread_local cache own;

NOINLINE double remember(double x)
{
	double before = own.last;

	own.last = x;
	return before;
}

NOINLINE const std::vector<double> &table()
{
	static const std::vector<double> values = {1, 2, 3, 5, 8};

	return values;
}

NOINLINE double scratch(double x)
{
	thread_local double buffer[8];

	for (double &place : buffer)
		place = x;
	return buffer[3] + buffer[7];
}
} // namespace

int main()
{
	int n = corpus_int(N);
	std::vector<double> a(n), b(n);

#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++)
		a[i] = remember(i);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] += table()[i % 5];
#pragma omp parallel for /* open: scratch */
	for (int i = 0; i < n; i++)
		b[i] = scratch(i);
#pragma omp parallel for schedule(static, 1) /* bound: identity */
	for (int i = 0; i < n; i++) {
		std::lock_guard<std::mutex> lock(mutex);

		ids.insert(std::this_thread::get_id());
	}
	corpus_add(a.data(), n * sizeof(double));
	corpus_add(b.data(), n * sizeof(double));
	corpus_number(static_cast<double>(ids.size()));
	return corpus_end();
}
