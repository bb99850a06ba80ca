// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reductions that the language has. */
#include "corpus.h"
enum { N = 900 };
static double a[N];

int main(void)
{
	int n = corpus_int(N), ors = 0, ands = -1, xors = 0, all = 1, any = 0;
	double sum = 0, least = 1e9, most = -1e9, product = 1;
	unsigned long ul = 3;

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
#pragma omp parallel for reduction(+ : sum) reduction(min : least) reduction(max : most) /* free */
	for (int i = 0; i < n; i++) {
		sum += a[i];
		least = a[i] < least ? a[i] : least;
		most = a[i] > most ? a[i] : most;
	}
#pragma omp parallel for reduction(| : ors) reduction(& : ands) reduction(^ : xors) /* free */
	for (int i = 0; i < n; i++) {
		ors |= (int)a[i] & 60;
		ands &= (int)a[i] | 5;
		xors ^= (int)a[i];
	}
#pragma omp parallel for reduction(&& : all) reduction(|| : any) /* free */
	for (int i = 0; i < n; i++) {
		all = all && a[i] < 800;
		any = any || a[i] > 990;
	}
#pragma omp parallel for reduction(* : product) reduction(+ : ul) /* free */
	for (int i = 0; i < n; i++) {
		product *= i % 100 ? 1 : 2;
		ul += (unsigned long)i;
	}
	corpus_number(sum + least * 3 + most * 7);
	corpus_number(ors + ands * 3 + xors * 5 + all * 7 + any * 11);
	corpus_number(product + (double)ul);
	return corpus_end();
}
