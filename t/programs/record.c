/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record.c: an OMPT tool that prints the sequence of a program's outermost regions, one letter per
 * place in the code, in order of appearance: OMP_TOOL_LIBRARIES=t/programs/record.so PROGRAM. It
 * made t/unit/sequences.txt.
 */
#include <omp-tools.h>
#include <stddef.h>
#include <stdio.h>

#define MAX_EVENTS 3000
#define MAX_PLACES 60

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567";
static const void *places[MAX_PLACES];
static char events[MAX_EVENTS + 1];
static size_t place_count, event_count;
static int depth;

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			   unsigned int requested, int flags, const void *where)
{
	size_t place = 0;

	(void)task, (void)frame, (void)parallel, (void)requested, (void)flags;
	if (depth++ || event_count == MAX_EVENTS)
		return;
	while (place < place_count && places[place] != where)
		place++;
	if (place == MAX_PLACES)
		return;
	places[place] = where;
	place_count += place == place_count;
	events[event_count++] = letters[place];
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *where)
{
	(void)parallel, (void)task, (void)flags, (void)where;
	depth--;
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
	return 1;
}

static void finalize(ompt_data_t *tool)
{
	(void)tool;
	fprintf(stderr, "sequence %s\n", events);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version);

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t result = {initialize, finalize, {0}};

	(void)omp_version, (void)runtime_version;
	return &result;
}
