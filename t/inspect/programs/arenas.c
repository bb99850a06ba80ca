// SPDX-License-Identifier: LGPL-2.1-or-later
/* Addresses of memory that a thread allocated, by which it can tell the first thread. */
#include "corpus.h"
#include <stdlib.h>
enum { N = 256 };
static int a[N];

int main(void)
{
	int n = corpus_int(N);
	uintptr_t mine = (uintptr_t)malloc(32) >> 26;

#pragma omp parallel for schedule(static) /* bound: address */
	for (int i = 0; i < n; i++) {
		char *block = malloc(32);

		a[i] = (uintptr_t)block >> 26 != mine;
	}
	corpus_add(a, sizeof(a));
	return corpus_end();
}
