// SPDX-License-Identifier: LGPL-2.1-or-later
/* A library that neither asks nor has thread-local storage. */
#include "../libraries.h"

double plain_value(double x)
{
	return x * 2 + 1;
}

double plain_apply(double (*function)(double), double x)
{
	return function(x) + 1;
}

void plain_region(double *a, int n)
{
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 2 + 3;
}
