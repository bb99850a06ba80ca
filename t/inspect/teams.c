// SPDX-License-Identifier: LGPL-2.1-or-later
/* Preloaded: gives the regions named in TEAMS_REGIONS teams of random size, for t/inspect/run.
 *
 * A region is named by its outlined function: the hexadecimal offset in the executable.
 * TEAMS_SEED seeds the sizes, 1 to 5, another one at each entry. With
 * TEAMS_RECORD=FILE the functions of all regions that run are written there, one per line. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REGIONS = 256, MOST_ARGUMENTS = 32 };

static uintptr_t base;
static uintptr_t chosen[MOST_REGIONS];
static size_t chosen_count;
static uintptr_t seen[MOST_REGIONS];
static _Atomic unsigned entries;
static unsigned seed;
enum { MOST_THREADS = 5 };
static const char *record;

static int find_base(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	base = info->dlpi_addr;
	return 1; // the executable comes first
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("TEAMS_REGIONS");

	dl_iterate_phdr(find_base, NULL);
	record = getenv("TEAMS_RECORD");
	if (getenv("TEAMS_SEED"))
		seed = (unsigned)atoi(getenv("TEAMS_SEED"));
	while (text && *text && chosen_count < MOST_REGIONS) {
		char *end;

		chosen[chosen_count++] = strtoul(text, &end, 16);
		text = *end == ',' ? end + 1 : NULL;
	}
}

static void note(uintptr_t region)
{
	FILE *file;

	for (size_t i = 0; i < MOST_REGIONS; i++) {
		uintptr_t expected = 0;

		if (seen[i] == region)
			return;
		if (__atomic_compare_exchange_n(&seen[i], &expected, region, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			break;
		if (expected == region)
			return;
	}
	file = fopen(record, "a");
	if (file) {
		fprintf(file, "%lx\n", (unsigned long)region);
		fclose(file);
	}
}

static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* The number of threads for this entry; 0: as the program wants. */
static unsigned team(void *function)
{
	uintptr_t region = (uintptr_t)function - base;

	if (record)
		note(region);
	for (size_t i = 0; i < chosen_count; i++)
		if (chosen[i] == region)
			return 1 + mix(mix(seed) + entries++) % MOST_THREADS;
	return 0;
}

static void *real_of(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "teams: %s is not there\n", name);
		_Exit(99);
	}
	return function;
}

/* An if clause that is false comes as one thread, and stays so. */
static unsigned threads_of(void *function, unsigned wanted)
{
	unsigned threads = team(function);

	return threads && wanted != 1 ? threads : wanted;
}

#define REAL(name) __typeof__(&(name)) real = real_of(#name)

typedef void region_function(void *);

void GOMP_parallel(region_function *function, void *data, unsigned threads, unsigned flags);
void GOMP_parallel(region_function *function, void *data, unsigned threads, unsigned flags)
{
	REAL(GOMP_parallel);

	real(function, data, threads_of((void *)function, threads), flags);
}

unsigned GOMP_parallel_reductions(region_function *function, void *data, unsigned threads,
				  unsigned flags);
unsigned GOMP_parallel_reductions(region_function *function, void *data, unsigned threads,
				  unsigned flags)
{
	REAL(GOMP_parallel_reductions);

	return real(function, data, threads_of((void *)function, threads), flags);
}

void GOMP_parallel_sections(region_function *function, void *data, unsigned threads, unsigned count,
			    unsigned flags);
void GOMP_parallel_sections(region_function *function, void *data, unsigned threads, unsigned count,
			    unsigned flags)
{
	REAL(GOMP_parallel_sections);

	real(function, data, threads_of((void *)function, threads), count, flags);
}

#define LOOP(name) \
	void name(region_function *function, void *data, unsigned threads, long start, long end, \
		  long step, long chunk, unsigned flags); \
	void name(region_function *function, void *data, unsigned threads, long start, long end, \
		  long step, long chunk, unsigned flags) \
	{ \
		REAL(name); \
\
		real(function, data, threads_of((void *)function, threads), start, end, step, \
		     chunk, flags); \
	}
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)

#define LOOP_BY_VARIABLE(name) \
	void name(region_function *function, void *data, unsigned threads, long start, long end, \
		  long step, unsigned flags); \
	void name(region_function *function, void *data, unsigned threads, long start, long end, \
		  long step, unsigned flags) \
	{ \
		REAL(name); \
\
		real(function, data, threads_of((void *)function, threads), start, end, step, \
		     flags); \
	}
LOOP_BY_VARIABLE(GOMP_parallel_loop_runtime)
LOOP_BY_VARIABLE(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_BY_VARIABLE(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* More arguments than COUNT do no harm: who is called takes as many as it was told. */
#define FOUR(a, i) (a)[i], (a)[(i) + 1], (a)[(i) + 2], (a)[(i) + 3]
#define SIXTEEN(a, i) FOUR(a, i), FOUR(a, (i) + 4), FOUR(a, (i) + 8), FOUR(a, (i) + 12)

void __kmpc_fork_call(void *where, int count, void *function, ...);
void __kmpc_fork_call(void *where, int count, void *function, ...)
{
	REAL(__kmpc_fork_call);
	unsigned threads = team(function);
	void *a[MOST_ARGUMENTS] = {NULL};
	va_list list;

	if (count > MOST_ARGUMENTS) {
		fprintf(stderr, "teams: %d arguments\n", count);
		_Exit(99);
	}
	va_start(list, function);
	for (int i = 0; i < count; i++)
		a[i] = va_arg(list, void *);
	va_end(list);
	if (threads) {
		int (*number)(void *) = real_of("__kmpc_global_thread_num");
		void (*push)(void *, int, int) = real_of("__kmpc_push_num_threads");

		push(where, number(where), (int)threads);
	}
	real(where, count, function, SIXTEEN(a, 0), SIXTEEN(a, 16));
}
