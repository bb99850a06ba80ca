// SPDX-License-Identifier: LGPL-2.1-or-later
/* Atomics of the compiler, addresses of frames, spin locks, computed gotos. */
#include "corpus.h"
#include <sched.h>
enum { N = 250, MOST = 64 };
static long total, threads_in, most;
static int locked;
static double a[N], guarded;
static uintptr_t frames[MOST];
static int frames_seen;

NOINLINE static int frame_of(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	int k = 0;

#pragma omp critical
	{
		while (k < MOST && frames[k] && frames[k] != here)
			k++;
		frames[k] = here;
	}
	return k;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		__sync_fetch_and_add(&total, i);
#pragma omp parallel /* bound: count */
	__sync_fetch_and_add(&threads_in, 1);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		long value = (long)corpus_value(i), seen = __atomic_load_n(&most, __ATOMIC_SEQ_CST);

		while (value > seen &&
		       !__atomic_compare_exchange_n(&most, &seen, value, 0, __ATOMIC_SEQ_CST,
						    __ATOMIC_SEQ_CST))
			;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
			sched_yield();
		guarded += i;
		__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		static void *const places[] = {&&zero, &&one, &&two};

		goto *places[i % 3];
	zero:
		a[i] = 1;
		continue;
	one:
		a[i] = corpus_value(i);
		continue;
	two:
		a[i] = i;
	}
#pragma omp parallel for schedule(static, 1) /* bound: address */
	for (int i = 0; i < n; i++)
		frame_of();
	while (frames[frames_seen])
		frames_seen++;
	corpus_add(a, sizeof(a));
	corpus_number((double)(total + threads_in * 1000000 + most * 3));
	corpus_number(guarded + frames_seen * 7);
	return corpus_end();
}
