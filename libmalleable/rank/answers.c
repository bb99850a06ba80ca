/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * answers.c: the clock of a program for libgomp that runs on libomp, and pauses.
 *
 * Invariant: a hard pause does not end balancing (t/t2012-gomp.t).
 *
 * libomp's clock has ticks of 1 us, libgomp's of 1 ns: libgomp itself answers where it was replaced
 * (program/gomp.h). Other programs get the answers of their own runtime.
 */

#include "libmalleable/base/shown.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/state/rank.h"

/* omp_pause_soft, omp_pause_hard */
#define PAUSE_SOFT 1
#define PAUSE_HARD 2

/* The program's code: only the interposed function lies between. */
#define CALLER __builtin_return_address(0)

/* The runtime that has the clock: libgomp where it was replaced, else the caller's own. */
static const struct mal_runtime *clock_of(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	const struct mal_runtime *original = mal_gomp_original(runtime);

	return original ? original : runtime;
}

static double tick(const void *caller)
{
	const struct mal_runtime *runtime = clock_of(caller);

	return runtime && runtime->get_wtick ? runtime->get_wtick() : 0;
}

static double time_of(const void *caller)
{
	const struct mal_runtime *runtime = clock_of(caller);

	return runtime && runtime->get_wtime ? runtime->get_wtime() : 0;
}

/*
 * After a hard pause libomp starts anew, but looks for no tool, and the rank would be balanced no
 * more. A soft one keeps settings that a program could not rely on losing.
 */
static int soften(const struct mal_runtime *runtime, int kind)
{
	return kind == PAUSE_HARD && mal.ompt.on && runtime->base == mal_runtime_managed()->base
		       ? PAUSE_SOFT
		       : kind;
}

static int pause_resource(const void *caller, int kind, int device)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);

	if (!runtime || !runtime->pause_resource)
		return -1;
	if (runtime->get_initial_device && device == runtime->get_initial_device())
		kind = soften(runtime, kind);
	return runtime->pause_resource(kind, device);
}

static int pause_resource_all(const void *caller, int kind)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);

	return runtime && runtime->pause_resource_all
		       ? runtime->pause_resource_all(soften(runtime, kind))
		       : -1;
}

MAL_SHOWN_BOTH(double, omp_get_wtick, "OMP_2.0", (void), return tick(CALLER), (void),
	       return tick(CALLER));
MAL_SHOWN_BOTH(double, omp_get_wtime, "OMP_2.0", (void), return time_of(CALLER), (void),
	       return time_of(CALLER));
MAL_SHOWN_BOTH(int, omp_pause_resource, "OMP_5.0", (int kind, int device),
	       return pause_resource(CALLER, kind, device), (const int *kind, const int *device),
	       return pause_resource(CALLER, *kind, *device));
MAL_SHOWN_BOTH(int, omp_pause_resource_all, "OMP_5.0", (int kind),
	       return pause_resource_all(CALLER, kind), (const int *kind),
	       return pause_resource_all(CALLER, *kind));
