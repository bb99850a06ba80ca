// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers compared with bounds of a thread's own, around loops that go by the number. */
#include "corpus.h"
#include <omp.h>
enum { N = 240 };
static int a[N], b[N], c[N];
static double total;
static int over, odd, ended;

int main(void)
{
	int n = corpus_int(N), two = corpus_int(2), five = corpus_int(5), seven = corpus_int(7);

#pragma omp parallel /* bound: identity */
	{
		double mine = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += corpus_value(i);
		if (omp_get_thread_num() < two) {
#pragma omp atomic
			total += mine;
		}
	}
#pragma omp parallel /* bound: identity */
	if (omp_get_thread_num() < two)
		for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads())
			a[i] = i;
#pragma omp parallel /* bound: number */
	if (2 * omp_get_num_threads() > five)
		for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads())
			b[i] = i;
#pragma omp parallel /* bound: number */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();

		for (int i = t; i < n; i += threads)
			if (2 * threads > five) {
#pragma omp atomic
				over++;
			}
	}
#pragma omp parallel /* bound: identity */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();

		for (int i = t; i < n; i += threads)
			if (i < seven * t + 1) {
#pragma omp atomic
				odd++;
			}
	}
#pragma omp parallel /* bound: identity */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();

		for (int i = t; i < n; i += threads)
			if (i < t * 7) {
#pragma omp atomic
				odd++;
			}
	}
#pragma omp parallel /* bound: number */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();

		for (int i = t; i != n - 2 + t && i < N; i += threads)
			c[i] = i;
	}
#pragma omp parallel /* bound: number */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();

		for (int i = t; i != 8 + t; i += threads) {
			if (i > 1000)
				break;
#pragma omp atomic
			ended++;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_number(total + over * 3 + odd * 5 + ended * 7);
	return corpus_end();
}
