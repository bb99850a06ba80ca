// SPDX-License-Identifier: LGPL-2.1-or-later
/* Waits in long loops, with calls, with writes of other memory; and long loops that end. */
#include "corpus.h"
#include <omp.h>
#include <sched.h>
#include <unistd.h>
enum { N = 80 };
static volatile int ready, done, gone, over, open_;
static int stage[6], turns[6];
static double a[N];

#define TWO(x) x x
#define MANY(x) TWO(TWO(TWO(TWO(TWO(x)))))

NOINLINE static int back_off(int i)
{
	return i + 1;
}

NOINLINE static void wait_long(volatile int *flag)
{
	int noise = 0;

	while (!*flag) {
		MANY(__asm__ volatile("add $1, %0\n\tadd $2, %0" : "+r"(noise));)
	}
}

int main(void)
{
	int n = corpus_int(2), m = corpus_int(N);

#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		if (i == 0) {
			int noise = 0;

			while (!ready) {
				MANY(__asm__ volatile(
					     "add $1, %0\n\tadd $2, %0\n\tadd $3, %0" : "+r"(
						     noise));)
			}
		} else {
			ready = 1;
		}
		stage[i] = i + 1;
	}
#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			wait_long(&done);
		else
			done = 1;
		stage[i] += i + 1;
	}
#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			while (!gone)
				sched_yield();
		else
			gone = 1;
		stage[i] += i + 1;
	}
#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		int turn = 0;

		if (i == 0)
			while (!over)
				turn = back_off(turn);
		else
			over = 1;
		stage[i] += i + 1 + (turn < 0);
	}
#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			while (!open_)
				turns[i] = 1;
		else
			open_ = turns[i] = 1;
		stage[i] += i + 1;
	}
#pragma omp parallel for schedule(static) /* free */
	for (int i = 0; i < m; i++) {
		double left = corpus_value(i);

		while (left > 3) {
			MANY(__asm__ volatile("" : : "r"(i)); left -= 0.25;)
		}
		a[i] = left;
	}
	corpus_add(stage, sizeof(stage));
	corpus_add(a, sizeof(a));
	return corpus_end();
}
