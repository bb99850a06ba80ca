// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers of other widths: long double, complex, 128 bits, short, float, bool. */
#include "corpus.h"
#include <complex.h>
#include <stdbool.h>
enum { N = 350 };
static long double wide[N];
static double _Complex c[N];
static __int128 big;
static short small[N];
static bool flags[N];

int main(void)
{
	int n = corpus_int(N);
	long double sum = 0, carried = 0;
	double _Complex all = 0;
	float f = 0;

#pragma omp parallel for reduction(+ : sum) /* free */
	for (int i = 0; i < n; i++) {
		wide[i] = corpus_value(i);
		sum += wide[i];
	}
#pragma omp parallel for reduction(+ : all) /* free */
	for (int i = 0; i < n; i++) {
		c[i] = i + 2 * i * I;
		all += c[i] * c[i];
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		__int128 x = (__int128)i << 70;
#pragma omp critical
		big += x;
	}
#pragma omp parallel for reduction(+ : f) /* free */
	for (int i = 0; i < n; i++) {
		small[i] = (short)(i * 3);
		flags[i] = small[i] > 100;
		f += small[i] & 7;
	}
#pragma omp parallel for firstprivate(carried) /* bound: private */
	for (int i = 0; i < n; i++) {
		carried = carried + wide[i];
		c[i] = (double)carried;
	}
	corpus_number((double)sum + creal(all) + cimag(all) + f);
	corpus_number((double)(big >> 70));
	corpus_add(c, sizeof(c));
	corpus_add(small, sizeof(small));
	corpus_add(flags, sizeof(flags));
	return corpus_end();
}
