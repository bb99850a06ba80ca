// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rounds that a compiler runs before the others, and what looks like them. */
#include "corpus.h"
#include <omp.h>
enum { N = 331 };
static int a[N], marks[N], firsts[N], counts[N], parities[N], kept[N];
static int bins[16], to[N], others[N], pairs[N], thirds;

int main(void)
{
	int n = corpus_int(N);

	for (int i = 0; i < N; i++)
		to[i] = (i * 7 + 3) % N;
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[to[i]] = i * 3;
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
#pragma omp atomic
		bins[to[i] % 16] += i;
	}
#pragma omp parallel /* bound: private */
	{
		int started = 0;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++) {
			if (!started)
				firsts[to[i]] = 1;
			started = 1;
			a[to[i]] += i;
		}
	}
#pragma omp parallel /* bound: private */
	{
		int started = 0;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++) {
			if (!started && (i & 1))
				marks[to[i]] = i;
			started = 1;
		}
	}
#pragma omp parallel /* bound: private */
	{
		int rounds = 0;
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++) {
			a[to[i]] += 2;
			rounds++;
		}
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			if (rounds & 1)
				counts[to[i]] = i;
	}
#pragma omp parallel /* bound: private */
	{
		int first = -1, last = 0;
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++) {
			first = first < 0 ? i : first;
			last = i;
		}
		if (first >= 0 && ((first + last) & 1))
			parities[to[first]] = first;
	}
#pragma omp parallel /* bound: private */
	{
		int odd = 0;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++) {
			if (odd)
				kept[to[i]] = i;
			odd = !odd;
		}
	}
#pragma omp parallel /* bound: private */
	{
		int odd = 0;
#pragma omp for schedule(static)
		for (int i = 1; i < n; i++) {
			if (odd)
				pairs[i] = to[i] + to[i - 1];
			odd = !odd;
		}
	}
#pragma omp parallel /* bound: private */
	{
		int turn = 0, sum = 0;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++) {
			if (turn == 3)
				sum += to[i];
			turn = (turn + 1) & 3;
		}
#pragma omp atomic
		thirds += sum;
	}
#pragma omp parallel /* bound: private */
	{
		int before = 0;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++) {
			others[to[i]] = before;
			before = to[i] % 5;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_add(marks, sizeof(marks));
	corpus_add(firsts, sizeof(firsts));
	corpus_add(counts, sizeof(counts));
	corpus_add(parities, sizeof(parities));
	corpus_add(kept, sizeof(kept));
	corpus_add(bins, sizeof(bins));
	corpus_add(others, sizeof(others));
	corpus_add(pairs, sizeof(pairs));
	corpus_number(thirds);
	return corpus_end();
}
