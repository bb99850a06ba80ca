// SPDX-License-Identifier: LGPL-2.1-or-later
/* A number of threads that is one of several, by the way that the program came. */
#include "corpus.h"
#include <omp.h>
#include <stdio.h>
#include <string.h>
enum { N = 256 };
static int a[N], count;

int main(int argc, char **argv)
{
	int n = corpus_int(N), size;

	if (argc > 1 && strcmp(argv[1], "x") == 0) {
		printf("all of them\n");
		size = 0;
		count += 1;
	} else {
		size = 3;
		printf("three\n");
		count += 10;
	}
#pragma omp parallel for num_threads(size) schedule(static) /* bound: clause, cannot be shown */
	for (int i = 0; i < n; i++)
		a[i] = i;
	corpus_add(a, sizeof(a));
	corpus_number(count);
	return corpus_end();
}
