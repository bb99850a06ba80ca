// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threadprivate values kept over two bound regions, with free ones of any size between them. */
#include "corpus.h"
#include <omp.h>
enum { N = 200 };
static double a[N], kept;
static int sums[64];
#pragma omp threadprivate(kept)

int main(void)
{
	int n = corpus_int(N);

	omp_set_dynamic(0);
#pragma omp parallel /* bound: tls */
	kept = 10 * (omp_get_thread_num() + 1);
	for (int k = 0; k < 20; k++) {
#pragma omp parallel for /* hot */
		for (int i = 0; i < n; i++)
			a[i] += corpus_value(i + k);
#pragma omp parallel /* bound: tls */
		{
			sums[omp_get_thread_num()] += (int)kept;
			kept++;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_add(sums, sizeof(sums));
	return corpus_end();
}
