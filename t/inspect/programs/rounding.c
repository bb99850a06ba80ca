// SPDX-License-Identifier: LGPL-2.1-or-later
/* What combines rounded numbers of several threads, and what does not. */
#include "corpus.h"
#include <math.h>
enum { N = 1000, M = 16 };
static double a[3 * N], b[3 * N], sums[M], total, most;
static float small[N], least;
static long counts[M], count, largest;

int main(void)
{
	int n = corpus_int(N);

	for (int i = 0; i < 3 * n; i++)
		a[i] = corpus_value(i);
#pragma omp parallel for reduction(+ : total) /* sums: a reduction */
	for (int i = 0; i < n; i++)
		total += a[i];
#pragma omp parallel for reduction(* : least) reduction(+ : count) /* sums: one of two */
	for (int i = 0; i < n; i++) {
		least *= small[i];
		count += i;
	}
#pragma omp parallel for reduction(+ : sums) /* sums: an array */
	for (int i = 0; i < n; i++)
		sums[i % M] += a[i];
#pragma omp parallel for /* sums: an atomic */
	for (int i = 0; i < n; i++)
#pragma omp atomic
		sums[i % M] += a[i];
#pragma omp parallel for /* sums: an atomic of float */
	for (int i = 0; i < n; i++)
#pragma omp atomic
		small[i % M] -= (float)a[i];
#pragma omp parallel for reduction(+ : count) /* exact */
	for (int i = 0; i < n; i++)
		count += (long)a[i] & 7;
#pragma omp parallel for reduction(max : largest) reduction(| : count) /* exact */
	for (int i = 0; i < n; i++) {
		largest = largest < i * 3 % 7 ? i * 3 % 7 : largest;
		count |= i;
	}
#pragma omp parallel for /* exact */
	for (int i = 0; i < n; i++)
#pragma omp atomic
		counts[(int)a[i] % M]++;
#pragma omp parallel for reduction(max : most) /* exact */
	for (int i = 0; i < n; i++)
		most = most < a[i] ? a[i] : most;
#pragma omp parallel for /* exact */
	for (int i = 0; i < n; i++)
		b[i] = a[i] + 1;
	corpus_number(total);
	corpus_number(most);
	corpus_add(counts, sizeof(counts));
	corpus_number((double)(count + largest));
	corpus_number(b[n - 1]);
	return corpus_end();
}
