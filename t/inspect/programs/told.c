// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was told, asked outside: told 2 it is 2, and any team computes the same by it. A program
 * that was told 1 leaves out atomics, so that no region of it may ever have more. */
#include "corpus.h"
#include <omp.h>
enum { N = 300 };
static double a[N], b[N];
static int sum, parts[64];

int main(void)
{
	int n = corpus_int(N), nt = omp_get_max_threads();

	printf("%d threads\n", nt);
#pragma omp parallel for schedule(static, n / nt) /* hot: not by gcc */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i) + nt;
#pragma omp parallel for /* open: told one */
	for (int i = 0; i < n; i++) {
		if (nt > 1) {
#pragma omp atomic
			sum += (int)a[i];
		} else {
			sum += (int)a[i];
		}
	}
#pragma omp parallel for /* free */
	for (int part = 0; part < nt; part++)
		for (int i = part; i < n; i += nt) {
			b[i] = a[i] * 2;
			parts[part]++;
		}
#pragma omp parallel for /* bound: number */
	for (int i = 0; i < n; i++) {
		if (omp_get_num_threads() > 1) {
#pragma omp atomic
			sum += i;
		} else {
			sum += i;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(parts, sizeof(parts));
	corpus_number(sum);
	return corpus_end();
}
