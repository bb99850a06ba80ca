// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threads that do something once each: whoever counts it knows how many they are. */
#include "corpus.h"
#include <omp.h>
static int atomics, criticals, reduced, locked, captured;
static double list[64];

int main(void)
{
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel /* bound: count */
	{
#pragma omp atomic
		atomics++;
	}
#pragma omp parallel /* bound: count */
	{
#pragma omp critical
		criticals += 2;
	}
#pragma omp parallel reduction(+ : reduced) /* bound: count */
	reduced += 3;
#pragma omp parallel /* bound: count */
	{
		omp_set_lock(&lock);
		locked++;
		omp_unset_lock(&lock);
	}
#pragma omp parallel /* bound: count */
	{
		int mine;
#pragma omp atomic capture
		mine = captured++;
		list[mine] = 1;
	}
	omp_destroy_lock(&lock);
	corpus_number(atomics);
	corpus_number(criticals);
	corpus_number(reduced);
	corpus_number(locked);
	corpus_add(list, sizeof(list));
	return corpus_end();
}
