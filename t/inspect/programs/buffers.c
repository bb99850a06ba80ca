// SPDX-License-Identifier: LGPL-2.1-or-later
/* Private buffers that are emptied into shared ones when they are full, and what is left. */
#include "corpus.h"
enum { N = 400, WIDTH = 8 };
static double sum, list[N];
static int listed, flushes, hits;

NOINLINE static double slow(int key)
{
	return key * 3 + 1;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* open: buffer */
	{
		double buffer[WIDTH];
		int used = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++) {
			buffer[used++] = corpus_value(i);
			if (used == WIDTH) {
#pragma omp critical
				for (int k = 0; k < used; k++)
					list[listed++] = buffer[k];
				used = 0;
			}
		}
#pragma omp critical
		for (int k = 0; k < used; k++)
			list[listed++] = buffer[k];
	}
#pragma omp parallel /* bound: count */
	{
		double buffer = 0;
		int used = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++) {
			buffer += i;
			if (++used == WIDTH + 1) {
#pragma omp critical
				{
					sum += buffer;
					flushes++;
				}
				used = 0;
				buffer = 0;
			}
		}
#pragma omp critical
		{
			sum += buffer;
			flushes++;
		}
	}
#pragma omp parallel /* open: memo */
	{
		int key = -1;
		double value = 0;
#pragma omp for
		for (int i = 0; i < n; i++) {
			if (i / 10 != key) {
				key = i / 10;
				value = slow(key);
			}
			list[i] += value;
		}
	}
#pragma omp parallel reduction(+ : hits) /* bound: private */
	{
		int key = -1;
#pragma omp for
		for (int i = 0; i < n; i++) {
			hits += key == i / 100;
			key = i / 100;
		}
	}
	for (int k = 0; k < n; k++)
		sum += list[k];
	corpus_number(sum);
	corpus_number(listed + flushes * 3 + hits * 1000);
	return corpus_end();
}
