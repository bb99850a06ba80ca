// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions that keep, compare or reckon with the address of their own stack. */
#include "corpus.h"
enum { N = 256 };
static uintptr_t first[N], kept, near;
static int a[N], b[N];

NOINLINE static int is_far(int i)
{
	volatile int own = i;

	return (uintptr_t)&own - kept + 100000 > 200000;
}

NOINLINE static void keep(int i)
{
	volatile int own = i;

	first[i] = (uintptr_t)&own;
}

int main(void)
{
	int n = corpus_int(N), far = 0;
	volatile int here = n;

	kept = (uintptr_t)&here;
	near = kept;
#pragma omp parallel for schedule(static) /* bound: address */
	for (int i = 0; i < n; i++)
		a[i] = is_far(i);
#pragma omp parallel for schedule(static) /* bound: address */
	for (int i = 0; i < n; i++)
		keep(i);
	for (int i = 0; i < n; i++)
		far += first[i] - near + 100000 > 200000;
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(far);
	return corpus_end();
}
