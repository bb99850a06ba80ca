// SPDX-License-Identifier: LGPL-2.1-or-later
/* The runtime's own function by its address. */
#include "corpus.h"
#include <omp.h>
enum { N = 256 };
static int a[N];
static int (*volatile who)(void);

int main(void)
{
	int n = corpus_int(N);

	who = omp_get_thread_num;
#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++)
		a[i] = who();
	corpus_add(a, sizeof(a));
	return corpus_end();
}
