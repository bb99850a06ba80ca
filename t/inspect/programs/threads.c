// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the system calls a thread; the address of private memory is none of this. */
#define _GNU_SOURCE
#include "corpus.h"
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { N = 120 };
static double a[N], b[N];
static long ids[N], tids[N], own[N], cpu;
static pthread_key_t key;

NOINLINE static int kinds(const long *list)
{
	int count = 0;

	for (int i = 0; i < N; i++) {
		int k = 0;

		while (list[k] != list[i])
			k++;
		count += k == i;
	}
	return count;
}

int main(void)
{
	int n = corpus_int(N);

	pthread_key_create(&key, NULL);
#pragma omp parallel for schedule(static, 1) /* bound: pthread_self, shown */
	for (int i = 0; i < n; i++)
		ids[i] = (long)pthread_self();
#pragma omp parallel for schedule(static, 1) /* bound: gettid, shown */
	for (int i = 0; i < n; i++)
		tids[i] = gettid();
#pragma omp parallel for schedule(static, 1) /* bound: gettid, shown */
	for (int i = 0; i < n; i++)
		tids[i] += syscall(SYS_gettid);
#pragma omp parallel for schedule(static, 1) /* bound: tls, shown */
	for (int i = 0; i < n; i++)
		__asm__("mov %%fs:0, %0" : "=r"(own[i]));
#pragma omp parallel for /* bound: sched_getcpu */
	for (int i = 0; i < n; i++) {
		unsigned number;

		__builtin_ia32_rdtscp(&number);
		a[i] = number > 99999;
	}
#pragma omp parallel for reduction(max : cpu) /* bound: sched_getcpu */
	for (int i = 0; i < n; i++)
		cpu = sched_getcpu() > cpu ? sched_getcpu() : cpu;
#pragma omp parallel for schedule(static) /* bound: pthread, shown */
	for (int i = 0; i < n; i++) {
		long mine = (long)pthread_getspecific(key);

		pthread_setspecific(key, (void *)(mine + 1));
		a[i] = (double)mine;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		double here[4] = {i, 1, 2, 3};
		double *volatile place = here;

		b[i] = place[i % 4];
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(kinds(ids) + 100 * kinds(tids) + 1000 * kinds(own) + (cpu > 99999));
	return corpus_end();
}
