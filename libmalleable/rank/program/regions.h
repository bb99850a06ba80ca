/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regions.h: what is proved of the program's parallel regions (libmalleable/inspect), by the calls
 * that start them.
 */
#ifndef MAL_RANK_PROGRAM_REGIONS_H
#define MAL_RANK_PROGRAM_REGIONS_H

#include <stdbool.h>

/*
 * Classify all regions of the program's objects that are loaded now. Once, by one thread, before
 * the others below are called. STRICT: a region that asks for thread numbers, as gcc's loops do, is
 * bound. Returns false with *TROUBLE, static storage, if nothing can be proved of any.
 */
bool mal_regions_prove(bool strict, const char **trouble);

/*
 * Whether the region that the call before WHERE starts is free. No lock, no allocation. If it is
 * bound, *WHY is its name and the reason.
 */
bool mal_region_is_free(const void *where, const char **why);

/* Whether it is known of that region that each thread adds to a sum that others see. */
bool mal_region_counts(const void *where);

/* Whether there are regions, and all that the program may start are free. */
bool mal_regions_are_free(void);

#endif
