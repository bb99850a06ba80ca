/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inspect.c: regions that are free and regions that are bound, by the names of their functions. */
#include <omp.h>
#include <stdio.h>

enum { N = 1000 };
double a[N], b[N], sums[256];
int start[256], counts[64];
_Thread_local int own;

void free_plain(int n, double by)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = b[i] * by;
}

double free_sum(int n)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += a[i];
	return sum;
}

void free_two(int n)
{
#pragma omp parallel
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] = i;
#pragma omp for
		for (int i = 0; i < n; i++)
			b[i] = a[n - 1 - i];
	}
}

void free_histogram(int n, const int *of)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++) {
#pragma omp atomic
		counts[of[i]]++;
	}
}

void bound_slot(int n)
{
#pragma omp parallel
	{
		double sum = 0;

#pragma omp for
		for (int i = 0; i < n; i++)
			sum += a[i];
		sums[omp_get_thread_num()] = sum;
	}
}

void bound_start(int n)
{
#pragma omp parallel
	{
		int threads = omp_get_num_threads(), number = omp_get_thread_num();
		int share = n / threads, rest = n % threads, low;

		if (number < rest) {
			share++;
			rest = 0;
		}
		low = share * number + rest;
		start[number] = low;
		for (int i = low; i < low + share; i++)
			a[i] = i;
	}
}

void bound_bounds(int n)
{
#pragma omp parallel
	{
		int threads = omp_get_num_threads(), number = omp_get_thread_num();
		int share = n / threads, rest = n % threads, low;

		if (number < rest) {
			share++;
			rest = 0;
		}
		low = share * number + rest;
		for (int i = low; i <= low + share; i++)
			a[i] += i;
	}
}

void bound_count(int *count)
{
#pragma omp parallel
	{
#pragma omp atomic
		(*count)++;
	}
}

void bound_carried(int n)
{
#pragma omp parallel
	{
		unsigned int seed = 42;

#pragma omp for
		for (int i = 0; i < n; i++) {
			seed = seed * 1103515245u + 12345u;
			a[i] = seed;
		}
	}
}

void bound_initial(int n, double *to)
{
#pragma omp parallel
	{
		double sum = 1;

#pragma omp for nowait
		for (int i = 0; i < n; i++)
			sum += a[i];
#pragma omp atomic
		*to += sum;
	}
}

void bound_storage(int n)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = ++own;
}

void bound_clause(int n)
{
#pragma omp parallel for num_threads(4)
	for (int i = 0; i < n; i++)
		a[i] = i;
}

void bound_print(void)
{
#pragma omp parallel
	puts("one more");
}

void bound_kept(int n)
{
#pragma omp parallel
	{
		int count = 0;

#pragma omp for
		for (int i = 0; i < n; i++) {
			a[i] = i;
			count++;
		}
#pragma omp for
		for (int i = 0; i < n; i++)
			if (count > 10)
				b[i] = i;
	}
}

void bound_further(int n, int more)
{
#pragma omp parallel
	{
		int threads = omp_get_num_threads(), number = omp_get_thread_num();
		int share = n / threads, rest = n % threads, low;

		if (number < rest) {
			share++;
			rest = 0;
		}
		low = share * number + rest;
		for (int i = low; i < low + share + more; i++)
			a[i] += 1;
	}
}

void bound_last(int n, double *x)
{
#pragma omp parallel
	{
		int threads = omp_get_num_threads(), number = omp_get_thread_num();
		int share = n / threads, rest = n % threads, low;

		if (number < rest) {
			share++;
			rest = 0;
		}
		low = share * number + rest;
		for (int i = low; i <= low + share; i++)
			x[i] += 1;
	}
}

void bound_rest(int n)
{
#pragma omp parallel
	{
		int threads = omp_get_num_threads(), number = omp_get_thread_num();
		int share = n / threads, rest = n % threads, low;

		if (number < rest) {
			share++;
			rest = 0;
		}
		low = share * number + rest;
		for (int i = low; i < n; i++)
			a[i] += 1;
	}
}

void bound_all(int n)
{
#pragma omp parallel
	{
		int threads = omp_get_num_threads(), number = omp_get_thread_num();
		int share = n / threads, rest = n % threads, low;

		if (number < rest) {
			share++;
			rest = 0;
		}
		low = share * number + rest;
		for (int i = 0; i < low + share; i++) {
#pragma omp atomic
			counts[0]++;
		}
	}
}

void bound_second(int n)
{
#pragma omp parallel
	{
		int threads = omp_get_num_threads(), number = omp_get_thread_num();
		int share = n / threads, rest = n % threads, low;

		if (number < rest) {
			share++;
			rest = 0;
		}
		low = share * number + rest;
		for (int i = low; i < low + share; i += 2)
			a[i] += 1;
	}
}

int main(void)
{
	return 0;
}
