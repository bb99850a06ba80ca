/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * omp.c: interpose the functions by which a program asks its OpenMP runtime, and sets it up.
 *
 * Invariant: who asked is told the same from then on (t/unit/test_team.c: asks_outside).
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

int omp_get_max_threads(void) MAL_SHOWN("omp_get_max_threads");
int omp_get_num_threads(void) MAL_SHOWN("omp_get_num_threads");
int omp_get_num_procs(void) MAL_SHOWN("omp_get_num_procs");
void omp_set_num_threads(int threads) MAL_SHOWN("omp_set_num_threads");
int omp_get_max_threads_(void) MAL_SHOWN("omp_get_max_threads_");
int omp_get_num_threads_(void) MAL_SHOWN("omp_get_num_threads_");
int omp_get_num_procs_(void) MAL_SHOWN("omp_get_num_procs_");
void omp_set_num_threads_(const int *threads) MAL_SHOWN("omp_set_num_threads_");
void omp_set_dynamic(int dynamic) MAL_SHOWN("omp_set_dynamic");
void omp_set_dynamic_(const int *dynamic) MAL_SHOWN("omp_set_dynamic_");
void omp_set_schedule(int kind, int chunk) MAL_SHOWN("omp_set_schedule");
void omp_set_schedule_(const int *kind, const int *chunk) MAL_SHOWN("omp_set_schedule_");
void kmp_set_blocktime(int ms) MAL_SHOWN("kmp_set_blocktime");
int kmp_get_blocktime(void) MAL_SHOWN("kmp_get_blocktime");
void kmp_set_blocktime_(const int *ms) MAL_SHOWN("kmp_set_blocktime_");
int kmp_get_blocktime_(void) MAL_SHOWN("kmp_get_blocktime_");

/* Of the versions that LLVM's runtime and GCC's have. */
MAL_SHOWN_AS("omp_get_max_threads", "VERSION");
MAL_SHOWN_AS("omp_get_num_threads", "VERSION");
MAL_SHOWN_AS("omp_get_num_procs", "VERSION");
MAL_SHOWN_AS("omp_set_num_threads", "VERSION");
MAL_SHOWN_AS("omp_get_max_threads_", "VERSION");
MAL_SHOWN_AS("omp_get_num_threads_", "VERSION");
MAL_SHOWN_AS("omp_get_num_procs_", "VERSION");
MAL_SHOWN_AS("omp_set_num_threads_", "VERSION");
MAL_SHOWN_AS("omp_set_dynamic", "VERSION");
MAL_SHOWN_AS("omp_set_dynamic_", "VERSION");
MAL_SHOWN_AS("omp_set_schedule", "VERSION");
MAL_SHOWN_AS("omp_set_schedule_", "VERSION");
MAL_SHOWN_AS("kmp_set_blocktime", "VERSION");
MAL_SHOWN_AS("kmp_get_blocktime", "VERSION");
MAL_SHOWN_AS("kmp_set_blocktime_", "VERSION");
MAL_SHOWN_AS("kmp_get_blocktime_", "VERSION");
MAL_SHOWN_AS_TOO("omp_get_max_threads", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_get_num_threads", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_get_num_procs", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_set_num_threads", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_get_max_threads_", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_get_num_threads_", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_get_num_procs_", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_set_num_threads_", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_set_dynamic", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_set_dynamic_", "OMP_1.0");
MAL_SHOWN_AS_TOO("omp_set_schedule", "OMP_3.0");
MAL_SHOWN_AS_TOO("omp_set_schedule_", "OMP_3.0");

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
	if (!mal_self.met && (mal.primary.tid || syscall(SYS_gettid) == getpid()))
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
		return mal_team_tell_inside(&mal, threads);
	mal_team_open(&mal);
	mal_team_look(&mal);
	/*
	 * The last region may have been wider: the next one must have the size that we answer. (If
	 * regions are classified, each gets its size where it begins.)
	 */
	if (!mal.proofs.on)
		mal_team_set(&mal, mal.team.base);
	return mal_team_tell(&mal, (int)mal.team.base);
}

static int num_threads(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	int threads = runtime ? runtime->get_num_threads() : 1;

	return runtime && is_managed(runtime) && mal.region.depth
		       ? mal_team_tell_inside(&mal, threads)
		       : threads;
}

static int num_procs(const void *caller)
{
	const struct mal_runtime *runtime = mal_runtime_of(caller);
	int procs = runtime ? runtime->get_num_procs() : 1;

	/* It shall not contradict what the program is told otherwise. */
	if (runtime && is_managed(runtime) && mal.proofs.on && is_about_the_team()) {
		mal_team_open(&mal);
		if (mal.proofs.raised)
			procs = (int)mal.team.base;
	}
	/*
	 * Without OMP_NUM_THREADS this is the number of threads too, and programs size arrays by
	 * it.
	 */
	return runtime && is_managed(runtime) ? mal_team_tell(&mal, procs) : procs;
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

	return runtime && is_managed(runtime) ? mal_team_tell_blocktime(&mal, ms) : ms;
}

int omp_get_max_threads(void)
{
	return max_threads(CALLER);
}

int omp_get_num_threads(void)
{
	return num_threads(CALLER);
}

int omp_get_num_procs(void)
{
	return num_procs(CALLER);
}

void omp_set_num_threads(int threads)
{
	choose_threads(CALLER, threads);
}

void omp_set_dynamic(int dynamic)
{
	choose_dynamic(CALLER, dynamic);
}

void omp_set_schedule(int kind, int chunk)
{
	choose_schedule(CALLER, kind, chunk);
}

int omp_get_max_threads_(void)
{
	return max_threads(CALLER);
}

int omp_get_num_threads_(void)
{
	return num_threads(CALLER);
}

int omp_get_num_procs_(void)
{
	return num_procs(CALLER);
}

void omp_set_num_threads_(const int *threads)
{
	choose_threads(CALLER, *threads);
}

void omp_set_dynamic_(const int *dynamic)
{
	choose_dynamic(CALLER, *dynamic);
}

void omp_set_schedule_(const int *kind, const int *chunk)
{
	choose_schedule(CALLER, *kind, *chunk);
}

void kmp_set_blocktime(int ms)
{
	choose_blocktime(CALLER, ms);
}

int kmp_get_blocktime(void)
{
	return blocktime(CALLER);
}

void kmp_set_blocktime_(const int *ms)
{
	choose_blocktime(CALLER, *ms);
}

int kmp_get_blocktime_(void)
{
	return blocktime(CALLER);
}
