// SPDX-License-Identifier: LGPL-2.1-or-later
/* Assembly: what it reads is not said by any call. */
#include "corpus.h"
enum { N = 200, MOST = 64 };
static double a[N];
static uintptr_t seen[MOST];
static int threads_seen;

NOINLINE static uintptr_t self(void)
{
#ifdef __x86_64__
	uintptr_t p;

	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}

int main(void)
{
	int n = corpus_int(N);
	long doubled = 0;

#pragma omp parallel for reduction(+ : doubled) /* free */
	for (int i = 0; i < n; i++) {
		long x = i;

		__asm__ volatile("" : "+r"(x) : : "memory");
		doubled += x;
	}
#ifdef __x86_64__
#pragma omp parallel for /* open: assembly */
	for (int i = 0; i < n; i++) {
		long x = i;

		__asm__("lea (%1, %1), %0" : "=r"(x) : "r"(x));
		a[i] = x;
	}
#endif
#pragma omp parallel for schedule(static, 1) /* bound: identity */
	for (int i = 0; i < n; i++) {
		uintptr_t me = self();

#pragma omp critical
		for (int k = 0; k < MOST; k++) {
			if (seen[k] == me)
				break;
			if (!seen[k]) {
				seen[k] = me;
				threads_seen++;
				break;
			}
		}
	}
	corpus_add(a, sizeof(a));
	corpus_number(threads_seen);
	corpus_number((double)doubled);
	return corpus_end();
}
