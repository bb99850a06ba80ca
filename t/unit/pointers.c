/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pointers.c: a program that test_inspect.c reads. Its regions call through pointers, and one of
 * the functions adds to a sum of all threads.
 */
#include <stdbool.h>

#define COUNT 1000

typedef double function(int number);

static double total;

static double plain(int number)
{
	return number * 2.0;
}

static double summing(int number)
{
	double before, after;

	__atomic_load(&total, &before, __ATOMIC_SEQ_CST);
	do
		after = before + number;
	while (!__atomic_compare_exchange(&total, &before, &after, false, __ATOMIC_SEQ_CST,
					  __ATOMIC_SEQ_CST));
	return number;
}

static __attribute__((noinline)) void first(double *to, function **with)
{
#pragma omp parallel for
	for (int i = 0; i < COUNT; i++)
		to[i] = with[i](i);
}

static __attribute__((noinline)) void second(double *to, function **with)
{
#pragma omp parallel for
	for (int i = 0; i < COUNT; i++)
		to[i] = with[i](i) + 1;
}

function *kinds[2] = {plain, summing};

int main(int argc, char **argv)
{
	static double to[COUNT];
	static function *with[COUNT];

	(void)argv;
	for (int i = 0; i < COUNT; i++)
		with[i] = kinds[argc > i];
	first(to, with);
	second(to, with);
	return to[5] > 3;
}
