/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ompt.c: the OMPT tool: follow what each thread of the primary thread's team does (OpenMP 5.1, ch.
 * 4).
 *
 * Invariant: a thread that computes is on the CPU that is its place (t/unit/test_ranks.c:
 * random_schedules; t/unit/test_ompt.c; t/t2002-programs.t).
 */
#include <omp-tools.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/fpstate.h"
#include "libmalleable/prover/prove.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/primary.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/region_calls.h"
#include "libmalleable/rank/program/reveal.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/program/tools.h"
#include "libmalleable/rank/region.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/team.h"

/*
 * Flags in the data of an outermost region of the primary thread: how to time its threads. They
 * read these here, not in mal_rank, whose cache lines the primary thread writes in each region.
 */
#define MANAGED 1
/* 2, 8: MAL_BY_CPU_TIME, MAL_MIMICS_FP */
#define HIDES_SIZE 4
#define WEIGHT_SHIFT 8
#define TEAM_SHIFT 40
/*
 * Flag in a task's data: the task waits, in a barrier or for other tasks. A thread that returns to
 * it waits.
 */
#define WAITING 1

static ompt_get_task_info_t get_task_info;

__attribute__((noinline)) static uint64_t copy_primary_fp(struct mal_rank *rank)
{
	rank->ompt_own.arithmetic = mal_arithmetic_read();
	atomic_store_explicit(&rank->ompt_own.fp_flags, 0, memory_order_relaxed);
	return MAL_MIMICS_FP;
}

/* A thread outside the team opens a region. Where it is not the primary one the report says so. */
__attribute__((noinline)) static bool becomes_primary(struct mal_rank *rank)
{
	const struct mal_runtime *runtime = mal_runtime_managed();

	if (!rank->active || (runtime->get_level && runtime->get_level()))
		return false;
	if (!mal_self.considered_primary && mal_become_primary(rank))
		return true;
	atomic_fetch_or_explicit(&rank->slot->foreign_threads, MAL_FOREIGN_OPEN,
				 memory_order_relaxed);
	return false;
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			      unsigned int requested, int flags, const void *where)
{
	const void *function = mal_region_called_take();

	(void)task;
	(void)frame;
	(void)flags;
	if (!mal_self.primary && (mal_self.slot || !becomes_primary(&mal)))
		return;
	if (!mal.active || !mal_region_enter(&mal))
		return;
	if (!mal.team.base)
		mal_team_open(&mal);
	if (!function)
		function = (const void *)((uintptr_t)where | MAL_NO_FUNCTION);
	mal_region_begin(function, requested);
	parallel->value = MANAGED | (mal.region.may_share_cpus ? MAL_BY_CPU_TIME : 0) |
			  (mal.team.size != mal.team.base && !mal.region.free && !mal.region.kept &&
					   mal_team_hides_size()
				   ? HIDES_SIZE
				   : 0) |
			  (__builtin_expect(mal.team.mimic_primary_fp, 0) &&
					   (mal.region.running > 1 || requested > 1)
				   ? copy_primary_fp(&mal)
				   : 0) |
			  (uint64_t)mal.region.weight << WEIGHT_SHIFT |
			  (uint64_t)mal.region.running << TEAM_SHIFT;
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *where)
{
	(void)parallel;
	(void)task;
	(void)flags;
	if (!mal_self.primary || !mal.active || !mal_region_leave(&mal))
		return;
	mal_region_end(where);
	/* Without us the primary thread had done all of it. */
	if (__builtin_expect(mal.team.mimic_primary_fp, 0))
		mal_flags_raise(atomic_exchange(&mal.ompt_own.fp_flags, 0));
}

/*
 * Threads that share a CPU are timed by CPU time, others by the cheaper tick counter. The former's
 * code is not inlined, so that it costs the latter nothing.
 */
static uint64_t cpu_clock(void)
{
	return mal_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((noinline)) static uint64_t special_clock(void)
{
	return mal_self.special & MAL_BY_CPU_TIME ? cpu_clock() : mal_ticks();
}

static inline uint64_t work_clock(void)
{
	return __builtin_expect(mal_self.special, 0) ? special_clock() : mal_ticks();
}

static void begin_work(void)
{
	if (mal_self.weight)
		mal_self.begin = work_clock();
}

/* The primary thread has just read the clock: use that. */
static void begin_region(const struct mal_rank *rank, uint64_t value, bool primary)
{
	mal_self.weight = (uint8_t)(value >> WEIGHT_SHIFT);
	mal_self.special = value & (MAL_BY_CPU_TIME | MAL_MIMICS_FP);
	if (primary && mal_self.weight && !mal_self.special)
		mal_self.begin = rank->region.begin;
	else
		begin_work();
}

static void count_work(const struct mal_rank *rank, uint64_t worked)
{
	/* A run that took longer than usual counts for itself alone. */
	if (mal_self.slot)
		mal_count(&mal_self.slot->busy,
			  worked < rank->region.short_region ? worked * mal_self.weight : worked);
	mal_self.begin = 0;
}

__attribute__((noinline)) static uint64_t special_work(void)
{
	return mal_self.special & MAL_BY_CPU_TIME
		       ? mal_s_to_ticks((double)(cpu_clock() - mal_self.begin) * 1e-9)
		       : mal_ticks() - mal_self.begin;
}

__attribute__((noinline)) static void end_special_work(struct mal_rank *rank)
{
	struct mal_fpstate saved = mal_fpstate_save();
	uint64_t worked = special_work();

	if (mal_self.special & MAL_MIMICS_FP)
		atomic_fetch_or(&rank->ompt_own.fp_flags, mal_fpstate_flags(&saved));
	mal_fpstate_restore(&saved);
	if (mal_self.weight)
		count_work(rank, worked);
	else
		mal_self.begin = 0;
}

static void end_work(struct mal_rank *rank)
{
	if (!mal_self.begin)
		return;
	if (__builtin_expect(mal_self.special, 0))
		end_special_work(rank);
	else
		count_work(rank, mal_ticks() - mal_self.begin);
}

/*
 * Thread number INDEX of the team enters a region that differs from its last one. Its slot says
 * where it belongs, if the team has the expected size.
 */
__attribute__((noinline)) static void settle_in(struct mal_rank *rank, struct mal_thread_slot *slot,
						unsigned int index, unsigned int size,
						uint64_t value)
{
	unsigned int expected = (unsigned int)(value >> TEAM_SHIFT);
	struct mal_fpstate saved = mal_fpstate_save();

	if (!mal_self.tid)
		mal_self.tid = (int32_t)syscall(SYS_gettid);
	mal_self.considered_primary = true;
	if (atomic_load_explicit(&slot->tid, memory_order_relaxed) != mal_self.tid) {
		atomic_store_explicit(&slot->tid, mal_self.tid, memory_order_relaxed);
		atomic_store_explicit(&slot->bound_cpu, MAL_NO_CPU, memory_order_relaxed);
	}
	if (index == 0 && size != expected)
		mal_region_resized(rank, size);
	/* Also beyond EXPECTED: the primary thread cannot bind a thread that it has not seen. */
	if (atomic_load_explicit(&slot->bound_cpu, memory_order_relaxed) !=
		    atomic_load_explicit(&slot->cpu, memory_order_relaxed) &&
	    mal_rule(rank, MAL_RULE_BIND))
		mal_bind_self(rank, slot);
	if (value & HIDES_SIZE)
		mal_team_hide_size();
	mal_fpstate_restore(&saved);
	if (!(value & MAL_MIMICS_FP))
		return;
	/* Its flags are looked at when its work ends, whether that is timed or not. */
	mal_self.begin = mal_ticks();
	if (index)
		mal_arithmetic_set(&rank->ompt.arithmetic);
}

static inline bool is_settled(const struct mal_thread_slot *slot, unsigned int size, uint64_t value)
{
	int32_t tid = mal_self.tid;

	return tid && atomic_load_explicit(&slot->tid, memory_order_relaxed) == tid &&
	       atomic_load_explicit(&slot->bound_cpu, memory_order_relaxed) ==
		       atomic_load_explicit(&slot->cpu, memory_order_relaxed) &&
	       size == value >> TEAM_SHIFT && !(value & (HIDES_SIZE | MAL_MIMICS_FP));
}

static void enter_team(struct mal_rank *rank, unsigned int index, unsigned int size, uint64_t value)
{
	struct mal_thread_slot *slot = &rank->threads[index];

	mal_self.slot = slot;
	if (__builtin_expect(!is_settled(slot, size, value), 0))
		settle_in(rank, slot, index, size, value);
	begin_region(rank, value, index == 0);
}

__attribute__((noinline)) static void leave_nested_team(void)
{
	mal_self.nested--;
	if (!mal_self.begin)
		begin_work();
}

/* A nested region is part of the thread's work: after it the thread works on. */
__attribute__((noinline)) static void leave_team(struct mal_rank *rank)
{
	if (__builtin_expect(mal_self.nested, 0)) {
		leave_nested_team();
		return;
	}
	end_work(rank);
	mal_self.slot = NULL;
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			     ompt_data_t *task, unsigned int size, unsigned int index, int flags)
{
	if (flags & ompt_task_initial)
		return;
	if (endpoint == ompt_scope_end) {
		leave_team(&mal);
		return;
	}
	task->value = 0;
	if (parallel && parallel->value & MANAGED && index < mal.segment.thread_count)
		enter_team(&mal, index, size, parallel->value);
	else
		mal_self.nested += mal_self.slot != NULL;
}

/*
 * At the end of a taskgroup, and so of a taskloop, libomp passes a copy of the task's data on its
 * stack (kmp_tasking.cpp, __kmpc_end_taskgroup; libomp 14 to 19). Ask for the current task instead.
 */
static ompt_data_t *find_task(void)
{
	ompt_data_t *task = NULL;

	if (get_task_info)
		get_task_info(0, NULL, &task, NULL, NULL, NULL);
	return task;
}

static inline void wait_in(struct mal_rank *rank, ompt_data_t *task, bool begins)
{
	if (begins) {
		if (task)
			task->value = WAITING;
		end_work(rank);
	} else {
		if (task)
			task->value = 0;
		begin_work();
	}
}

__attribute__((noinline)) static void wait_for_group(struct mal_rank *rank, bool begins)
{
	wait_in(rank, find_task(), begins);
}

static void on_sync_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
			 ompt_data_t *parallel, ompt_data_t *task, const void *where)
{
	bool begins = endpoint == ompt_scope_begin;

	(void)parallel;
	(void)where;
	if (!mal_self.slot)
		return;
	/* After the region's own barrier there is no work, and its tasks have ended. */
	if (kind == ompt_sync_region_barrier_implicit_parallel && !begins)
		return;
	if (__builtin_expect(kind == ompt_sync_region_taskgroup, 0))
		wait_for_group(&mal, begins);
	else
		wait_in(&mal, task, begins);
}

/* A waiting thread may run tasks: that is work, until it returns to a task that waits. */
static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
	(void)prior;
	(void)status;
	if (!mal_self.slot || !next)
		return;
	if (next->value & WAITING)
		end_work(&mal);
	else if (!mal_self.begin)
		begin_work();
}

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool)
{
	union {
		ompt_interface_fn_t any;
		ompt_set_callback_t function;
		ompt_get_task_info_t info;
	} set = {.any = lookup("ompt_set_callback")}, get = {.any = lookup("ompt_get_task_info")};

	(void)initial_device;
	(void)tool;
	mal_gomp_runtime_started();
	mal_attach();
	if (!mal.active || !set.function)
		return 0;
	mal_prove();
	mal.ompt_own.runtime = mal_runtime_managed()->base;
	mal.ompt_own.for_gomp = mal_gomp_original(mal_runtime_managed()) != NULL;
	get_task_info = get.info;
	mal.ompt_own.on = true;
	mal.unmanaged = false;
	atomic_store_explicit(&mal.slot->unmanaged, false, memory_order_relaxed);
	set.function(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
	set.function(ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end);
	set.function(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
	set.function(ompt_callback_sync_region_wait, (ompt_callback_t)on_sync_wait);
	set.function(ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule);
	return 1;
}

static void finalize(ompt_data_t *tool)
{
	(void)tool;
}

static void let_be(const void *caller)
{
	struct mal_runtime other = {0};

	mal_runtime_read(caller, &other);
	mal_bind_let_count(&mal, other.get_max_threads);
}

/* Whether the runtime that CALLER belongs to gets us for its tool; another one is let be. */
static bool serves(const void *caller)
{
	/* A program built for libgomp that runs unbalanced expects the same of libomp. */
	if (!mal.active)
		return mal_gomp_is_replacement(caller);
	if (mal_gomp_manages(caller) && mal_runtime_manage(caller)) {
		mal_reveal();
		return true;
	}
	let_be(caller);
	return false;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version);

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t result = {initialize, finalize, {0}};
	static bool inside;
	const void *caller = __builtin_return_address(0);
	ompt_start_tool_result_t *other;

	/* Another tool asks the next one itself, or OMP_TOOL_LIBRARIES names our own library. */
	if (inside)
		return NULL;
	inside = true;
	other = mal_tools_start(omp_version, runtime_version);
	inside = false;
	mal_attach();
	if (other && mal.active)
		mal_attach_behind(*(const void *const *)&other->initialize);
	if (other || !serves(caller))
		return other;
	mal_gomp_runtime_starts();
	return &result;
}
