// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threads known by what the system calls them. */
#include "corpus.h"
#define __USE_GNU
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { N = 120, MOST = 64 };
int sched_getcpu(void);
long syscall(long, ...);
static long seen[3][MOST];
static double a[N];
static pthread_key_t key;

NOINLINE static int note(long *list, long who)
{
	int k = 0;

#pragma omp critical
	{
		while (k < MOST && list[k] != who && list[k])
			k++;
		list[k] = who;
	}
	return k;
}

NOINLINE static int count(const long *list)
{
	int k = 0;

	while (k < MOST && list[k])
		k++;
	return k;
}

int main(void)
{
	int n = corpus_int(N), cpu = 0;

	pthread_key_create(&key, NULL);
#pragma omp parallel for schedule(static, 1) /* bound: identity */
	for (int i = 0; i < n; i++)
		note(seen[0], (long)pthread_self());
#pragma omp parallel for schedule(static, 1) /* bound: identity */
	for (int i = 0; i < n; i++)
		note(seen[1], syscall(SYS_gettid));
#pragma omp parallel for schedule(static, 1) /* bound: address */
	for (int i = 0; i < n; i++) {
		int here = i;

		note(seen[2], (long)&here);
	}
#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++) {
		long kept = (long)pthread_getspecific(key);

		pthread_setspecific(key, (void *)(kept + i));
		a[i] = (double)kept;
	}
#pragma omp parallel for reduction(max : cpu) /* bound: identity, cannot be shown */
	for (int i = 0; i < n; i++)
		cpu = sched_getcpu() > cpu ? sched_getcpu() : cpu;
#pragma omp parallel for /* bound: identity, cannot be shown */
	for (int i = 0; i < n; i++)
		if (pthread_self() == 1)
			a[i] = 1;
	corpus_number(cpu > 9999 ? cpu : 0);
	for (int k = 0; k < 3; k++)
		corpus_number(count(seen[k]));
	corpus_add(a, sizeof(a));
	return corpus_end();
}
