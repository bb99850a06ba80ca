/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_ompt.c: what becomes of a runtime's callbacks: which time of a thread is work, and how
 * threads compute that do the primary thread's work.
 */
#include "t/unit/rank_fixture.h"

#include <fenv.h>
#include <omp-tools.h>

#include "libmalleable/rank/region.h"

static ompt_callback_parallel_begin_t parallel_begin;
static ompt_callback_parallel_end_t parallel_end;
static ompt_callback_implicit_task_t implicit_task;
static ompt_callback_sync_region_t sync_wait;
static ompt_callback_task_schedule_t task_schedule;

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
	switch (event) {
	case ompt_callback_parallel_begin:
		parallel_begin = (ompt_callback_parallel_begin_t)callback;
		break;
	case ompt_callback_parallel_end:
		parallel_end = (ompt_callback_parallel_end_t)callback;
		break;
	case ompt_callback_implicit_task:
		implicit_task = (ompt_callback_implicit_task_t)callback;
		break;
	case ompt_callback_sync_region_wait:
		sync_wait = (ompt_callback_sync_region_t)callback;
		break;
	case ompt_callback_task_schedule:
		task_schedule = (ompt_callback_task_schedule_t)callback;
		break;
	default: break;
	}
	return ompt_set_always;
}

static ompt_interface_fn_t lookup(const char *name)
{
	return strcmp(name, "ompt_set_callback") == 0 ? (ompt_interface_fn_t)set_callback : NULL;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version);

/* Each region is timed, and has a team of two. */
void mal_region_begin(const void *where, unsigned int requested)
{
	(void)where;
	(void)requested;
	mal.region_own.weight = 1;
	mal.region_own.running = 2;
	mal.region_own.begin = mal_ticks();
}

static ompt_data_t parallel, task;

static int set_up(void **state)
{
	(void)state;
	open_ranks(2, 2, 2);
	mal_self.primary = mal_self.considered_primary = true;
	parallel = task = (ompt_data_t){0};
	ompt_start_tool(5, "test")->initialize(lookup, 0, NULL);
	assert_true(mal.ompt.on);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

static void open_team(unsigned int index)
{
	implicit_task(ompt_scope_begin, &parallel, &task, 2, index, 0);
}

static void close_team(void)
{
	implicit_task(ompt_scope_end, NULL, &task, 2, 0, 0);
}

static void wait_at(ompt_scope_endpoint_t end)
{
	sync_wait(ompt_sync_region_barrier_explicit, end, &parallel, &task, NULL);
}

/* What a thread does between waits, and the tasks that it runs while it waits. */
static void work_is_what_no_thread_waits_for(void **state)
{
	ompt_data_t other = {0};

	(void)state;
	parallel_begin(NULL, NULL, &parallel, 2, 0, NULL);
	open_team(0);
	turn_clock(MS);
	wait_at(ompt_scope_begin);
	turn_clock(10 * MS);
	task_schedule(&task, ompt_task_switch, &other);
	turn_clock(2 * MS);
	task_schedule(&other, ompt_task_complete, &task);
	turn_clock(10 * MS);
	wait_at(ompt_scope_end);
	turn_clock(4 * MS);
	close_team();
	parallel_end(&parallel, NULL, 0, NULL);
	assert_int_equal(thread_of(0, 0)->busy, 7 * MS);
	assert_null(mal_self.slot);
}

/* An event is fulfilled, which switches to no task; and tasks run outside our teams. */
static void tasks_of_nobody_are_no_work(void **state)
{
	ompt_data_t other = {0};

	(void)state;
	parallel_begin(NULL, NULL, &parallel, 2, 0, NULL);
	open_team(0);
	turn_clock(MS);
	task_schedule(&other, ompt_task_early_fulfill, NULL);
	task_schedule(&other, ompt_task_late_fulfill, NULL);
	turn_clock(MS);
	close_team();
	assert_int_equal(thread_of(0, 0)->busy, 2 * MS);
	task_schedule(&task, ompt_task_switch, &other);
	assert_int_equal(mal_self.begin, 0);
	parallel_end(&parallel, NULL, 0, NULL);
}

/*
 * The team of a program with one thread grew: its threads round as the primary one, which sees
 * what they raise.
 */
static void threads_of_one_compute_as_it(void **state)
{
	fenv_t before;

	(void)state;
	assert_int_equal(fegetenv(&before), 0);
	mal.team_own.mimic_primary_fp = true;
	fesetround(FE_UPWARD);
	parallel_begin(NULL, NULL, &parallel, 2, 0, NULL);
	fesetround(FE_TONEAREST);
	open_team(1);
	assert_int_equal(fegetround(), FE_UPWARD);
	feraiseexcept(FE_DIVBYZERO);
	close_team();
	feclearexcept(FE_ALL_EXCEPT);
	parallel_end(&parallel, NULL, 0, NULL);
	assert_int_equal(fetestexcept(FE_DIVBYZERO), FE_DIVBYZERO);
	fesetenv(&before);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(work_is_what_no_thread_waits_for),
		CASE(tasks_of_nobody_are_no_work),
		CASE(threads_of_one_compute_as_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
