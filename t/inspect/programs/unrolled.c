// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turns of a loop that are done one by one, as gcc's -funroll-loops does: all alike, or not. */
/* Places by indices in all turns. */
#pragma GCC optimize("no-ivopts")
#include "corpus.h"
#include "share.h"
enum { N = 1001 };
/* Volatile: as it stands, not in vectors. */
static volatile long d[2 * N + 8], e[2 * N + 8];
/* In registers all along. */
static volatile long *volatile to_d = d, *volatile to_e = e;
static double f[2 * N], g[2 * N];

#define TURN(i, more) to[i] += from[i] + (more)
#define BEHIND(i, more) to[(i) + !!(more)] += from[i]
#define LOADS(i, more) to[i] += from[(i) - !!(more)]
#define HALF(i, more) ((volatile int *)&to[i])[(more) ? 1 : 0] += 3
#define SETS(i, more) to[i] = (more) ? to[i] + from[i] : to[i] ^ from[i]
/*
 * A first turn, as many as are LEFT of a division, the last of these, the last of each four; two
 * that are left begin at SECOND.
 */
#define BY_FOUR(TURN, before, copy, one, last, rest, second) \
	do { \
		__label__ many, single, two, three; \
		volatile long *to = to_d, *from = to_e; \
		long left, i = low; \
\
		if (i >= high) \
			break; \
		TURN(i, before); \
		left = (rest); \
		i++; \
		if (i >= high) \
			break; \
		if (left == 0) \
			goto many; \
		if (left == 1) \
			goto single; \
		if (left == 2) \
			goto second; \
	three: \
		__attribute__((unused)); \
		TURN(i, copy); \
		i++; \
	two: \
		__attribute__((unused)); \
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
#define LEFT ((high - i - 1) & 3)

/* The same without a first turn. */
#define BY_FOUR_ALONE(TURN, copy, one, last, second) \
	do { \
		__label__ many, single, two, three; \
		volatile long *to = to_d, *from = to_e; \
		long left, i = low; \
\
		if (i >= high) \
			break; \
		left = (high - i) & 3; \
		if (left == 0) \
			goto many; \
		if (left == 1) \
			goto single; \
		if (left == 2) \
			goto second; \
	three: \
		__attribute__((unused)); \
		TURN(i, copy); \
		i++; \
	two: \
		__attribute__((unused)); \
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

/* The same with something carried. */
#define CARRIED(begin, again) \
	do { \
		__label__ many, single, two, done; \
		volatile long *to = to_d, *from = to_e; \
		long left, i = low, carried = (begin); \
\
		if (i >= high) \
			break; \
		left = (high - i) & 3; \
		if (left == 0) \
			goto many; \
		if (left == 1) \
			goto single; \
		if (left == 2) \
			goto two; \
		carried += from[i]; \
		i++; \
	two: \
		carried += from[i]; \
		i++; \
	single: \
		carried += from[i]; \
		i++; \
		if (i >= high) \
			goto done; \
	many: \
		do { \
			carried += from[i]; \
			carried += from[i + 1]; \
			carried += from[i + 2]; \
			carried += from[i + 3] + (again); \
			i += 4; \
		} while (i < high); \
	done: \
		sum += carried; \
	} while (0)

/* A place of the thread's own that a turn sets is read by it; or once for four of them. */
#define KEPT(once) \
	do { \
		__label__ many, single, two; \
		volatile long *to = to_d, *from = to_e; \
		long left, i = low, kept; \
\
		if (i >= high) \
			break; \
		left = (high - i) & 3; \
		if (left == 0) \
			goto many; \
		if (left == 1) \
			goto single; \
		if (left == 2) \
			goto two; \
		own[place] = from[i]; \
		to[i] += own[0]; \
		i++; \
	two: \
		own[place] = from[i]; \
		to[i] += own[0]; \
		i++; \
	single: \
		own[place] = from[i]; \
		to[i] += own[0]; \
		i++; \
		if (i >= high) \
			break; \
	many: \
		do { \
			own[place] = from[i]; \
			kept = own[0]; \
			to[i] += kept; \
			own[place] = from[i + 1]; \
			to[i + 1] += (once) ? kept : own[0]; \
			own[place] = from[i + 2]; \
			to[i + 2] += (once) ? kept : own[0]; \
			own[place] = from[i + 3]; \
			to[i + 3] += (once) ? kept : own[0]; \
			i += 4; \
		} while (i < high); \
	} while (0)

int main(void)
{
	long n = corpus_int(N), place = corpus_int(0), sum = 0;

	for (long i = 0; i < n; i++)
		e[i] = i * 3;
#pragma omp parallel /* free */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 0, 0, 0, LEFT, two);
	}
#pragma omp parallel /* bound: the first turn does more, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 1, 0, 0, 0, LEFT, two);
	}
#pragma omp parallel /* bound: what is left does more, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 1, 0, 0, LEFT, two);
	}
#pragma omp parallel /* bound: the last one that is left does more, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 0, 1, 0, LEFT, two);
	}
#pragma omp parallel /* bound: each fourth turn does more, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 0, 0, 1, LEFT, two);
	}
#pragma omp parallel /* bound: more turns than a share has, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 0, 0, 0, (high - i - 1) & 1, two);
	}
#pragma omp parallel /* bound: another number is divided, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 0, 0, 0, (n - i - 1) & 3, two);
	}
#pragma omp parallel /* bound: one more is divided, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 0, 0, 0, (high - i) & 3, two);
	}
#pragma omp parallel /* bound: the other half is divided, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 0, 0, 0, ((high - i - 1) >> 1) & 3, two);
	}
#pragma omp parallel /* bound: three turns for two that are left, shown */
	{
		SHARE(n);
		BY_FOUR(TURN, 0, 0, 0, 0, LEFT, three);
	}
#pragma omp parallel /* bound: the first turn is stored elsewhere, shown */
	{
		SHARE(n);
		BY_FOUR(BEHIND, 1, 0, 0, 0, LEFT, two);
	}
#pragma omp parallel /* bound: each fourth turn is stored elsewhere, shown */
	{
		SHARE(n);
		BY_FOUR(BEHIND, 0, 0, 0, 1, LEFT, two);
	}
#pragma omp parallel /* bound: what is left reads another place, shown */
	{
		SHARE(n);
		BY_FOUR(LOADS, 0, 0, 1, 0, LEFT, two);
	}
#pragma omp parallel /* bound: the first turn stores the other half, shown */
	{
		SHARE(n);
		BY_FOUR(HALF, 1, 0, 0, 0, LEFT, two);
	}
#pragma omp parallel /* bound: what is left sets something else, shown */
	{
		SHARE(n);
		BY_FOUR(SETS, 0, 1, 1, 0, LEFT, two);
	}
#pragma omp parallel /* free */
	{
		SHARE(n);
		BY_FOUR_ALONE(TURN, 0, 0, 0, two);
	}
#pragma omp parallel /* bound: what is left does more, shown */
	{
		SHARE(n);
		BY_FOUR_ALONE(TURN, 1, 1, 0, two);
	}
#pragma omp parallel /* bound: all but the last that are left do more, shown */
	{
		SHARE(n);
		BY_FOUR_ALONE(TURN, 1, 0, 0, two);
	}
#pragma omp parallel /* bound: each fourth turn does more, shown */
	{
		SHARE(n);
		BY_FOUR_ALONE(TURN, 0, 0, 1, two);
	}
#pragma omp parallel /* bound: what is left is stored elsewhere, shown */
	{
		SHARE(n);
		BY_FOUR_ALONE(BEHIND, 1, 0, 0, two);
	}
#pragma omp parallel /* bound: what is left reads another place, shown */
	{
		SHARE(n);
		BY_FOUR_ALONE(LOADS, 1, 1, 0, two);
	}
#pragma omp parallel /* bound: what is left stores the other half, shown */
	{
		SHARE(n);
		BY_FOUR_ALONE(HALF, 1, 0, 0, two);
	}
#pragma omp parallel /* bound: three turns for two that are left, shown */
	{
		SHARE(n);
		BY_FOUR_ALONE(TURN, 0, 0, 0, three);
	}
#pragma omp parallel reduction(+ : sum) /* free */
	{
		SHARE(n);
		CARRIED(0, 0);
	}
#pragma omp parallel reduction(+ : sum) /* bound: it begins with a number, shown */
	{
		SHARE(n);
		CARRIED(1, 0);
	}
#pragma omp parallel reduction(+ : sum) /* bound: each fourth adds one more, shown */
	{
		SHARE(n);
		CARRIED(0, 1);
	}
#pragma omp parallel /* free */
	{
		long own[4] = {0};
		SHARE(n);
		KEPT(0);
	}
#pragma omp parallel /* bound: what one turn sets is read by four, shown */
	{
		long own[4] = {0};
		SHARE(n);
		KEPT(1);
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
		f[i] = g[i] > e[i] ? g[i] * 2 : e[i];
#pragma omp parallel for /* hot */
	for (long i = 0; i < n; i++)
		f[i] += g[i];
	corpus_add(f, sizeof(f));
	corpus_add((const void *)d, sizeof(d));
	corpus_number((int)sum);
	return corpus_end();
}
