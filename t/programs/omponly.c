/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * omponly.c: an OpenMP program without MPI: two regions, repeated 100 times or as often as the
 * argument says; --mark-phases marks each round.
 */
#include <stdio.h>
#include <stdlib.h>
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
	int rounds = argc > 1 && !mark ? atoi(argv[1]) : 100;
	double sum = 0;

	for (int i = 0; i < rounds; i++) {
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
