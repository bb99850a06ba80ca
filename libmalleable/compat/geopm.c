/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * geopm.c: GEOPM's profile calls: an epoch is a phase, a region a named one.
 *
 * Invariant: an epoch ends a phase, and a region has times in the report (t/t2025-names.t).
 */
#include "libmalleable/compat/geopm.h"

#include <limits.h>

#define MALLEABLE_DLOPEN
#include "libmalleable/malleable.h"

/* GEOPM_ERROR_RUNTIME, GEOPM_ERROR_INVALID */
enum { FAILED = -1, INVALID = -3 };

int geopm_prof_epoch(void)
{
	malleable_phase();
	return 0;
}

static int code_of(int result)
{
	if (result >= 0)
		return 0;
	return result == MALLEABLE_E_INVALID ? INVALID : FAILED;
}

/* The hint is for GEOPM. */
int geopm_prof_region(const char *name, uint64_t hint, uint64_t *region)
{
	int number;

	(void)hint;
	if (!name || !region)
		return INVALID;
	number = malleable_region(name);
	*region = number < 0 ? 0 : (uint64_t)number;
	return code_of(number);
}

int geopm_prof_enter(uint64_t region)
{
	return region > INT_MAX ? INVALID : code_of(malleable_region_begin((int)region));
}

int geopm_prof_exit(uint64_t region)
{
	return region > INT_MAX ? INVALID : code_of(malleable_region_end((int)region));
}

/* Whatever the parameters are, none of these reads one. */
static int nothing(void)
{
	return 0;
}

#define NOTHING(name) name(void) __attribute__((alias("nothing")))
int NOTHING(geopm_prof_shutdown), NOTHING(geopm_prof_overhead), NOTHING(geopm_tprof_init),
	NOTHING(geopm_tprof_post);
