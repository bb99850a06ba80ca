/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ompt.c: the OMPT tool: what each thread of the primary thread's team does (OpenMP 5.1, chapter 4). */
#include <omp-tools.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/core/clock.h"
#include "libmalleable/rank/bind.h"
#include "libmalleable/rank/region.h"
#include "libmalleable/rank/state.h"
#include "libmalleable/rank/team.h"

/*
 * Value in a parallel region's data: it is an outermost region of the primary thread, and how its threads are timed. They read it
 * there and not in what the primary thread keeps, whose cache lines it writes in each region.
 */
#define MANAGED 1
#define BY_CPU_TIME 2
#define WEIGHT_SHIFT 8

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			      unsigned int requested, int flags, const void *where)
{
	(void)task;
	(void)frame;
	(void)flags;
	if (!mal_self.primary && (mal_self.met || !mal.active || !mal_become_primary()))
		return;
	if (!mal.active || mal.depth++)
		return;
	if (!mal.base)
		mal_team_open();
	mal_region_begin(where, requested);
	parallel->value = MANAGED | (mal.shares ? BY_CPU_TIME : 0) | (uint64_t)mal.weight << WEIGHT_SHIFT;
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *where)
{
	(void)parallel;
	(void)task;
	(void)flags;
	if (!mal_self.primary || !mal.active || !mal.depth || --mal.depth)
		return;
	mal_region_end(where);
}

/* Threads that share a CPU are timed by the CPU time that they get, others by the cheaper clock. */
static uint64_t work_clock(void)
{
	return mal_self.cpu_time ? mal_clock_ns(CLOCK_THREAD_CPUTIME_ID) : mal_ticks();
}

static void begin_work(void)
{
	if (mal_self.weight)
		mal_self.begin = work_clock();
}

/* The primary thread has just read the clock. */
static void begin_region(uint64_t value, bool primary)
{
	mal_self.weight = (unsigned int)(value >> WEIGHT_SHIFT);
	mal_self.cpu_time = value & BY_CPU_TIME;
	if (primary && mal_self.weight && !mal_self.cpu_time)
		mal_self.begin = mal.region_begin;
	else
		begin_work();
}

static void end_work(void)
{
	uint64_t worked;

	if (!mal_self.begin)
		return;
	worked = work_clock() - mal_self.begin;
	if (mal_self.cpu_time)
		worked = mal_s_to_ticks((double)worked * 1e-9);
	/* A run that took longer than usual stands for itself alone. */
	if (mal_self.slot)
		mal_count(&mal_self.slot->busy, worked < mal.short_region ? worked * mal_self.weight : worked);
	mal_self.begin = 0;
}

/* The thread is number INDEX of the team: its slot says where it belongs. */
static void enter_team(unsigned int index, unsigned int size)
{
	struct mal_thread_slot *slot = &mal.threads[index];

	if (!mal_self.tid)
		mal_self.tid = (int32_t)syscall(SYS_gettid);
	mal_self.met = true;
	mal_self.slot = slot;
	if (atomic_load_explicit(&slot->tid, memory_order_relaxed) != mal_self.tid) {
		atomic_store_explicit(&slot->tid, mal_self.tid, memory_order_relaxed);
		atomic_store_explicit(&slot->bound, MAL_NO_CPU, memory_order_relaxed);
	}
	if (index == 0)
		mal.running = size;
	if (atomic_load_explicit(&slot->bound, memory_order_relaxed) !=
		    atomic_load_explicit(&slot->cpu, memory_order_relaxed) &&
	    mal_rule(MAL_RULE_BIND))
		mal_bind_self(slot, mal_self.tid);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
			     unsigned int size, unsigned int index, int flags)
{
	(void)task;
	if (flags & ompt_task_initial)
		return;
	if (endpoint == ompt_scope_end) {
		end_work();
		mal_self.slot = NULL;
		return;
	}
	if (!parallel || !(parallel->value & MANAGED) || index >= mal.segment.thread_count)
		return;
	enter_team(index, size);
	begin_region(parallel->value, index == 0);
}

static void on_sync_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			 ompt_data_t *task, const void *where)
{
	(void)parallel;
	(void)task;
	(void)where;
	if (!mal_self.slot)
		return;
	if (endpoint == ompt_scope_begin)
		end_work();
	else if (kind != ompt_sync_region_barrier_implicit_parallel)
		begin_work();
}

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool)
{
	union {
		ompt_interface_fn_t any;
		ompt_set_callback_t function;
	} set = {.any = lookup("ompt_set_callback")};

	(void)initial_device;
	(void)tool;
	mal_attach();
	if (!mal.active || !set.function)
		return 0;
	mal.ompt = true;
	mal.loose = false;
	atomic_store_explicit(&mal.slot->loose, false, memory_order_relaxed);
	set.function(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
	set.function(ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end);
	set.function(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
	set.function(ompt_callback_sync_region_wait, (ompt_callback_t)on_sync_wait);
	return 1;
}

static void finalize(ompt_data_t *tool)
{
	(void)tool;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version);

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t result = {initialize, finalize, {0}};

	(void)omp_version;
	(void)runtime_version;
	mal_attach();
	return mal.active ? &result : NULL;
}
