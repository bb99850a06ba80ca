/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ready.c: what is done as soon as constructors run. */
#include "libmalleable/rank/ready.h"

#include <dlfcn.h>

#include "libmalleable/core/starts.h"
#include "libmalleable/rank/cpus/children.h"
#include "libmalleable/rank/jump.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/listed.h"
#include "libmalleable/rank/program/region_calls.h"
#include "libmalleable/rank/program/reveal.h"

void mal_mpi_ready(void)
{
	mal_listed_ready();
	mal_gomp_open();
	mal_children_open();
	mal_children_count_load();
	if (mal_gomp_is_alone())
		mal_starts_miss(MAL_ABSENT_LIBOMP);
	mal_jump_open();
	mal_region_calls_open();
	if (dlsym(RTLD_NEXT, "omp_get_max_threads"))
		mal_reveal();
}
