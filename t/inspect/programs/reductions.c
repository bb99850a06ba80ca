// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reductions: of the language, by hand, and those that count threads. */
#include "corpus.h"
enum { N = 600, BINS = 8 };
struct range {
	double low, high;
};
static double a[N], total, from_one;
static int bins[BINS], hist[BINS];

NOINLINE static void widen(struct range *out, const struct range *in)
{
	out->low = in->low < out->low ? in->low : out->low;
	out->high = in->high > out->high ? in->high : out->high;
}
#pragma omp declare reduction(widen : struct range : widen(&omp_out, &omp_in)) \
	initializer(omp_priv = (struct range){1e9, -1e9})
#pragma omp declare reduction(one:double : omp_out += omp_in) initializer(omp_priv = 1)

int main(void)
{
	int n = corpus_int(N), all = 1, any = 0, each = 0;
	unsigned ors = 0, ands = ~0u;
	double sum = 0, least = 1e9, ones = 0;
	struct range range = {1e9, -1e9};

#pragma omp parallel for reduction(+ : sum) reduction(min : least) /* hot */
	for (int i = 0; i < n; i++) {
		a[i] = corpus_value(i);
		sum += a[i];
		least = a[i] < least ? a[i] : least;
	}
#pragma omp parallel for reduction(| : ors) reduction(& : ands) reduction(&& : all) /* free */ \
	reduction(|| : any)
	for (int i = 0; i < n; i++) {
		ors |= (unsigned)i;
		ands &= (unsigned)i | 64;
		all = all && a[i] > -25;
		any = any || a[i] > 900;
	}
#pragma omp parallel for reduction(+ : bins) /* free */
	for (int i = 0; i < n; i++)
		bins[i % BINS] += i;
#pragma omp parallel for reduction(widen : range) /* free */
	for (int i = 0; i < n; i++)
		widen(&range, &(struct range){a[i], a[i]});
#pragma omp parallel /* hot */
	{
		double mine = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += a[i];
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* free */
	{
		int mine[BINS] = {0};
#pragma omp for
		for (int i = 0; i < n; i++)
			mine[i % BINS]++;
		for (int k = 0; k < BINS; k++) {
#pragma omp atomic
			hist[k] += mine[k];
		}
	}
#pragma omp parallel /* bound: count, shown */
	{
		double mine = 1;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += a[i];
#pragma omp atomic
		from_one += mine;
	}
#pragma omp parallel for reduction(one : ones) /* bound: count, shown */
	for (int i = 0; i < n; i++)
		ones += i;
#pragma omp parallel reduction(+ : each) /* bound: count, shown */
	{
		each++;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += 1;
	}
	corpus_add(a, sizeof(a));
	corpus_add(bins, sizeof(bins));
	corpus_add(hist, sizeof(hist));
	corpus_number(sum + least + total + range.low + range.high);
	corpus_number(ors + ands + all + any);
	corpus_number(from_one + ones + each);
	return corpus_end();
}
