// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turns of a loop that are done one by one, as gcc's -funroll-loops does: all alike, or not. */
#include "corpus.h"
#include "share.h"
enum { N = 1001 };
/* As it stands, not in vectors. */
static volatile long d[2 * N], e[2 * N];
static double f[2 * N];

#define TURN(i, more) d[i] += e[i] + (more)
/* A first turn, as many as are left of a division, the last of these, the last of each four. */
#define BY_FOUR(first, copy, one, last, mask) \
	do { \
		__label__ many, single, two; \
		long left, i = low; \
\
		if (i >= high) \
			break; \
		TURN(i, first); \
		left = (high - i - 1) & (mask); \
		i++; \
		if (i >= high) \
			break; \
		if (left == 0) \
			goto many; \
		if (left == 1) \
			goto single; \
		if (left == 2) \
			goto two; \
		TURN(i, copy); \
		i++; \
	two: \
		TURN(i, copy); \
		i++; \
	single: \
		TURN(i, one); \
		i++; \
		if (i >= high) \
			break; \
	many: \
		do { \
			TURN(i, 0); \
			TURN(i + 1, 0); \
			TURN(i + 2, 0); \
			TURN(i + 3, last); \
			i += 4; \
		} while (i < high); \
	} while (0)

int main(void)
{
	long n = corpus_int(N);

	for (long i = 0; i < n; i++)
		e[i] = i * 3;
#pragma omp parallel /* free */
	{
		SHARE(n);
		BY_FOUR(0, 0, 0, 0, 3);
	}
#pragma omp parallel /* bound: the first turn does more, shown */
	{
		SHARE(n);
		BY_FOUR(1, 0, 0, 0, 3);
	}
#pragma omp parallel /* bound: what is left does more, shown */
	{
		SHARE(n);
		BY_FOUR(0, 1, 0, 0, 3);
	}
#pragma omp parallel /* bound: the last one that is left does more, shown */
	{
		SHARE(n);
		BY_FOUR(0, 0, 1, 0, 3);
	}
#pragma omp parallel /* bound: each fourth turn does more, shown */
	{
		SHARE(n);
		BY_FOUR(0, 0, 0, 1, 3);
	}
#pragma omp parallel /* bound: more turns than a share has, shown */
	{
		SHARE(n);
		BY_FOUR(0, 0, 0, 0, 1);
	}
#pragma omp parallel /* open: carried */
	{
		int first = 1;

#pragma omp for
		for (long i = 0; i < n; i++) {
			f[i] = first ? 7 : e[i];
			first = 0;
		}
	}
#pragma omp parallel for /* free */
	for (long i = 0; i < n; i++)
		f[i] = d[i] > e[i] ? d[i] * 2 : e[i];
#pragma omp parallel for /* free */
	for (long i = 0; i < n; i++)
		f[i] += i;
	corpus_add(f, sizeof(f));
	corpus_add((const void *)d, sizeof(d));
	return corpus_end();
}
