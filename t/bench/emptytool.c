/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * emptytool.c: an OMPT tool that registers the callbacks that libmalleable uses, and does nothing
 * in them.
 */
#include <omp-tools.h>
#include <stddef.h>

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			   unsigned int requested, int flags, const void *where)
{
	(void)task, (void)frame, (void)parallel, (void)requested, (void)flags, (void)where;
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *where)
{
	(void)parallel, (void)task, (void)flags, (void)where;
}

static void implicit_task(ompt_scope_endpoint_t end, ompt_data_t *parallel, ompt_data_t *task,
			  unsigned int size, unsigned int index, int flags)
{
	(void)end, (void)parallel, (void)task, (void)size, (void)index, (void)flags;
}

static void sync_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *parallel,
		      ompt_data_t *task, const void *where)
{
	(void)kind, (void)end, (void)parallel, (void)task, (void)where;
}

static int initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool)
{
	union {
		ompt_interface_fn_t any;
		ompt_set_callback_t function;
	} set = {.any = lookup("ompt_set_callback")};

	(void)initial_device, (void)tool;
	set.function(ompt_callback_parallel_begin, (ompt_callback_t)parallel_begin);
	set.function(ompt_callback_parallel_end, (ompt_callback_t)parallel_end);
	set.function(ompt_callback_implicit_task, (ompt_callback_t)implicit_task);
	set.function(ompt_callback_sync_region_wait, (ompt_callback_t)sync_wait);
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

	(void)omp_version, (void)runtime_version;
	return &result;
}
