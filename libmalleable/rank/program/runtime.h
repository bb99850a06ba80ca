/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * runtime.h: the OpenMP runtimes of the process, and which of them a caller uses.
 *
 * A program may have several: its own, and those that libraries bring along and load privately
 * (Python wheels). A call is answered by the runtime that the caller would reach without us. We
 * manage the threads of one runtime only. All functions are thread safe.
 */
#ifndef MAL_RANK_PROGRAM_RUNTIME_H
#define MAL_RANK_PROGRAM_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The runtimes' entries, and where the call has the function: it is LLVM's third argument and GCC's
 * first. Regions that start by other entries (teams, GCC before 4.9) have no known function.
 */
/* clang-format off */
#define MAL_FORKS(entry) \
	entry(0, __kmpc_fork_call, "rdx") \
	entry(1, __kmpc_fork_call_if, "rdx") \
	entry(2, GOMP_parallel, "rdi") \
	entry(3, GOMP_parallel_loop_static, "rdi") \
	entry(4, GOMP_parallel_loop_dynamic, "rdi") \
	entry(5, GOMP_parallel_loop_guided, "rdi") \
	entry(6, GOMP_parallel_loop_runtime, "rdi") \
	entry(7, GOMP_parallel_loop_nonmonotonic_dynamic, "rdi") \
	entry(8, GOMP_parallel_loop_nonmonotonic_guided, "rdi") \
	entry(9, GOMP_parallel_loop_nonmonotonic_runtime, "rdi") \
	entry(10, GOMP_parallel_loop_maybe_nonmonotonic_runtime, "rdi") \
	entry(11, GOMP_parallel_reductions, "rdi") \
	entry(12, GOMP_parallel_sections, "rdi")
/* clang-format on */
enum { MAL_FORK_COUNT = 13 };
extern const char *const mal_fork_names[MAL_FORK_COUNT];

struct mal_runtime {
	const void *base; /* where its object is loaded */
	int (*get_max_threads)(void);
	int (*get_num_threads)(void);
	int (*get_num_procs)(void);
	int (*get_thread_limit)(void);
	int (*get_max_active_levels)(void);
	int (*get_max_task_priority)(void);
	int (*get_max_teams)(void);
	int (*get_teams_thread_limit)(void);
	int (*get_default_device)(void);
	int (*get_cancellation)(void);
	int (*get_supported_active_levels)(void);
	int (*get_level)(void);
	int (*get_active_level)(void);
	int (*get_nested)(void);
	int (*get_proc_bind)(void);
	int (*get_num_places)(void);
	int (*get_place_num_procs)(int);
	void (*get_place_proc_ids)(int, int *);
	int (*get_place_num)(void);
	int (*get_partition_num_places)(void);
	void (*get_partition_place_nums)(int *);
	double (*get_wtick)(void);
	double (*get_wtime)(void);
	int (*get_initial_device)(void);
	int (*pause_resource)(int, int);
	int (*pause_resource_all)(int);
	void (*set_num_threads)(int);
	int (*get_dynamic)(void);
	void (*set_dynamic)(int);
	int (*get_blocktime)(void);
	void (*set_blocktime)(int);
	size_t (*get_stack_size)(void); /* of the threads that it makes */
	void (*get_schedule)(int *, int *);
	void (*set_schedule)(int, int);
	void *forks[MAL_FORK_COUNT]; /* its entries that start regions */
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

#endif
