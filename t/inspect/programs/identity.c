// SPDX-License-Identifier: LGPL-2.1-or-later
/* Branches by the thread's number. */
#include "corpus.h"
#include <omp.h>
enum { N = 256 };
static double a[N];
static int even, switched, second, last;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* bound: identity */
	if (omp_get_thread_num() % 2 == 0) {
#pragma omp atomic
		even++;
	}
#pragma omp parallel /* bound: identity */
	switch (omp_get_thread_num()) {
	case 0: switched += 1; break;
	case 1:
#pragma omp critical(a)
		switched += 10;
		break;
	case 2:
#pragma omp critical(a)
		switched += 100;
		break;
	default:
#pragma omp critical(a)
		switched += 1000;
	}
#pragma omp parallel /* bound: identity */
	if (omp_get_thread_num() == 1)
		second = 1;
#pragma omp parallel /* open: last */
	if (omp_get_thread_num() == omp_get_num_threads() - 1)
		last++;
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		a[i] = omp_get_thread_num() == 0 ? 1 : 2;
#pragma omp parallel for schedule(static, 1) /* bound: number */
	for (int i = 0; i < n; i++)
		a[i] += omp_get_num_threads();
	corpus_add(a, sizeof(a));
	corpus_number(even + switched * 3);
	corpus_number(second * 5 + last);
	return corpus_end();
}
