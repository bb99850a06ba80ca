// SPDX-License-Identifier: LGPL-2.1-or-later
/* Callees that reckon with an address that they get, of memory that a thread allocated. */
#include "corpus.h"
#include <stdlib.h>
enum { N = 64, BYTES = 200 };
static int low[N], compared[N], kept[N], fine[N];
static char *made[N];
static char *volatile before;

NOINLINE static int bits(const char *p)
{
	return (int)((uintptr_t)p >> 26 & 1023);
}

NOINLINE static int is_above(const char *p, const char *q)
{
	return p > q;
}

NOINLINE static int inner(const char *p, int far)
{
	return far ? bits(p) : 0;
}

NOINLINE static char *fill(char *p, int i)
{
	p[i % BYTES] = (char)i;
	return p;
}

int main(void)
{
	int n = corpus_int(N);

	before = malloc(BYTES);
#pragma omp parallel for schedule(static) /* bound: address */
	for (int i = 0; i < n; i++) {
		char *p = malloc(BYTES);

		low[i] = bits(p) == bits(before);
		free(p);
	}
#pragma omp parallel for schedule(static) /* bound: address */
	for (int i = 0; i < n; i++) {
		char *p = malloc(BYTES);

		compared[i] = is_above(p, before + (1 << 28));
		free(p);
	}
#pragma omp parallel for schedule(static) /* bound: address */
	for (int i = 0; i < n; i++) {
		char *p = malloc(BYTES);

		kept[i] = inner(p, n > 2) == inner(before, n > 2);
		free(p);
	}
#pragma omp parallel for schedule(static) /* bound: address */
	for (int i = 0; i < n; i++) {
		made[i] = malloc(BYTES);
		kept[i] += ((uintptr_t)made[i] >> 26 & 1023) == ((uintptr_t)before >> 26 & 1023);
	}
#pragma omp parallel for schedule(static) /* free */
	for (int i = 0; i < n; i++) {
		char *p = malloc(BYTES);

		fine[i] = *fill(p, 0);
		free(p);
	}
	for (int i = 0; i < n; i++)
		free(made[i]);
	corpus_add(low, sizeof(low));
	corpus_add(compared, sizeof(compared));
	corpus_add(kept, sizeof(kept));
	corpus_add(fine, sizeof(fine));
	return corpus_end();
}
