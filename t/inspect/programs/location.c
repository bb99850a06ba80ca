// SPDX-License-Identifier: LGPL-2.1-or-later
/* Smallest and largest with their place. */
#include "corpus.h"
enum { N = 700 };
static double a[N];

int main(void)
{
	int n = corpus_int(N), at = -1, place = -1, first = N;
	double least = 1e9, most = -1e9;

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
#pragma omp parallel /* free */
	{
		double mine = 1e9;
		int mine_at = -1;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			if (a[i] < mine) {
				mine = a[i];
				mine_at = i;
			}
#pragma omp critical
		if (mine < least || (mine == least && mine_at < at)) {
			least = mine;
			at = mine_at;
		}
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
#pragma omp critical
		if (a[i] > most || (a[i] == most && i < place)) {
			most = a[i];
			place = i;
		}
	}
#pragma omp parallel for reduction(min : first) /* free */
	for (int i = 0; i < n; i++)
		if (a[i] > 900 && i < first)
			first = i;
	corpus_number(least + at * 3);
	corpus_number(most + place * 3);
	corpus_number(first);
	return corpus_end();
}
