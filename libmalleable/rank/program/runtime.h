/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * runtime.h: the OpenMP runtimes of the process, and which of them a caller uses.
 *
 * A program may have several: its own, and those that libraries bring along and load privately
 * (Python wheels). A call is answered by the runtime that the caller would reach without us. We
 * manage the threads of one runtime only. All functions are thread safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The runtimes' calls that open regions, of GCC's with their versions. Regions that start by other
 * calls (teams, GCC before 4.9) have no known function.
 */
/* clang-format off */
#define MAL_REGION_CALLS_LLVM(call) \
	call(0, __kmpc_fork_call) \
	call(1, __kmpc_fork_call_if)
#define MAL_REGION_CALLS_GCC(call) \
	call(2, GOMP_parallel, "GOMP_4.0") \
	call(3, GOMP_parallel_loop_static, "GOMP_4.0") \
	call(4, GOMP_parallel_loop_dynamic, "GOMP_4.0") \
	call(5, GOMP_parallel_loop_guided, "GOMP_4.0") \
	call(6, GOMP_parallel_loop_runtime, "GOMP_4.0") \
	call(7, GOMP_parallel_loop_nonmonotonic_dynamic, "GOMP_4.5") \
	call(8, GOMP_parallel_loop_nonmonotonic_guided, "GOMP_4.5") \
	call(9, GOMP_parallel_loop_nonmonotonic_runtime, "GOMP_5.0") \
	call(10, GOMP_parallel_loop_maybe_nonmonotonic_runtime, "GOMP_5.0") \
	call(11, GOMP_parallel_reductions, "GOMP_5.0") \
	call(12, GOMP_parallel_sections, "GOMP_4.0")
/* clang-format on */
enum { MAL_REGION_CALL_COUNT = 13 };
extern const char *const mal_region_call_names[MAL_REGION_CALL_COUNT];

/* Functions that a runtime may have: field, name, type, parameters. */
/* clang-format off */
#define MAL_RUNTIME_FUNCTIONS(function) \
	function(get_max_threads, omp_get_max_threads, int, (void)) \
	function(get_num_threads, omp_get_num_threads, int, (void)) \
	function(get_num_procs, omp_get_num_procs, int, (void)) \
	function(get_thread_limit, omp_get_thread_limit, int, (void)) \
	function(get_max_active_levels, omp_get_max_active_levels, int, (void)) \
	function(get_level, omp_get_level, int, (void)) \
	function(get_proc_bind, omp_get_proc_bind, int, (void)) \
	function(get_num_places, omp_get_num_places, int, (void)) \
	function(get_place_num_procs, omp_get_place_num_procs, int, (int)) \
	function(get_place_proc_ids, omp_get_place_proc_ids, void, (int, int *)) \
	function(get_place_num, omp_get_place_num, int, (void)) \
	function(get_wtick, omp_get_wtick, double, (void)) \
	function(get_wtime, omp_get_wtime, double, (void)) \
	function(get_initial_device, omp_get_initial_device, int, (void)) \
	function(pause_resource, omp_pause_resource, int, (int, int)) \
	function(pause_resource_all, omp_pause_resource_all, int, (int)) \
	function(set_num_threads, omp_set_num_threads, void, (int)) \
	function(get_dynamic, omp_get_dynamic, int, (void)) \
	function(set_dynamic, omp_set_dynamic, void, (int)) \
	function(get_blocktime, kmp_get_blocktime, int, (void)) \
	function(set_blocktime, kmp_set_blocktime, void, (int)) \
	function(get_stack_size, kmp_get_stacksize_s, size_t, (void)) \
	function(get_schedule, omp_get_schedule, void, (int *, int *)) \
	function(set_schedule, omp_set_schedule, void, (int, int))
/* clang-format on */

struct mal_runtime {
	const void *base; /* where its object is loaded */
#define MAL_RUNTIME_FIELD(field, name, type, parameters) type(*field) parameters;
	MAL_RUNTIME_FUNCTIONS(MAL_RUNTIME_FIELD)
	void *region_calls[MAL_REGION_CALL_COUNT]; /* its entries that start regions */
};

/*
 * Read the functions of the runtime that contains ADDRESS, and keep it loaded as we may call it at
 * any time. Returns false where some that we need are missing.
 */
bool mal_runtime_read(const void *address, struct mal_runtime *runtime);

/* The runtime that the code at CALLER uses, NULL if there is none yet. It is never unloaded. */
const struct mal_runtime *mal_runtime_of(const void *caller);

/*
 * Manage the runtime that the code at CALLER belongs to. Returns false if we already manage
 * another: two runtimes number their threads independently.
 */
bool mal_runtime_manage(const void *caller);

/* The managed runtime; its functions are NULL as long as there is none. */
const struct mal_runtime *mal_runtime_managed(void);
