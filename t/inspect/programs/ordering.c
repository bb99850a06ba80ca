// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ordered loops: what runs in order is the same for any team; what a thread keeps is not. */
#include "corpus.h"
#include <omp.h>
enum { N = 90 };
static double sum;
static unsigned mixed = 1, counted, kept, firsts, a[N], b[N], c[N], d[N];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for ordered schedule(static) /* free */
	for (int i = 0; i < n; i++) {
		double x = corpus_value(i);

		a[i] = (unsigned)i;
#pragma omp ordered
		sum = sum / 2 + x;
	}
#pragma omp parallel for ordered schedule(guided) /* free */
	for (int i = 0; i < n; i++) {
#pragma omp ordered
		b[i] = mixed = mixed * 31 + a[i];
	}
#pragma omp parallel /* bound: private */
	{
		unsigned own = 0;
#pragma omp for ordered schedule(static)
		for (int i = 0; i < n; i++) {
			own += a[i];
#pragma omp ordered
			c[i] = counted = counted * 3 + own;
		}
	}
#pragma omp parallel /* bound: private */
	{
		int first = 1;
#pragma omp for ordered schedule(static, 2)
		for (int i = 0; i < n; i++) {
#pragma omp ordered
			if (first) {
				firsts = firsts * 7 + (unsigned)i;
				first = 0;
			}
		}
	}
#pragma omp parallel /* bound: count */
	{
#pragma omp for ordered schedule(static)
		for (int i = 0; i < n; i++) {
#pragma omp ordered
			d[i] = ++kept;
		}
#pragma omp critical
		kept++;
	}
#pragma omp parallel for ordered schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
#pragma omp ordered
		mixed = mixed * 5 + (unsigned)omp_get_thread_num();
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(d, sizeof(d));
	corpus_number(sum + mixed + kept + firsts);
	return corpus_end();
}
