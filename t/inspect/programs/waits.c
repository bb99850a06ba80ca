// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops that spin on shared memory, and long ones that do not. */
#include "corpus.h"
#include <sched.h>
enum { N = 80 };
static volatile int ready, gone, turn;
static _Atomic int open_;
static int spin;
static int stage[2], sum, largest;
static double a[N];

NOINLINE static void wait_for(volatile int *flag)
{
	while (!*flag)
		sched_yield();
}

int main(void)
{
	int n = corpus_int(2), m = corpus_int(N);

#pragma omp parallel for schedule(static) /* bound: spins, shown */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			while (!ready)
				;
		else
			ready = 1;
		stage[i] = i + 1;
	}
#pragma omp parallel for schedule(static) /* bound: spins, shown */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			wait_for(&gone);
		else
			gone = 1;
		stage[i] += i + 1;
	}
#pragma omp parallel for schedule(static) /* bound: spins, shown */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			while (open_ == 0)
				stage[i]++;
		else
			open_ = 1;
		stage[i] = i;
	}
#pragma omp parallel for /* bound: spins */
	for (int i = 0; i < m; i++) {
		while (__atomic_exchange_n(&spin, 1, __ATOMIC_ACQUIRE))
			sched_yield();
		sum += i;
		__atomic_store_n(&spin, 0, __ATOMIC_RELEASE);
	}
#pragma omp parallel for schedule(static, 1) /* bound: spins */
	for (int i = 0; i < m; i++) {
		while (turn != i)
			sched_yield();
		a[i] = i > 0 ? a[i - 1] + i : 1;
		turn = i + 1;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < m; i++) {
		int mine = (int)corpus_value(i), old = __atomic_load_n(&largest, __ATOMIC_RELAXED);

		while (mine > old &&
		       !__atomic_compare_exchange_n(&largest, &old, mine, 0, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED))
			;
	}
#pragma omp parallel for /* hot */
	for (int i = 0; i < m; i++) {
		double left = corpus_value(i);

		while (left > 3)
			left = left / 2 - 0.25;
		a[i] = (double)(long)(a[i] + left);
	}
	corpus_add(stage, sizeof(stage));
	corpus_add(a, sizeof(a));
	corpus_number(sum + largest);
	return corpus_end();
}
