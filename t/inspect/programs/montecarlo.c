// SPDX-License-Identifier: LGPL-2.1-or-later
/* Transport of particles: histories with seeds of their own, tallies by atomics, a bank. */
#include "corpus.h"
enum { N = 400, BINS = 12 };
static double tally[BINS], bank[4 * N], lost;
static int banked;

NOINLINE static double next(uint64_t *seed)
{
	*seed = *seed * 2806196910506780709u + 1;
	return (double)(*seed >> 54);
}

NOINLINE static int history(uint64_t seed, double *weight)
{
	int collisions = 0;

	*weight = 16;
	while (*weight > 1 && collisions < 50) {
		if (next(&seed) > 600)
			*weight /= 2;
		collisions++;
	}
	return collisions;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for reduction(+ : lost) schedule(dynamic, 10) /* hot */
	for (int i = 0; i < n; i++) {
		double weight;
		int collisions = history((uint64_t)i * 7919, &weight);

		lost += weight;
#pragma omp atomic
		tally[collisions % BINS] += weight;
	}
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		uint64_t seed = (uint64_t)i;

		if (next(&seed) > 500) {
			int place;
#pragma omp atomic capture
			place = banked++;
			bank[place] = i;
		}
	}
	for (int i = 0; i < banked; i++)
		lost += bank[i];
	corpus_add(tally, sizeof(tally));
	corpus_number(lost + banked);
	return corpus_end();
}
