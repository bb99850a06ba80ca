// SPDX-License-Identifier: LGPL-2.1-or-later
/* All threads store the same, or what the last one says. */
#include "corpus.h"
#include <omp.h>
enum { N = 90, MOST = 64 };
static double a[N], constant, different;
static int flags[MOST];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* open: constant */
	constant = n * 3;
#pragma omp parallel for /* open: constant */
	for (int i = 0; i < n; i++) {
		a[i] = corpus_value(i);
		constant = 7;
	}
#pragma omp parallel /* bound: identity, cannot be shown */
	different = omp_get_thread_num();
#pragma omp parallel /* bound: identity */
	flags[omp_get_thread_num()] = 1;
#pragma omp parallel for lastprivate(constant) /* free */
	for (int i = 0; i < n; i++)
		constant = a[i];
	if (different > MOST)
		corpus_number(different);
	corpus_add(a, sizeof(a));
	corpus_add(flags, sizeof(flags));
	corpus_number(constant);
	return corpus_end();
}
