/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stub.c: what programs link against: the public interface as it is where nothing is balanced.
 *
 * Invariant: In a balanced step the functions of rank/api.c are found first, as they are preloaded
 * (t/t2003-run.t: linked).
 */
#include "libmalleable/malleable.h"

void malleable_phase(void) {}

/* With an underscore at the end: called from Fortran. */
void omp_balanced(void) __attribute__((alias("malleable_phase")));
void malleable_phase_(void) __attribute__((alias("malleable_phase")));
void omp_balanced_(void) __attribute__((alias("malleable_phase")));

int malleable_cpus(void)
{
	return 0;
}
