// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reductions by operators of the program's own. */
#include "corpus.h"
enum { N = 600 };
struct range {
	double low, high;
	int at;
};

NOINLINE static void widen(struct range *out, const struct range *in)
{
	if (in->low < out->low || (in->low == out->low && in->at < out->at)) {
		out->low = in->low;
		out->at = in->at;
	}
	if (in->high > out->high)
		out->high = in->high;
}

NOINLINE static void follow(unsigned *out, const unsigned *in)
{
	*out ^= *in;
}

#pragma omp declare reduction(widen : struct range : widen(&omp_out, &omp_in)) \
	initializer(omp_priv = (struct range){1e9, -1e9, N})
#pragma omp declare reduction(one:double : omp_out += omp_in) initializer(omp_priv = 1)
#pragma omp declare reduction(follow:unsigned : follow(&omp_out, &omp_in)) initializer(omp_priv = 0)

int main(void)
{
	int n = corpus_int(N);
	struct range range = {1e9, -1e9, N};
	double ones = 0;
	unsigned chain = 1;

#pragma omp parallel for reduction(widen : range) /* free */
	for (int i = 0; i < n; i++) {
		struct range mine = {corpus_value(i), corpus_value(i), i};

		widen(&range, &mine);
	}
#pragma omp parallel for reduction(one : ones) /* bound: count */
	for (int i = 0; i < n; i++)
		ones += i;
#pragma omp parallel for reduction(follow : chain) /* bound: private */
	for (int i = 0; i < n; i++)
		chain = chain * 31 + (unsigned)i;
	corpus_add(&range.low, sizeof(double));
	corpus_number(range.high + range.at);
	corpus_number(ones);
	corpus_number(chain);
	return corpus_end();
}
