// SPDX-License-Identifier: LGPL-2.1-or-later
/* Private variables that carry a value from one iteration to the next. */
#include "corpus.h"
enum { N = 800 };
static double a[N], b[N];
static unsigned mixed;
static double last_of_all;

int main(void)
{
	int n = corpus_int(N);
	double carried = 5;

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
#pragma omp parallel /* bound: private */
	{
		unsigned s = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			s = s * 2 + (unsigned)a[i];
#pragma omp atomic
		mixed += s;
	}
#pragma omp parallel /* bound: private */
	{
		unsigned seed = 42;
#pragma omp for
		for (int i = 0; i < n; i++) {
			seed = seed * 1103515245u + 12345u;
			b[i] = seed >> 16 & 1023;
		}
	}
#pragma omp parallel for firstprivate(carried) /* bound: private */
	for (int i = 0; i < n; i++) {
		carried += a[i];
		b[i] += carried;
	}
#pragma omp parallel /* bound: private */
	{
		double last = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			last = a[i];
#pragma omp atomic
		last_of_all += last;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		unsigned s = (unsigned)i;

		for (int k = 0; k < 10; k++)
			s = s * 2 + (unsigned)a[k];
		b[i] += s & 1023;
	}
	corpus_add(b, sizeof(b));
	corpus_number(mixed);
	corpus_number(last_of_all);
	return corpus_end();
}
