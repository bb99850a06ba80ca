// SPDX-License-Identifier: LGPL-2.1-or-later
/* Elements of a thread's own array by indexes that a compiler does not know. */
#include "corpus.h"
#include <omp.h>
enum { N = 256 };
static int a[N], b[N];

int main(void)
{
	int n = corpus_int(N), back = corpus_int(-200), first = corpus_int(0);

#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		long own[400];

		own[0] = 0;
		own[back + 200] = omp_get_thread_num();
		a[i] = (int)own[0];
	}
#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		volatile long own[400];
		int t = omp_get_thread_num();

		own[0] = own[1] = own[2] = 0;
		for (int k = 399; k >= first; k--)
			own[k] = t;
		b[i] = (int)own[0];
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}
