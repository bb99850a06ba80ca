/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp.c: uses what libgomp does and libomp does not do, or not without a warning. Built for
 * libgomp.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int cells[10] = {1};

	(void)argv;
	omp_set_nested(1);
#ifdef SCHEDULE
	omp_sched_t kind;
	int chunk;

	omp_get_schedule(&kind, &chunk);
	printf("schedule %d %d\n", (int)kind, chunk);
	fflush(stdout);
	return system("echo \"OMP_SCHEDULE ${OMP_SCHEDULE-unset}\"");
#endif
#ifdef PRELOAD
	printf("preload %s\n", getenv("LD_PRELOAD"));
#endif
#ifdef DOACROSS
#pragma omp parallel for ordered(1) schedule(static, 1)
	for (int i = 1; i < 10; i++) {
#pragma omp ordered depend(sink : i - 1)
		cells[i] = cells[i - 1] * 2 + argc;
#pragma omp ordered depend(source)
	}
#else
#pragma omp parallel for
	for (int i = 1; i < 10; i++)
		cells[i] = i * 10 + argc;
#endif
	printf("cells %d\n", cells[9]);
	return 0;
}
