// SPDX-License-Identifier: LGPL-2.1-or-later
/* Streams of the standard library. */
#include "corpus.h"
#include <iostream>
#include <omp.h>
#include <sstream>
#include <string>
#include <vector>

namespace
{
constexpr int N = 70;
} // namespace

int main()
{
	int n = corpus_int(N);
	std::vector<std::string> lines(n);
	std::ostringstream log;

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		std::ostringstream text;

		text << i << ' ' << corpus_value(i);
		lines[i] = text.str();
	}
#pragma omp parallel /* free */
	{
#pragma omp single
		std::cout << "one thread\n";
#pragma omp for ordered
		for (int i = 0; i < n; i++) {
#pragma omp ordered
			log << lines[i] << '\n';
		}
	}
#pragma omp parallel /* bound: count */
	{
#pragma omp critical
		log << "thread\n";
	}
#pragma omp parallel /* bound: number */
	{
#pragma omp master
		std::cout << "team of " << omp_get_num_threads() << '\n';
	}
	std::cout.flush();
	corpus_add(log.str().data(), log.str().size());
	return corpus_end();
}
