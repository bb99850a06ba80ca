/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stub.c: what programs link against: the public interface as it is where nothing is balanced.
 *
 * Invariant: In a balanced step the functions of rank/api.c are found first, as they are preloaded
 * (t/t2003-run.t: linked).
 */
#include "libmalleable/malleable.h"

void malleable_phase(void)
{
}

/* With an underscore at the end: called from Fortran. */
void omp_balanced(void) __attribute__((alias("malleable_phase")));
void malleable_phase_(void) __attribute__((alias("malleable_phase")));
void omp_balanced_(void) __attribute__((alias("malleable_phase")));

int malleable_cpus(void)
{
	return 0;
}

int malleable_cpus_owned(void)
{
	return 0;
}

int malleable_cpu_list(int *cpus, int max)
{
	(void)cpus, (void)max;
	return 0;
}

unsigned int malleable_changes(void)
{
	return 0;
}

int malleable_await_change(unsigned int seen, int timeout_ms)
{
	(void)seen, (void)timeout_ms;
	return 0;
}

int malleable_waiting_begin(int how)
{
	(void)how;
	return 0;
}

int malleable_waiting_end(void)
{
	return 0;
}

int malleable_borrow(int most)
{
	(void)most;
	return 0;
}

int malleable_return(int keep)
{
	(void)keep;
	return 0;
}

int malleable_limit(int most)
{
	(void)most;
	return 0;
}

int malleable_disable(void)
{
	return 0;
}

int malleable_enable(void)
{
	return 0;
}

int malleable_state(void)
{
	return 0;
}

int malleable_on_change(malleable_change_function *function, void *argument)
{
	(void)function, (void)argument;
	return 0;
}

int malleable_on_change_remove(malleable_change_function *function, void *argument)
{
	(void)function, (void)argument;
	return 0;
}

int malleable_poll(void)
{
	return 0;
}

int malleable_region(const char *name)
{
	(void)name;
	return 0;
}

int malleable_region_begin(int region)
{
	(void)region;
	return 0;
}

int malleable_region_end(int region)
{
	(void)region;
	return 0;
}

int malleable_region_times(int region, struct malleable_times *times)
{
	(void)region, (void)times;
	return 0;
}
