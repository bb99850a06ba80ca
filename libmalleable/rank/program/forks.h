/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * forks.h: the function of a region that starts. Compilers jump into the runtime, so several
 * regions may share the address that OMPT gives. Their calls come by here instead, and leave the
 * function, which each region has for itself.
 */
#ifndef MAL_RANK_PROGRAM_FORKS_H
#define MAL_RANK_PROGRAM_FORKS_H

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

/* Of the calling thread: set by each call that comes by here. */
extern __thread const void *mal_forked
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The function of the region that starts now, NULL: its call did not come by here. */
static inline const void *mal_forked_take(void)
{
	const void *function = mal_forked;

	mal_forked = NULL;
	return function;
}

#endif
