/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* team.c: the OpenMP team's size, and what the program has been told about it. */
#include "libmalleable/rank/team.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "libmalleable/core/env.h"
#include "libmalleable/rank/bind.h"
#include "libmalleable/rank/objects.h"
#include "libmalleable/rank/state.h"

/* Of omp_sched_t. */
#define OMP_SCHED_STATIC 1
#define OMP_SCHED_GUIDED 3

static struct {
	int (*get_max_threads)(void);
	int (*get_num_threads)(void);
	int (*get_num_procs)(void);
	void (*set_num_threads)(int);
	int (*get_dynamic)(void);
	void (*set_dynamic)(int);
	int (*get_blocktime)(void);
	void (*set_blocktime)(int);
	void (*set_schedule)(int, int);
	bool resolved;
	bool rebinds;	     /* the user asked the runtime to bind threads: it may do so after a resize */
	bool block_fixed;    /* the user chose how threads wait */
	bool schedule_fixed; /* the user or the program chose how loops with schedule(runtime) are shared out */
	int usual_blocktime;
	enum mal_patience patience;
} runtime;

/* The function behind our own of that name; also in a runtime that was loaded privately. */
static void *runtime_function(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);
	void *library;

	if (function)
		return function;
	library = dlopen("libomp.so.5", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
	return library ? dlsym(library, name) : NULL;
}

/* POSIX lets the result of dlsym be called; ISO C wants to be asked by way of a union. */
#define RESOLVE(field, name) \
	do { \
		union { \
			void *object; \
			__typeof__(runtime.field) function; \
		} found = {.object = runtime_function(name)}; \
		runtime.field = found.function; \
	} while (0)

static void resolve(void)
{
	if (runtime.resolved)
		return;
	RESOLVE(get_max_threads, "omp_get_max_threads");
	RESOLVE(get_num_threads, "omp_get_num_threads");
	RESOLVE(get_num_procs, "omp_get_num_procs");
	RESOLVE(set_num_threads, "omp_set_num_threads");
	RESOLVE(get_dynamic, "omp_get_dynamic");
	RESOLVE(set_dynamic, "omp_set_dynamic");
	RESOLVE(get_blocktime, "kmp_get_blocktime");
	RESOLVE(set_blocktime, "kmp_set_blocktime");
	RESOLVE(set_schedule, "omp_set_schedule");
	runtime.resolved = true;
}

/* The team keeps its size from now on, unless the user has chosen otherwise. */
static void keep_size(enum mal_mode_reason reason)
{
	if (mal.mode != MAL_MODE_AUTO)
		return;
	mal.mode = MAL_MODE_CPUSET;
	atomic_store(&mal.slot->reason, reason);
}

static void choose_mode(void)
{
	/* A number of threads that is not that of the CPUs was chosen on purpose: it is kept. */
	if (mal.base != mal_cpumask_count(&mal.home))
		keep_size(MAL_REASON_NUMBER);
	else if (runtime.get_dynamic && runtime.get_dynamic())
		keep_size(MAL_REASON_DYNAMIC);
	else if (mal_objects_keep_thread_data())
		keep_size(MAL_REASON_THREAD_DATA);
}

void mal_team_open(void)
{
	const char *most = getenv(MAL_ENV_MAX_THREADS);
	int threads;

	if (mal.base)
		return;
	resolve();
	threads = runtime.get_max_threads ? runtime.get_max_threads() : 1;
	mal.base = threads > 0 ? (unsigned int)threads : 1;
	if (most && runtime.set_num_threads) {
		mal.base = (unsigned int)strtoul(most, NULL, 10);
		runtime.set_num_threads((int)mal.base);
		mal.told_more = true;
	}
	mal.team = mal.base;
	choose_mode();
	runtime.rebinds = getenv("OMP_PROC_BIND") || getenv("OMP_PLACES") || getenv("KMP_AFFINITY");
	runtime.block_fixed = getenv("KMP_BLOCKTIME") || getenv("OMP_WAIT_POLICY") || !runtime.set_blocktime;
	runtime.schedule_fixed |= getenv("OMP_SCHEDULE") != NULL;
	runtime.usual_blocktime = runtime.get_blocktime ? runtime.get_blocktime() : 200;
}

bool mal_team_is_free(void)
{
	return mal.mode != MAL_MODE_CPUSET && !atomic_load_explicit(&mal.told, memory_order_relaxed) &&
	       runtime.set_num_threads;
}

unsigned int mal_team_most(void)
{
	unsigned int told = atomic_load_explicit(&mal.told, memory_order_relaxed);

	return mal.mode == MAL_MODE_CPUSET && mal.base > told ? mal.base : told;
}

void mal_team_set(unsigned int threads)
{
	if (threads == mal.team || !runtime.set_num_threads)
		return;
	runtime.set_num_threads((int)threads);
	mal.team = threads;
	if (runtime.rebinds)
		mal_bind_forget();
}

void mal_team_follow(unsigned int cpus)
{
	unsigned int told = atomic_load(&mal.told);

	if (mal.mode == MAL_MODE_CPUSET || (told && mal.mode != MAL_MODE_TEAM) || !cpus)
		return;
	if (told && cpus > told)
		cpus = told;
	mal.base = cpus;
	mal_team_set(cpus);
}

bool mal_team_set_patience(enum mal_patience patience)
{
	if (patience == runtime.patience || runtime.block_fixed)
		return false;
	runtime.set_blocktime(patience == MAL_PATIENCE_USUAL ? runtime.usual_blocktime
							     : patience == MAL_PATIENCE_SHORT);
	runtime.patience = patience;
	return true;
}

void mal_team_set_schedule(uint32_t schedule)
{
	static uint32_t set;
	uint32_t kind = schedule & 0xffff;

	if (schedule == set || runtime.schedule_fixed || !runtime.set_schedule)
		return;
	/* omp_sched_static, dynamic and guided: libomp aborts at others. Without OMP_SCHEDULE it begins with static. */
	if (kind > OMP_SCHED_GUIDED)
		return;
	if (kind)
		runtime.set_schedule((int)kind, (int)(schedule >> 16));
	else
		runtime.set_schedule(OMP_SCHED_STATIC, 0);
	set = schedule;
}

/* The program learns THREADS. */
static int tell(int threads)
{
	unsigned int told = atomic_load_explicit(&mal.told, memory_order_relaxed);

	if (threads > 0 && (unsigned int)threads > told) {
		atomic_store(&mal.told, (uint32_t)threads);
		if (mal.slot) {
			uint32_t reason = MAL_REASON_NONE;

			atomic_store(&mal.slot->told, (uint32_t)threads);
			if (mal.mode == MAL_MODE_AUTO)
				atomic_compare_exchange_strong(&mal.slot->reason, &reason, MAL_REASON_TOLD);
		}
	}
	return threads;
}

/*
 * The program's questions come here because the library is loaded before the runtime. Inside a region the
 * runtime knows best; outside, the answer is the team that the program knows of, not one that we widened.
 */
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_num_procs(void);
void omp_set_num_threads(int threads);
int omp_get_max_threads_(void);
int omp_get_num_threads_(void);
int omp_get_num_procs_(void);
void omp_set_num_threads_(const int *threads);
void omp_set_dynamic(int dynamic);
void omp_set_dynamic_(const int *dynamic);
void omp_set_schedule(int kind, int chunk);
void omp_set_schedule_(const int *kind, const int *chunk);

int omp_get_max_threads(void)
{
	resolve();
	if (!runtime.get_max_threads)
		return 1;
	mal_attach();
	if (!mal.active)
		return runtime.get_max_threads();
	runtime.get_max_threads(); /* starts the runtime where it has not been yet */
	if (!mal.base)
		mal_team_open();
	/* The last region may have been wider: from now on the next one is what we say here. */
	if (mal_self.primary && !mal.depth)
		mal_team_set(mal.base);
	return tell((int)mal.base);
}

int omp_get_num_threads(void)
{
	int threads;

	resolve();
	threads = runtime.get_num_threads ? runtime.get_num_threads() : 1;
	return mal.active && mal.depth ? tell(threads) : threads;
}

int omp_get_num_procs(void)
{
	int procs;

	resolve();
	procs = runtime.get_num_procs ? runtime.get_num_procs() : 1;
	/* Without OMP_NUM_THREADS it is the number of threads too, and programs size arrays by it. */
	return mal.active ? tell(procs) : procs;
}

void omp_set_num_threads(int threads)
{
	resolve();
	if (!runtime.set_num_threads)
		return;
	runtime.set_num_threads(threads);
	if (!mal.active || threads < 1 || (mal.base && !mal_self.primary))
		return;
	if (!mal.base)
		mal_team_open();
	mal.base = (unsigned int)threads;
	mal.team = mal.base;
	tell(threads);
}

/* libomp then looks at the machine's load before each region of several threads, and takes fewer than it was told to. */
void omp_set_dynamic(int dynamic)
{
	resolve();
	if (runtime.set_dynamic)
		runtime.set_dynamic(dynamic);
	if (!mal.active || !dynamic)
		return;
	if (!mal.base)
		mal_team_open();
	keep_size(MAL_REASON_DYNAMIC);
}

/* From now on the program's schedule is its own. */
void omp_set_schedule(int kind, int chunk)
{
	resolve();
	runtime.schedule_fixed = true;
	if (runtime.set_schedule)
		runtime.set_schedule(kind, chunk);
}

void omp_set_schedule_(const int *kind, const int *chunk)
{
	omp_set_schedule(*kind, *chunk);
}

void omp_set_dynamic_(const int *dynamic)
{
	omp_set_dynamic(*dynamic);
}

int omp_get_max_threads_(void)
{
	return omp_get_max_threads();
}

int omp_get_num_threads_(void)
{
	return omp_get_num_threads();
}

int omp_get_num_procs_(void)
{
	return omp_get_num_procs();
}

void omp_set_num_threads_(const int *threads)
{
	omp_set_num_threads(*threads);
}
