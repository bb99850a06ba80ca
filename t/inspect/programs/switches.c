// SPDX-License-Identifier: LGPL-2.1-or-later
/* Iterations that branch by tables, and strings of the processor. */
#include "corpus.h"
#include <math.h>
#include <string.h>
enum { N = 320 };
static double a[N];
static char text[N][32];

NOINLINE static double kind(int i, double x)
{
	switch (i % 9) {
	case 0: return x;
	case 1: return x + 1;
	case 2: return floor(x / 3);
	case 3: return x * 5;
	case 4: return -x;
	case 5: return fmod(x, 7);
	case 6: return x > 5 ? 1 : 0;
	case 7: return fabs(x - 100);
	default: return 0;
	}
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for schedule(guided) /* free */
	for (int i = 0; i < n; i++)
		a[i] = kind(i, corpus_value(i));
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		memset(text[i], 'a' + i % 26, sizeof(text[i]) - 1);
		memmove(text[i] + 3, text[i], 8);
		a[i] += memcmp(text[i], "aaaa", 4) == 0 ? 1 : 2;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		int k = i;

		while (k > 1 && a[i] < 4000) {
			k = k % 2 ? 3 * k + 1 : k / 2;
			a[i] += 1;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_add(text, sizeof(text));
	return corpus_end();
}
