// SPDX-License-Identifier: LGPL-2.1-or-later
/* One iteration waits for another: it goes well only where two threads run them. */
#include "corpus.h"
#include <omp.h>
static volatile int ready, done, gone;
static _Atomic int open_;
static int stage[4];

NOINLINE static void wait_for(volatile int *flag)
{
	while (!*flag)
		;
}

int main(void)
{
	int n = corpus_int(2);

#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			while (!ready)
				;
		else
			ready = 1;
		stage[i] = i + 1;
	}
#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			wait_for(&done);
		else
			done = 1;
		stage[i] += i + 1;
	}
#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		if (i == 0)
			while (open_ == 0)
				;
		else
			open_ = 1;
		stage[i] += i + 1;
	}
#pragma omp parallel for schedule(static) /* bound: wait */
	for (int i = 0; i < n; i++) {
		int spins = 0;

		if (i == 0)
			while (!gone)
				spins++;
		else
			gone = 1;
		stage[i] += i + 1 + (spins < 0);
	}
	corpus_add(stage, sizeof(stage));
	return corpus_end();
}
