/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * answers.c: what a program asks its OpenMP runtime, and another runtime answers otherwise.
 *
 * Invariant: a program for libgomp gets libgomp's answers, though libomp runs it (t/t2012-gomp.t:
 * what OpenMP answers).
 *
 * A program built for libgomp runs on libomp (program/gomp.h). What the user's variables alone
 * decide, such as places, libgomp itself answers; where a thread is, libomp. Other programs get the
 * answers of their own runtime.
 */
#include <stddef.h>

#include "libmalleable/base/shown.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/state/rank.h"

/* omp_proc_bind_true */
#define BIND_TRUE 1
/* omp_pause_soft, omp_pause_hard */
#define PAUSE_SOFT 1
#define PAUSE_HARD 2

/* The program's code: only the interposed function lies between. */
#define CALLER __builtin_return_address(0)
#define ASK(type, name, version, answer) \
	MAL_SHOWN_BOTH(type, name, version, (void), return answer(CALLER), (void), \
		       return answer(CALLER))
/* What the runtime that WHO finds says, NOTHING where it lacks the function. */
#define PASS_ON(who, function, arguments, nothing) \
	const struct mal_runtime *runtime = who(CALLER); \
	return runtime && runtime->function ? runtime->function arguments : nothing
#define ASK_WHO(type, name, version, who, function, nothing) \
	MAL_SHOWN_BOTH(type, name, version, (void), PASS_ON(who, function, (), nothing), (void), \
		       PASS_ON(who, function, (), nothing))

/* The runtime that knows: libgomp where it was replaced, else the caller's own. NULL: none. */
static const struct mal_runtime *teller(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	const struct mal_runtime *original = mal_gomp_original(runtime);

	return original ? original : runtime;
}

static int num_places(const void *caller)
{
	const struct mal_runtime *runtime = teller(caller);

	return runtime && runtime->get_num_places ? runtime->get_num_places() : 0;
}

static void place_proc_ids(const void *caller, int place, int *ids)
{
	const struct mal_runtime *runtime = teller(caller);

	if (runtime && runtime->get_place_proc_ids)
		runtime->get_place_proc_ids(place, ids);
}

/* The runtime that knows where a thread is. NULL: there are no places. */
static const struct mal_runtime *placer(const void *caller)
{
	return num_places(caller) > 0 ? mal_runtime_of(caller) : NULL;
}

static void partition_place_nums(const void *caller, int *nums)
{
	const struct mal_runtime *runtime = placer(caller);

	if (runtime && runtime->get_partition_place_nums)
		runtime->get_partition_place_nums(nums);
}

/* A policy that stands for all levels is libgomp's own; libomp was told another word for it. */
static int proc_bind(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	const struct mal_runtime *original = mal_gomp_original(runtime);

	if (original && original->get_proc_bind && original->get_proc_bind() == BIND_TRUE)
		return BIND_TRUE;
	return runtime && runtime->get_proc_bind ? runtime->get_proc_bind() : 0;
}

/* libgomp knows fewer levels than libomp, and cuts what it is told. */
static int supported_levels(const void *caller)
{
	const struct mal_runtime *runtime = teller(caller);

	return runtime && runtime->get_supported_active_levels
		       ? runtime->get_supported_active_levels()
		       : 1;
}

static int max_levels(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	int levels =
		runtime && runtime->get_max_active_levels ? runtime->get_max_active_levels() : 1;
	int supported = supported_levels(caller);

	return mal_gomp_original(runtime) && levels > supported ? supported : levels;
}

/* libgomp says whether one more region would have several threads. */
static int nested(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	int levels;

	if (!runtime || !runtime->get_nested)
		return 0;
	if (!mal_gomp_original(runtime) || !runtime->get_active_level ||
	    !runtime->get_max_active_levels)
		return runtime->get_nested();
	levels = runtime->get_max_active_levels();
	return levels > 1 && levels > runtime->get_active_level();
}

/*
 * libgomp only ends threads that wait, and has none here. libomp would forget the program's
 * settings.
 */
static const struct mal_runtime *pauser(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	const struct mal_runtime *original = mal_gomp_original(runtime);

	if (!original)
		return runtime;
	return runtime->get_level && runtime->get_level() ? NULL : original;
}

/*
 * After a hard pause libomp starts anew, but looks for no tool, and the rank would be balanced no
 * more. A soft one keeps settings that a program could not rely on losing.
 */
static int soften(const struct mal_runtime *runtime, int kind)
{
	return kind == PAUSE_HARD && mal.ompt.on && runtime &&
			       runtime->base == mal_runtime_managed()->base
		       ? PAUSE_SOFT
		       : kind;
}

static int pause_resource(const void *caller, int kind, int device)
{
	const struct mal_runtime *runtime = pauser(caller);

	if (runtime && runtime->get_initial_device && device == runtime->get_initial_device())
		kind = soften(runtime, kind);
	return runtime && runtime->pause_resource ? runtime->pause_resource(kind, device) : -1;
}

static int pause_resource_all(const void *caller, int kind)
{
	const struct mal_runtime *runtime = pauser(caller);

	kind = soften(runtime, kind);
	return runtime && runtime->pause_resource_all ? runtime->pause_resource_all(kind) : -1;
}

ASK(int, omp_get_proc_bind, "OMP_4.0", proc_bind);
ASK(int, omp_get_supported_active_levels, "OMP_5.0.1", supported_levels);
ASK(int, omp_get_max_active_levels, "OMP_3.0", max_levels);
ASK(int, omp_get_nested, "OMP_1.0", nested);
ASK_WHO(double, omp_get_wtick, "OMP_2.0", teller, get_wtick, 0);
ASK_WHO(double, omp_get_wtime, "OMP_2.0", teller, get_wtime, 0);
ASK(int, omp_get_num_places, "OMP_4.5", num_places);
ASK_WHO(int, omp_get_place_num, "OMP_4.5", placer, get_place_num, -1);
ASK_WHO(int, omp_get_partition_num_places, "OMP_4.5", placer, get_partition_num_places, 0);
MAL_SHOWN_BOTH(void, omp_get_partition_place_nums, "OMP_4.5", (int *nums),
	       partition_place_nums(CALLER, nums), (int *nums), partition_place_nums(CALLER, nums));
MAL_SHOWN_BOTH(int, omp_get_place_num_procs, "OMP_4.5", (int place),
	       PASS_ON(teller, get_place_num_procs, (place), 0), (const int *place),
	       PASS_ON(teller, get_place_num_procs, (*place), 0));
MAL_SHOWN_BOTH(void, omp_get_place_proc_ids, "OMP_4.5", (int place, int *ids),
	       place_proc_ids(CALLER, place, ids), (const int *place, int *ids),
	       place_proc_ids(CALLER, *place, ids));
MAL_SHOWN_BOTH(int, omp_pause_resource, "OMP_5.0", (int kind, int device),
	       return pause_resource(CALLER, kind, device), (const int *kind, const int *device),
	       return pause_resource(CALLER, *kind, *device));
MAL_SHOWN_BOTH(int, omp_pause_resource_all, "OMP_5.0", (int kind),
	       return pause_resource_all(CALLER, kind), (const int *kind),
	       return pause_resource_all(CALLER, *kind));
