// SPDX-License-Identifier: LGPL-2.1-or-later
/* Critical sections and locks; two of these go wrong with another team. */
#include "corpus.h"
#include <omp.h>
#include <pthread.h>
enum { N = 200 };
static double a[N];
static int guarded, named, locked, mutexed, tested, taken, slots[2];
static omp_lock_t lock, gate;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* A pool of the told size. */
NOINLINE static int *claim(void)
{
	int *slot;

	omp_set_lock(&lock);
	slot = &slots[taken++];
	omp_unset_lock(&lock);
	return slot;
}

int main(void)
{
	int n = corpus_int(N);

	omp_init_lock(&lock);
	omp_init_lock(&gate);
#pragma omp parallel for /* bound: critical */
	for (int i = 0; i < n; i++) {
#pragma omp critical
		guarded += i;
	}
#pragma omp parallel for /* bound: critical */
	for (int i = 0; i < n; i++) {
#pragma omp critical(other)
		named += i;
	}
#pragma omp parallel for /* bound: lock */
	for (int i = 0; i < n; i++) {
		omp_set_lock(&lock);
		locked += i;
		omp_unset_lock(&lock);
	}
#pragma omp parallel for /* bound: lock */
	for (int i = 0; i < n; i++)
		if (omp_test_lock(&lock)) {
			tested = 1;
			omp_unset_lock(&lock);
		}
#pragma omp parallel for /* bound: pthread */
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		mutexed += i;
		pthread_mutex_unlock(&mutex);
	}
#pragma omp parallel /* bound: lock, shown */
	{
		int *mine = claim();
#pragma omp for
		for (int i = 0; i < n; i++) {
#pragma omp atomic
			*mine += i;
		}
	}
	omp_set_lock(&gate);
#pragma omp parallel for schedule(static) /* bound: lock, shown */
	for (int i = 0; i < 2; i++)
		if (i == 0)
			omp_set_lock(&gate);
		else
			omp_unset_lock(&gate);
	corpus_add(a, sizeof(a));
	corpus_number(guarded + named + locked + tested + mutexed);
	corpus_number(taken);
	return corpus_end();
}
