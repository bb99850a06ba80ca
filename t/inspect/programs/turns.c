// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turns of unrolled loops that are alike but for what is easily overlooked. */
#pragma GCC optimize("no-ivopts")
#include "corpus.h"
#include "share.h"
enum { N = 1001 };
/* Volatile: as it stands, not in vectors. */
static volatile long d[2 * N + 8], e[2 * N + 8];
static double f[2 * N + 8], g[2 * N + 8];
/* In registers all along. */
static volatile long *volatile to_d = d, *volatile to_e = e;
static double *volatile to_f = f, *volatile to_g = g;

/* Not known to the compiler. */
#define HIDE(what) __asm__("" : "+r"(what))

/*
 * No first turn; as many turns as are LEFT of a division of steps of BY, the FIRST of three another
 * one, the last of each four MORE; two at SECOND, one at THIRD. ASIDE is done for two or three.
 */
#define BY_FOUR(FIRST, TURN, MORE, rest, by, second, third, ASIDE) \
	do { \
		__label__ many, one, two; \
		volatile long *to = to_d, *from = to_e; \
		double *sums = to_f, *numbers = to_g; \
		long left, i = low; \
\
		(void)from, (void)to, (void)sums, (void)numbers; \
		if (i >= high) \
			break; \
		left = (rest); \
		HIDE(left); \
		if (left == 0) \
			goto many; \
		if (left == 1) \
			goto third; \
		ASIDE; \
		if (left == 2) \
			goto second; \
		FIRST(i); \
		i += (by); \
	two: \
		TURN(i); \
		i += (by); \
	one: \
		TURN(i); \
		i += (by); \
		if (i >= high) \
			break; \
	many: \
		do { \
			TURN(i); \
			TURN(i + (by)); \
			TURN(i + 2 * (by)); \
			MORE(i + 3 * (by)); \
			i += 4 * (by); \
		} while (i < high); \
	} while (0)
#define LEFT ((high - i) & 3)
#define NOTHING (void)0

#define ADD(i) to[i] += from[i]
#define ADD_MORE(i) to[i] += from[i] + more
#define ADD_ONE(i) to[i] += from[i] + 1
#define NEGATED(i) to[i] = -from[i]
#define WHOLE(i) to[i] = from[i]
#define WORD(i) to[i] = (int)from[i]
#define UNSIGNED(i) to[i] = (unsigned int)from[i]
#define FLOAT_WHOLE(i) sums[i] = (double)(from[i] + to[i])
#define FLOAT_WORD(i) sums[i] = (double)(int)(from[i] + to[i])
#define ADD_AT(i) *(volatile long *)((volatile char *)to + (i)) += 1
/* Sixteen bytes, of as many or of half of them. */
#define COPY(instruction, i) \
	__asm__ volatile(instruction " %1, %%xmm0\n\tmovups %%xmm0, %0" \
			 : "=m"(*(__int128 *)&sums[2 * (i)]) \
			 : "m"(*(__int128 *)&numbers[2 * (i)]) \
			 : "xmm0")
#define COPY_WHOLE(i) COPY("movups", i)
#define COPY_HALF(i) COPY("movq", i)

/* A rotation leaves what the comparison found. */
#define IS(number, i) \
	__asm__ volatile("mov %1, %%rax\n\txor %%edx, %%edx\n\tcmp $" number ", %%rax\n\t" \
			 "rol $1, %%rdx\n\tsete %%dl\n\tmov %%rdx, %0" \
			 : "=m"(to[i]) \
			 : "m"(numbers[i]) \
			 : "rax", "rdx")
#define IS_ZERO(i) IS("0", i)
#define IS_ONE(i) IS("1", i)
#define TWICE(base, i) \
	__asm__ volatile("mov %1, %%rax\n\tlea (%%" base ", %%" base "), %%rax\n\t" \
			 "mov %%rax, %0" \
			 : "=m"(to[i]) \
			 : "m"(from[i]) \
			 : "rax")
#define TWICE_WHOLE(i) TWICE("rax", i)
#define TWICE_HALF(i) TWICE("eax", i)

NOINLINE static void check(void)
{
	corpus_add(f, sizeof(f));
	corpus_add((const void *)d, sizeof(d));
}

int main(void)
{
	long n = corpus_int(N), more;

	for (long i = 0; i < 2 * N + 8; i++) {
		e[i] = i * 3 - 1000 + (i << 33);
		g[i] = (double)(i * 5);
	}
#pragma omp parallel /* hot: not by clang */
	{
		SHARE(n);
		BY_FOUR(ADD, ADD, ADD, LEFT, 1, two, one, NOTHING);
	}
	check();
#pragma omp parallel /* bound: each fourth turn stores something else, shown */
	{
		SHARE(n);
		BY_FOUR(WHOLE, WHOLE, NEGATED, LEFT, 1, two, one, NOTHING);
	}
	check();
#pragma omp parallel /* bound: the first one that is left does more, shown */
	{
		SHARE(n);
		BY_FOUR(ADD_ONE, ADD, ADD, LEFT, 1, two, one, NOTHING);
	}
	check();
#pragma omp parallel /* bound: two turns for one that is left, and one for two, shown */
	{
		SHARE(n);
		BY_FOUR(ADD, ADD, ADD, LEFT, 1, one, two, NOTHING);
	}
#pragma omp parallel /* bound: stored where two turns are left, shown */
	{
		SHARE(n);
		BY_FOUR(ADD, ADD, ADD, LEFT, 1, two, one, to[i + n] += 1);
	}
	check();
#pragma omp parallel private(more) /* bound: more is added where two turns are left, shown */
	{
		SHARE(n);
		more = 1;
		HIDE(more);
		BY_FOUR(ADD_MORE, ADD_MORE, ADD_MORE, LEFT, 1, two, one, more += 2);
	}
	check();
#pragma omp parallel /* bound: what is left is compared with another multiple of it, shown */
	{
		SHARE(n);
		low *= 8;
		high *= 8;
		HIDE(low);
		HIDE(high);
		BY_FOUR(ADD_AT, ADD_AT, ADD_AT, (high - i + 7) & 24, 8, two, one, NOTHING);
	}
	check();
#pragma omp parallel /* bound: each fourth one is narrow, shown */
	{
		SHARE(n);
		BY_FOUR(WHOLE, WHOLE, WORD, LEFT, 1, two, one, NOTHING);
	}
	check();
#pragma omp parallel /* bound: each fourth one has no sign, shown */
	{
		SHARE(n);
		BY_FOUR(WORD, WORD, UNSIGNED, LEFT, 1, two, one, NOTHING);
	}
	check();
#pragma omp parallel /* bound: each fourth one is made of half a number, shown */
	{
		SHARE(n);
		BY_FOUR(FLOAT_WHOLE, FLOAT_WHOLE, FLOAT_WORD, LEFT, 1, two, one, NOTHING);
	}
	check();
#pragma omp parallel /* bound: each fourth one loads less, shown */
	{
		SHARE(n);
		BY_FOUR(COPY_WHOLE, COPY_WHOLE, COPY_HALF, LEFT, 1, two, one, NOTHING);
	}
	check();
	for (long i = 0; i < N; i++)
		g[i] = 0;
#pragma omp parallel /* bound: each fourth one is compared with another number, shown */
	{
		SHARE(n);
		BY_FOUR(IS_ZERO, IS_ZERO, IS_ONE, LEFT, 1, two, one, NOTHING);
	}
	check();
#pragma omp parallel /* bound: each fourth one is an address of 32 bits, shown */
	{
		SHARE(n);
		BY_FOUR(TWICE_WHOLE, TWICE_WHOLE, TWICE_HALF, LEFT, 1, two, one, NOTHING);
	}
	check();
#pragma omp parallel for /* hot */
	for (long i = 0; i < n; i++)
		f[i] += g[i];
	check();
	return corpus_end();
}
