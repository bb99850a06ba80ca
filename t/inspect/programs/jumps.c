// SPDX-License-Identifier: LGPL-2.1-or-later
/* setjmp and cancellation. */
#include "corpus.h"
#include <setjmp.h>
enum { N = 90 };
static double a[N];
static int found;

NOINLINE static double careful(jmp_buf *place, int i)
{
	if (i % 7 == 0)
		longjmp(*place, 1);
	return i * 2;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* bound: setjmp */
	for (int i = 0; i < n; i++) {
		jmp_buf place;

		a[i] = -1;
		if (setjmp(place) == 0)
			a[i] = careful(&place, i);
	}
#pragma omp parallel for /* bound: cancellation */
	for (int i = 0; i < n; i++) {
		if (i == 5) {
#pragma omp atomic write
			found = 1;
#pragma omp cancel for
		}
	}
	corpus_add(a, sizeof(a));
	corpus_number(found);
	return corpus_end();
}
