// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is done where the rest of vectors would begin, but is none; and parts of vectors. */
#include "corpus.h"
#include "share.h"
#include <complex.h>
#include <emmintrin.h>
enum { N = 1001 };
/* Volatile: no vectors. */
static volatile double a[N + 8], f[N + 8];
static double g[2 * N], h[N];
static double complex z[N];

static void check(void)
{
	corpus_add((const void *)a, sizeof(a));
	corpus_add((const void *)f, sizeof(f));
}

/* Where gcc begins the rest of vectors of N numbers. */
#define REST (low + (size & -4))

static NOINLINE void of_another_array(int n)
{
#pragma omp parallel /* bound: one iteration's store to another array, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = 7;
			a[REST] = 7;
		}
	}
	check();
#pragma omp parallel /* bound: the same, of what is read, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = h[i];
			a[REST] = h[REST];
		}
	}
	check();
#pragma omp parallel /* bound: several iterations' stores to another array, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = 7;
			for (int i = REST; i < high; i++)
				a[i] = 9;
		}
	}
	check();
}

static NOINLINE void of_the_same_array(int n)
{
	volatile double *again = g;

#pragma omp parallel /* bound: one iteration's store at an offset, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = h[i];
			again[REST + N] = h[REST];
		}
	}
	corpus_add(g, sizeof(g));
#pragma omp parallel /* bound: the store of an iteration too many, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = 3;
			again[REST + 4] = 3;
		}
	}
	corpus_add(g, sizeof(g));
#pragma omp parallel /* bound: one iteration's store of another value, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = 7;
			if (size & 3)
				again[REST] = 8;
		}
	}
	corpus_add(g, sizeof(g));
#pragma omp parallel /* bound: one iteration reads another array, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = h[i];
			if (size & 3)
				again[REST] = a[REST];
		}
	}
	corpus_add(g, sizeof(g));
#pragma omp parallel /* bound: one iteration stores half of what it should, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = 7;
			if (size & 3)
				((volatile float *)g)[2 * REST] = 7;
		}
	}
	corpus_add(g, sizeof(g));
#pragma omp parallel /* bound: one iteration is done twice, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] += h[i];
			if (size & 3)
				again[REST] += h[REST];
		}
	}
	corpus_add(g, sizeof(g));
}

static float to[N], from[N];

static NOINLINE void of_less(int n)
{
	for (int i = 0; i < n; i++)
		from[i] = (float)corpus_value(i);
#pragma omp parallel /* bound: the last iteration of three is left out, shown */
	{
		SHARE(n);
		int left = size & 3, at = REST;

		if (low < high) {
			for (int i = low; i < at; i += 4)
				_mm_storeu_ps(to + i, _mm_add_ps(_mm_loadu_ps(to + i),
								 _mm_loadu_ps(from + i)));
			if (left) {
				to[at] += from[at];
				if (left > 1)
					to[at + 1] += from[at + 1];
			}
		}
	}
	corpus_add(to, sizeof(to));
}

static NOINLINE void of_a_sum(int n)
{
	double sum = 0;

#pragma omp parallel reduction(+ : sum) /* bound: one number too many in a sum, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				g[i] = h[i];
			if (size & 3)
				sum += a[REST];
		}
	}
	corpus_number(sum);
}

int main(void)
{
	int n = corpus_int(N);

	for (int i = 0; i < n; i++) {
		h[i] = i % 3;
		z[i] = i % 5;
	}
#pragma omp parallel /* bound: no loop, shown */
	{
		SHARE(n);
		a[low + (size & -4)] = 1;
	}
	check();
#pragma omp parallel /* bound: no loop, but not empty, shown */
	{
		SHARE(n);
		if (low < high)
			a[low + (size & -4)] += 2;
	}
	check();
#pragma omp parallel /* bound: after a loop, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			f[i] += h[i];
		if (low < high)
			a[low + (size & -4)] += 4;
	}
	check();
#pragma omp parallel /* bound: after a loop over the same, shown */
	{
		SHARE(n);
		if (low < high) {
			for (int i = low; i < high; i++)
				a[i] += h[i];
			a[low + (size & -4)] += 5;
		}
	}
	check();
#pragma omp parallel /* bound: the thread's number is half of what is stored, shown */
	{
		double number = omp_get_thread_num();
#pragma omp for
		for (int i = 0; i < n; i++)
			_mm_storeu_pd(g + 2 * i, _mm_loadh_pd(_mm_set_sd(number), h + i));
	}
	corpus_add(g, sizeof(g));
#pragma omp parallel /* bound: the thread's number is the fourth of some, shown */
	{
		double number = omp_get_thread_num();
#pragma omp for
		for (int i = 0; i < n; i++) {
			double complex by;

			__real__ by = h[i];
			__imag__ by = number;
			z[i] = cpow(z[i], by);
		}
	}
	corpus_add(z, sizeof(z));
	of_another_array(n);
	of_the_same_array(n);
	of_less(n);
	of_a_sum(n);
	return corpus_end();
}
