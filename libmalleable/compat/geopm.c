/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * geopm.c: GEOPM's profile calls: an epoch is a phase.
 *
 * Invariant: an epoch ends a phase, and a region has a number (t/t2025-names.t).
 */
#include "libmalleable/compat/geopm.h"

#include <stddef.h>

#define MALLEABLE_DLOPEN
#include "libmalleable/malleable.h"

#define INVALID (-3) /* GEOPM_ERROR_INVALID */

int geopm_prof_epoch(void)
{
	malleable_phase();
	return 0;
}

/* The number of a name is the same in all processes (FNV-1a). The hint is GEOPM's. */
int geopm_prof_region(const char *name, uint64_t hint, uint64_t *region)
{
	uint64_t number = UINT64_C(14695981039346656037);

	(void)hint;
	if (!name || !region)
		return INVALID;
	for (; *name; name++)
		number = (number ^ (unsigned char)*name) * UINT64_C(1099511628211);
	*region = number;
	return 0;
}

int geopm_prof_enter(uint64_t region)
{
	(void)region;
	return 0;
}

int geopm_prof_exit(uint64_t region)
{
	(void)region;
	return 0;
}

int geopm_prof_shutdown(void)
{
	return 0;
}

int geopm_prof_overhead(double seconds)
{
	(void)seconds;
	return 0;
}

int geopm_tprof_init(uint32_t units)
{
	(void)units;
	return 0;
}

int geopm_tprof_post(void)
{
	return 0;
}
