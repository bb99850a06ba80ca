// SPDX-License-Identifier: LGPL-2.1-or-later
/* Results of threads that are set anew on some ways: by all of them, by some, in iterations. */
#include "corpus.h"
#include <omp.h>

enum { N = 430 };
static long a[N], out[N], total, least;
static double reals;

static void parted(int n)
{
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), self = omp_get_thread_num();
		int q = n / threads, r = n % threads, low, high;
		long mine = 1000000;

		if (self < r) {
			q++;
			r = 0;
		}
		low = q * self + r;
		high = low + q;
		if (low < high) {
			for (int i = low; i < high; i++)
				mine = a[i] < mine ? a[i] : mine;
		} else {
			mine = -1;
		}
#pragma omp critical
		least = mine < least ? mine : least;
	}
}

static void empty(int n)
{
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), self = omp_get_thread_num();
		int q = n / threads, r = n % threads, low, high;
		long mine = 1000000;

		if (self < r) {
			q++;
			r = 0;
		}
		low = q * self + r;
		high = low + q;
		for (int i = low; i < high; i++)
			mine = a[i] < mine ? a[i] : mine;
		if (low >= high)
			mine = mine < -100 ? mine : -100;
#pragma omp critical
		least = mine < least ? mine : least;
	}
}

static void cyclic(int n)
{
#pragma omp parallel /* bound: private */
	{
		int threads = omp_get_num_threads(), self = omp_get_thread_num();
		long mine = 0;

		for (int i = self; i < n; i += threads) {
			for (int j = 0; j < 4; j++)
				mine += a[i] + j;
			if (i == n / 2)
				mine = 0;
		}
#pragma omp atomic
		total += mine;
	}
}

int main(void)
{
	int n = corpus_int(N), some = corpus_int(3);

	for (int i = 0; i < n; i++)
		a[i] = 900 + i % 7;
#pragma omp parallel /* free */
	{
		long mine = 0;

		if (some > 2) {
#pragma omp for nowait
			for (int i = 0; i < n; i++)
				mine += (long)corpus_value(i);
		}
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* bound: count */
	{
		long mine = 7;

		if (some > 5) {
			mine = 0;
#pragma omp for nowait
			for (int i = 0; i < n; i++)
				mine += (long)corpus_value(i);
		}
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* bound: private */
	{
		long mine = 0;

#pragma omp for nowait
		for (int i = 0; i < n; i++) {
			if (a[i] == 905 && i > n / 2)
				mine = 0;
			else
				mine += (long)corpus_value(i);
		}
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* bound: private */
	{
		long mine = 0;

#pragma omp for nowait schedule(static, 5)
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < some; j++)
				mine += (long)corpus_value(i + j);
			if (i % 16 == 3)
				mine = 0;
		}
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* bound: count */
	{
		long mine = 0;

#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += (long)corpus_value(i);
		if (some == 3)
			mine += 1;
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* bound: count */
	{
		double mine = 1;

#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine *= i == 9 ? 2 : 1;
		if (some == 4)
			mine = 1;
#pragma omp atomic
		reals += mine;
	}
#pragma omp parallel /* bound: count */
	{
		unsigned mine = 0;

		if (some > 1) {
#pragma omp for nowait
			for (int i = 0; i < n; i++)
				mine += 0x70000001u + (unsigned)corpus_value(i);
		}
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* bound: private */
	{
		long mine = 0;

		if (some > 2) {
#pragma omp for nowait
			for (int i = 0; i < n; i++) {
				mine += a[i];
				out[i] = mine;
			}
		}
	}
#pragma omp parallel /* bound: count */
	{
		long mine = 0;

		for (int t = 0; t < 3; t++) {
#pragma omp for nowait
			for (int i = 0; i < n; i++)
				mine += (long)corpus_value(i);
			if (t == some - 2)
				mine = 1;
		}
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* bound: private */
	{
		long turn = 0, mine = 0;

#pragma omp for nowait
		for (int i = 0; i < n; i++) {
			if (turn == 2) {
				mine += a[i];
				turn = 0;
				continue;
			}
			turn++;
		}
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* bound: private */
	{
		long turn = 0, mine = 0;

#pragma omp for nowait
		for (int i = 0; i < n; i++) {
			if (a[i] > 902)
				turn = !turn;
			if (i % 3 == 1) {
				if (turn && a[i] > 900)
					mine += i;
			}
		}
#pragma omp atomic
		total += mine;
	}
	least = 1000;
	parted(some - 1);
	empty(some - 1);
	cyclic(n);
	corpus_add(out, sizeof(out));
	corpus_number((double)total + reals + (double)least);
	return corpus_end();
}
