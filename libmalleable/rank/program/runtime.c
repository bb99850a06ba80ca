/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * runtime.c: the OpenMP runtimes of the process, and which of them a caller uses.
 *
 * Invariant: one runtime is managed, and a caller is answered by its own (t/unit/test_runtime.c:
 * manages_one; t/t2012-gomp.t).
 */
#include "libmalleable/rank/program/runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "libmalleable/base/symbols.h"

#define NAME(number, name, ...) [number] = #name,
const char *const mal_region_call_names[MAL_REGION_CALL_COUNT] = {
	MAL_REGION_CALLS_LLVM(NAME) MAL_REGION_CALLS_GCC(NAME)};

/* Callers' objects in one block of the table. */
#define CALLERS 64

/* An object, and the runtime that it uses. */
struct caller {
	uintptr_t begin;
	_Atomic uintptr_t end; /* 0: not known yet */
	const struct mal_runtime *runtime;
};

/* The table grows by blocks, and nothing leaves it: callers look at it without a lock. */
static struct callers {
	_Atomic unsigned int count;
	struct caller callers[CALLERS];
	_Atomic(struct callers *) next;
} first_callers;

/* The runtimes of callers. Twice in the list where two threads have found one at once. */
struct found {
	struct mal_runtime runtime;
	const struct found *next;
};

static _Atomic(const struct found *) runtimes;
static struct mal_runtime managed;
static _Atomic(const void *) managed_base;

/* Where an object is in memory, and its name as dlopen() knows it. */
struct place {
	uintptr_t address;
	struct mal_span span;
	const char *name;
};

static int contains(struct dl_phdr_info *info, size_t size, void *data)
{
	struct place *place = data;
	struct mal_span span = mal_span_of(info);

	(void)size;
	if (place->address < span.begin || place->address >= span.end)
		return 0;
	place->span = span;
	place->name = info->dlpi_name;
	return 1;
}

static bool is_ours(const void *function)
{
	return mal_object_of(function) == mal_object_of(&managed);
}

/*
 * A function of the runtime that PLACE uses, found as the dynamic linker would: in the global scope
 * first.
 */
static void *find_runtime(const struct place *place)
{
	static const char *const names[] = {"libomp.so.5", "libgomp.so.1", NULL};
	void *function = dlsym(RTLD_NEXT, "omp_get_max_threads");
	void *library;

	if (!function && *place->name && (library = dlopen(place->name, RTLD_LAZY | RTLD_NOLOAD))) {
		function = dlsym(library, "omp_get_max_threads");
		dlclose(library);
	}
	for (int i = 0; names[i] && (!function || is_ours(function)); i++) {
		library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
		if (library)
			function = dlsym(library, "omp_get_max_threads");
	}
	return function && !is_ours(function) ? function : NULL;
}

#define RESOLVE(field, name, ...) *(void **)&runtime->field = dlsym(library, #name);

bool mal_runtime_read(const void *address, struct mal_runtime *runtime)
{
	Dl_info info;
	void *library;

	if (!dladdr(address, &info))
		return false;
	runtime->base = info.dli_fbase;
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	MAL_RUNTIME_FUNCTIONS(RESOLVE)
	for (unsigned int i = 0; i < MAL_REGION_CALL_COUNT; i++)
		runtime->region_calls[i] = dlsym(library, mal_region_call_names[i]);
	return runtime->get_max_threads && runtime->set_num_threads && runtime->get_num_threads &&
	       runtime->get_num_procs && runtime->set_dynamic && runtime->set_schedule;
}

static const struct mal_runtime *known_in(const struct callers *block, uintptr_t address)
{
	unsigned int count = atomic_load_explicit(&block->count, memory_order_relaxed);

	for (unsigned int i = 0; i < count; i++) {
		const struct caller *caller = &block->callers[i];

		if (address < atomic_load_explicit(&caller->end, memory_order_acquire) &&
		    address >= caller->begin)
			return caller->runtime;
	}
	return NULL;
}

static const struct mal_runtime *known_runtime(uintptr_t address)
{
	const struct callers *block = &first_callers;
	const struct mal_runtime *known = NULL;

	for (; block && !known; block = atomic_load_explicit(&block->next, memory_order_acquire))
		known = known_in(block, address);
	return known;
}

/* The block behind BLOCK; NULL: out of memory. */
static struct callers *next_block(struct callers *block)
{
	struct callers *next = atomic_load(&block->next), *new;

	if (next || !(new = calloc(1, sizeof(*new))))
		return next;
	if (atomic_compare_exchange_strong(&block->next, &next, new))
		return new;
	free(new);
	return next;
}

/* Without memory it is looked up again. */
static void remember(const struct place *place, const struct mal_runtime *runtime)
{
	for (struct callers *block = &first_callers; block; block = next_block(block)) {
		unsigned int index = atomic_load(&block->count);

		while (index < CALLERS &&
		       !atomic_compare_exchange_weak(&block->count, &index, index + 1))
			;
		if (index == CALLERS)
			continue;
		block->callers[index].begin = place->span.begin;
		block->callers[index].runtime = runtime;
		atomic_store_explicit(&block->callers[index].end, place->span.end,
				      memory_order_release);
		return;
	}
}

/* The functions of the runtime that has FUNCTION; NULL: some are missing. */
static const struct mal_runtime *read_once(const void *function)
{
	const struct found *before = atomic_load(&runtimes);
	const void *base = mal_object_of(function);
	struct found *new;

	if (!base)
		return NULL;
	for (const struct found *i = before; i; i = i->next)
		if (i->runtime.base == base)
			return &i->runtime;
	new = calloc(1, sizeof(*new));
	if (!new || !mal_runtime_read(function, &new->runtime)) {
		free(new);
		return NULL;
	}
	do
		new->next = before;
	while (!atomic_compare_exchange_weak(&runtimes, &before, new));
	return &new->runtime;
}

/*
 * Holds no lock while it calls the dynamic linker, which holds its own while it runs constructors,
 * and these may call us.
 */
const struct mal_runtime *mal_runtime_of(const void *caller)
{
	const struct mal_runtime *runtime = known_runtime((uintptr_t)caller);
	struct place place = {.address = (uintptr_t)caller};
	const void *function;

	if (runtime)
		return runtime;
	if (!dl_iterate_phdr(contains, &place))
		return NULL;
	function = find_runtime(&place);
	runtime = function ? read_once(function) : NULL;
	if (runtime)
		remember(&place, runtime);
	return runtime;
}

bool mal_runtime_manage(const void *caller)
{
	struct mal_runtime found = {0};
	const void *nobody = NULL;

	/* A runtime linked into the program hides its functions: we only get its callbacks. */
	if (!mal_runtime_read(caller, &found) && !found.base)
		return false;
	if (!atomic_compare_exchange_strong(&managed_base, &nobody, found.base))
		return nobody == found.base;
	managed = found;
	return true;
}

const struct mal_runtime *mal_runtime_managed(void)
{
	return &managed;
}
