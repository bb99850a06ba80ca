// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls that only end the program. Libraries: mpi. */
#include "corpus.h"
#include "libraries.h"
#include <assert.h>
#include <stdlib.h>
enum { N = 500 };
static double a[N];

NOINLINE static void fail(const char *what, int i)
{
	fprintf(stderr, "%s at %d\n", what, i);
	exit(3);
}

NOINLINE static double checked(double x)
{
	if (x < -1000)
		abort();
	return x * 2;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		a[i] = corpus_value(i);
		if (a[i] > 5000)
			exit(2);
	}
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		assert(a[i] < 5000);
		a[i] += 1;
	}
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		if (a[i] > 6000)
			MPI_Abort(0, 1);
		a[i] = checked(a[i]);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		if (a[i] > 9000)
			fail("too large", i);
		if (a[i] > 8000)
			__builtin_trap();
		a[i] += 3;
	}
	corpus_add(a, sizeof(a));
	return corpus_end();
}
