// SPDX-License-Identifier: LGPL-2.1-or-later
/* The standard library inside regions: sorting, maps, strings, mutexes, atomics. */
#include "corpus.h"
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

namespace
{
constexpr int N = 160;
std::mutex mutex;
std::map<int, int> counts;
std::atomic<long> total;
std::atomic<int> entered;
} // namespace

int main()
{
	int n = corpus_int(N);
	std::vector<std::vector<int>> rows(n);
	std::vector<std::string> names(n);

#pragma omp parallel for schedule(dynamic, 3) /* free */
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 20; k++)
			rows[i].push_back(static_cast<int>(corpus_value(i * 20 + k)));
		std::sort(rows[i].begin(), rows[i].end());
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		std::lock_guard<std::mutex> lock(mutex);

		counts[rows[i][0] % 10]++;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		names[i] = "row " + std::to_string(i);
		total += std::accumulate(rows[i].begin(), rows[i].end(), 0L);
	}
#pragma omp parallel for /* free */
	for (auto row = rows.begin(); row < rows.end(); ++row)
		std::reverse(row->begin(), row->end());
#pragma omp parallel /* bound: count */
	entered.fetch_add(1);
	for (const auto &name : names)
		corpus_add(name.data(), name.size());
	for (const auto &[key, count] : counts)
		corpus_number(key + count * 3);
	for (const auto &row : rows)
		corpus_add(row.data(), row.size() * sizeof(int));
	corpus_number(static_cast<double>(total) + entered);
	return corpus_end();
}
