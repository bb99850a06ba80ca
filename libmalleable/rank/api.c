/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * api.c: the public interface.
 *
 * Invariant: in a program that is no rank marks do nothing (t/unit/test_team.c: phases).
 */
#include "libmalleable/malleable.h"

#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/primary.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/wait_helper.h"

void malleable_phase(void)
{
	if (!mal.active)
		mal_attach();
	if (!mal.active)
		return;
	if (!mal_self.met)
		mal_become_primary(&mal);
	if (mal_self.testing)
		mal_mpi_end_tests();
	mal_wait_helper_withdraw(&mal);
	if (mal_self.primary)
		mal_phase_boundary(MAL_BOUNDARY_MARK);
}

/* With an underscore at the end: called from Fortran. */
void omp_balanced(void) __attribute__((alias("malleable_phase")));
void malleable_phase_(void) __attribute__((alias("malleable_phase")));
void omp_balanced_(void) __attribute__((alias("malleable_phase")));

int malleable_cpus(void)
{
	unsigned int count = 0;

	if (!mal.active)
		mal_attach();
	for (unsigned int cpu = 0; mal.active && cpu < mal.segment.cpu_count; cpu++)
		count += mal_word_read(&mal.segment.cpus[cpu].word).user == mal.me;
	return (int)count;
}
