// SPDX-License-Identifier: LGPL-2.1-or-later
/* Scratch and slots by an iteration's number modulo what the program was told. */
#include "corpus.h"
#include <omp.h>
#include <string.h>
enum { N = 4000, MOST = 64, WIDTH = 40 };
static int told;
static int scratch[MOST][WIDTH], a[N], b[N], c[N], d[N], e[N], bins[N], *rows[MOST];

int main(void)
{
	int n = corpus_int(N), columns = corpus_int(50);

	told = omp_get_max_threads();
	for (int t = 0; t < MOST; t++)
		rows[t] = scratch[t] + WIDTH / 2;
#pragma omp parallel for schedule(static, 1) /* bound: number, cannot be shown */
	for (int i = 0; i < n; i++) {
		int *mine = scratch[i % told];

		for (int k = 0; k < WIDTH; k++)
			mine[k] = i + k;
		for (int k = 0; k < WIDTH; k++)
			a[i] += mine[WIDTH - 1 - k];
	}
#pragma omp parallel for schedule(static, 1) /* bound: number, cannot be shown */
	for (int i = 0; i < n; i++) {
		volatile int *count = &scratch[i % told][0];

		*count = *count + 1;
		b[i] = i;
	}
#pragma omp parallel for schedule(static) /* bound: number, cannot be shown */
	for (int i = 0; i < n; i++) {
		volatile int *slot = &scratch[(int)((long)i * told / n)][1];

		*slot = *slot + 1;
		b[i]++;
	}
#pragma omp parallel for schedule(static, 1) /* bound: number, cannot be shown */
	for (int i = 0; i < n; i++) {
		volatile int *slot = rows[i % told];

		slot[0] = i;
		e[i] = slot[0];
	}
#pragma omp parallel for schedule(static) /* free */
	for (int i = 0; i < n; i++) {
#pragma omp atomic
		bins[i % columns] += i;
	}
#pragma omp parallel for schedule(static) /* free */
	for (int i = 0; i < n; i++)
		c[i / columns * columns + (columns - 1 - i % columns)] = i;
#pragma omp parallel for collapse(2) schedule(static) /* free */
	for (int i = 0; i < n / columns; i++)
		for (int j = 0; j < columns; j++)
			d[i * columns + j] = i - j;
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(d, sizeof(d));
	corpus_add(e, sizeof(e));
	corpus_add(bins, sizeof(bins));
	return corpus_end();
}
