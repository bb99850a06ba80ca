/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* omponly.c: an OpenMP program without MPI: two regions that repeat, and one mark a round with --mark-phases. */
#include <stdio.h>
#include <string.h>

#include "libmalleable/malleable.h"

static double compute(long count)
{
	double value = 0;

	for (long i = 0; i < count; i++)
		value = value * 0.999 + 1;
	return value;
}

int main(int argc, char **argv)
{
	int mark = argc > 1 && strcmp(argv[1], "--mark-phases") == 0;
	double sum = 0;

	for (int i = 0; i < 100; i++) {
#pragma omp parallel for reduction(+ : sum)
		for (int j = 0; j < 8; j++)
			sum += compute(100000);
#pragma omp parallel for reduction(+ : sum)
		for (int j = 0; j < 4; j++)
			sum += compute(100000);
		if (mark)
			i % 2 ? omp_balanced() : malleable_phase();
	}
	printf("sum %.6e\n", sum);
	return 0;
}
