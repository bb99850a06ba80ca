/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * omp.c: interpose the functions by which a program asks its OpenMP runtime, and sets it up.
 *
 * Invariant: who asked is told the same from then on (t/unit/test_team.c:
 * who_asked_is_told_the_same; t/t2008-identity.t).
 *
 * Calls arrive here because the library is loaded before the runtime. Each goes on to the runtime
 * that the caller uses. If we manage that runtime, the answer outside regions is the team size that
 * the program knows of, not that of a team we widened; inside a region the runtime's answer holds.
 * The program's own threads have settings of their own, which we leave alone.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/shown.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/primary.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/team.h"

/* The program's code: only the interposed function lies between. */
#define CALLER __builtin_return_address(0)
#define ASK(name, answer) \
	MAL_SHOWN_BOTH(int, name, "OMP_1.0", (void), return answer(CALLER), (void), \
		       return answer(CALLER))
#define CHOOSE(name, choose) \
	MAL_SHOWN_BOTH(void, name, "OMP_1.0", (int value), choose(CALLER, value), \
		       (const int *value), choose(CALLER, *value))

static bool is_managed(const struct mal_runtime *runtime)
{
	return mal.active && runtime->base == mal_runtime_managed()->base;
}

/*
 * Whether the caller is the primary thread outside regions, so that the call concerns the team that
 * we manage.
 */
static bool is_about_the_team(void)
{
	if (!mal_self.considered_primary && (mal.primary.tid || syscall(SYS_gettid) == getpid()))
		mal_become_primary(&mal);
	return mal_self.primary && !mal.region.depth;
}

static int max_threads(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	int threads;

	if (!runtime)
		return 1;
	mal_attach();
	threads = runtime->get_max_threads(); /* initialises the runtime if needed */
	if (!is_managed(runtime))
		return threads;
	if (!is_about_the_team())
		return mal_team_report_inside(&mal, threads);
	mal_team_open(&mal);
	mal_team_look(&mal);
	/*
	 * The last region may have been wider: the next one must have the size that we answer. (If
	 * regions are classified, each gets its size where it begins.)
	 */
	if (!mal.proofs.on)
		mal_team_set(&mal, mal.team.base);
	return mal_team_report(&mal, (int)mal.team.base);
}

static int num_threads(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	int threads = runtime ? runtime->get_num_threads() : 1;

	return runtime && is_managed(runtime) && mal.region.depth
		       ? mal_team_report_inside(&mal, threads)
		       : threads;
}

static int num_procs(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	int procs = runtime ? runtime->get_num_procs() : 1;

	/* It shall not contradict what the program is told otherwise. */
	if (runtime && is_managed(runtime) && mal.proofs.on && is_about_the_team()) {
		mal_team_open(&mal);
		if (mal.team.reported_two)
			procs = (int)mal.team.base;
	}
	/*
	 * Without OMP_NUM_THREADS this is the number of threads too, and programs size arrays by
	 * it.
	 */
	return runtime && is_managed(runtime) ? mal_team_report(&mal, procs) : procs;
}

static void choose_threads(const void *caller, int threads)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);

	if (!runtime)
		return;
	runtime->set_num_threads(threads);
	if (threads >= 1 && is_managed(runtime) && is_about_the_team())
		mal_team_chosen(&mal, (unsigned int)threads);
}

/*
 * With dynamic set, libomp looks at the machine's load before each region of several threads, and
 * may take fewer threads than requested.
 */
static void choose_dynamic(const void *caller, int dynamic)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);

	if (!runtime)
		return;
	runtime->set_dynamic(dynamic);
	if (dynamic && is_managed(runtime) && is_about_the_team())
		mal_team_keep_dynamic(&mal);
}

/* Leave the program's own schedule alone from now on. */
static void choose_schedule(const void *caller, int kind, int chunk)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);

	if (!runtime)
		return;
	runtime->set_schedule(kind, chunk);
	if (is_managed(runtime))
		mal_team_keep_schedule(&mal);
}

/* How long threads wait for work before they sleep is the program's own from now on. */
static void choose_blocktime(const void *caller, int ms)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);

	if (!runtime || !runtime->set_blocktime)
		return;
	runtime->set_blocktime(ms);
	if (is_managed(runtime) && is_about_the_team())
		mal_team_keep_blocktime(&mal);
}

static int blocktime(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	int ms = runtime && runtime->get_blocktime ? runtime->get_blocktime() : 0;

	return runtime && is_managed(runtime) ? mal_team_report_blocktime(&mal, ms) : ms;
}

ASK(omp_get_max_threads, max_threads);
ASK(omp_get_num_threads, num_threads);
ASK(omp_get_num_procs, num_procs);
CHOOSE(omp_set_num_threads, choose_threads);
CHOOSE(omp_set_dynamic, choose_dynamic);
MAL_SHOWN_BOTH(void, omp_set_schedule, "OMP_3.0", (int kind, int chunk),
	       choose_schedule(CALLER, kind, chunk), (const int *kind, const int *chunk),
	       choose_schedule(CALLER, *kind, *chunk));
/* LLVM's alone. */
MAL_SHOWN_BOTH_ONCE(int, kmp_get_blocktime, (void), return blocktime(CALLER), (void),
		    return blocktime(CALLER));
MAL_SHOWN_BOTH_ONCE(void, kmp_set_blocktime, (int ms), choose_blocktime(CALLER, ms),
		    (const int *ms), choose_blocktime(CALLER, *ms));
