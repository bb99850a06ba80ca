// SPDX-License-Identifier: LGPL-2.1-or-later
/* Locks and atomics around what each iteration does. */
#include "corpus.h"
#include <omp.h>
#include <pthread.h>
enum { N = 300 };
static double sum, total, other;
static int bins[8], taken[N], read_back;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	int n = corpus_int(N), place = 0;
	omp_lock_t lock;
	omp_nest_lock_t nest;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		omp_set_lock(&lock);
		sum += corpus_value(i);
		omp_unset_lock(&lock);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		total += i;
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		other += i * 3;
		pthread_mutex_unlock(&mutex);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
#pragma omp atomic
		bins[i * 5 % 8]++;
#pragma omp atomic read
		read_back = bins[0];
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		int mine;
#pragma omp atomic capture
		mine = place++;
		taken[mine] = 1;
	}
#pragma omp parallel for /* open: order */
	for (int i = 0; i < n; i++) {
		int mine;
#pragma omp atomic capture
		mine = --place;
		taken[mine] = i;
	}
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest);
	for (int i = 0; i < n; i++)
		place += taken[i];
	corpus_add(bins, sizeof(bins));
	corpus_number(sum + total + other + place);
	return corpus_end();
}
