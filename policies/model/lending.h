/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lending.h: how ranks lend and grow, for who simulates it from event to event. */
#ifndef MAL_POLICIES_MODEL_LENDING_H
#define MAL_POLICIES_MODEL_LENDING_H

/* A waiting rank lends after this time (libmalleable/rank/lend.c). */
#define MAL_LEND_AFTER_S 150e-6
/* Only regions at least this long are opened wider (libmalleable/rank/region.c). */
#define MAL_GROW_REGION_S 2e-3
/* A growing rank opens regions with this many threads per CPU. */
#define MAL_GROW_THREADS 2
/* Times that differ by less are the same. */
#define MAL_ROUNDING_S 1e-12

/* What a rank is at, one after the other. */
enum mal_activity { MAL_SERIAL, MAL_PARALLEL, MAL_WAITING, MAL_LENT };

/* How long RUNNER goes on as it is in SCENE; below 0: for ever. */
typedef double mal_time_left(const void *scene, unsigned int runner);

/* Returns the time until the next event: the shortest of COUNT runners' times. */
double mal_next_event(const void *scene, unsigned int count, mal_time_left *time_left);

#endif
