// SPDX-License-Identifier: LGPL-2.1-or-later
/* Containers for each thread, merged later. */
#include "corpus.h"
#include <algorithm>
#include <omp.h>
#include <vector>

namespace
{
constexpr int N = 260;
} // namespace

int main()
{
	int n = corpus_int(N);
	std::vector<std::vector<int>> lists(64);
	std::vector<int> all, kept;

#pragma omp parallel /* open: order */
	{
		std::vector<int> own;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			if (corpus_value(i) > 300)
				own.push_back(i);
		for (int value : own) {
#pragma omp critical
			all.push_back(value);
		}
	}
	std::sort(all.begin(), all.end());
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		lists[omp_get_thread_num()].push_back(i);
#pragma omp parallel for ordered /* free */
	for (int i = 0; i < n; i++) {
#pragma omp ordered
		kept.push_back(i * 2);
	}
	for (const auto &list : lists)
		corpus_number(static_cast<double>(list.size()));
	corpus_add(all.data(), all.size() * sizeof(int));
	corpus_add(kept.data(), kept.size() * sizeof(int));
	return corpus_end();
}
