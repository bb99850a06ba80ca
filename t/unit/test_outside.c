/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_outside.c: what of serial time the primary thread waits, by a clock that the test turns. */
#include "t/unit/rank_fixture.h"

#include <stdio.h>

#include "libmalleable/rank/outside.h"

static uint64_t delay_ns;
static bool counts_delays;

void __wrap_mal_input_text(const char *path, char *text, size_t size);

void __wrap_mal_input_text(const char *path, char *text, size_t size)
{
	assert_string_equal(path, "/proc/thread-self/schedstat");
	snprintf(text, size, "%llu %llu 7\n", counts_delays ? 1ull : 0ull,
		 (unsigned long long)delay_ns);
}

/* Others have the CPU for so long while the sample is taken. */
static uint64_t interrupted_ns;

static struct mal_snapshot sample(void)
{
	struct mal_snapshot snapshot = {.tick = test_clock.now, .cpu = test_clock.process};

	turn_clock(interrupted_ns);
	delay_ns += interrupted_ns;
	if (!mal.unmanaged && test_clock.process > test_clock.thread)
		snapshot.outside_team = test_clock.process - test_clock.thread;
	mal_outside_sample(&mal, &snapshot);
	return snapshot;
}

static int set_up(void **state)
{
	(void)state;
	open_ranks(1, 2, 2);
	put_thread(0, 0, 0);
	mal.primary_own.tid = mal_self.tid;
	mal_self.primary = true;
	delay_ns = 40 * MS;
	counts_delays = true;
	sample();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

static void run(uint64_t ns)
{
	test_clock.thread += ns;
	test_clock.process += ns;
	turn_clock(ns);
}

static void compute(uint64_t ns)
{
	run(ns);
	mal.slot->count.serial += ns;
}

static void sleep_for(uint64_t ns)
{
	turn_clock(ns);
	mal.slot->count.serial += ns;
}

static void assert_waits(uint64_t least, uint64_t most)
{
	assert_in_range(sample().waits, least, most);
}

static void sleep_is_outside(void **state)
{
	(void)state;
	compute(30 * MS);
	sleep_for(20 * MS);
	assert_waits(19 * MS, 21 * MS);
	/* They add up. */
	sleep_for(20 * MS);
	assert_waits(39 * MS, 41 * MS);
}

static void computing_is_not_outside(void **state)
{
	(void)state;
	compute(100 * MS);
	assert_waits(0, 0);
	/* Others have its CPU. */
	compute(50 * MS);
	sleep_for(50 * MS);
	delay_ns += 50 * MS;
	assert_waits(0, MS);
	/* It may wait for threads of its own. */
	sleep_for(50 * MS);
	test_clock.process += 45 * MS;
	assert_waits(0, 6 * MS);
	mal.unmanaged = true;
	sleep_for(50 * MS);
	test_clock.process += 90 * MS;
	assert_waits(0, 6 * MS);
}

/* Not even if others have its CPU between two clocks that a sample reads. */
static void interrupted_samples_are_not_outside(void **state)
{
	(void)state;
	sleep_for(20 * MS);
	interrupted_ns = 50 * MS;
	sample();
	interrupted_ns = 0;
	compute(100 * MS);
	assert_waits(0, 20 * MS);
}

/* Asleep in MPI or at a barrier it is outside neither; and where it polls nothing is missed. */
static void sleep_in_mpi_is_not_outside(void **state)
{
	(void)state;
	mal.slot->count.mpi += 60 * MS;
	turn_clock(60 * MS);
	sleep_for(20 * MS);
	assert_waits(19 * MS, 21 * MS);
	mal.slot->count.region += 60 * MS;
	mal.threads[0].busy += 10 * MS;
	run(10 * MS);
	turn_clock(50 * MS);
	compute(20 * MS);
	assert_waits(19 * MS, 21 * MS);
	/* Nor in our own code. */
	mal.slot->count.overhead_ticks += 20 * MS;
	sleep_for(20 * MS);
	assert_waits(19 * MS, 21 * MS);
	sleep_for(20 * MS);
	mal.primary_own.last_leave = test_clock.now;
	mal.slot->count.mpi += 60 * MS;
	for (int i = 0; i < 60; i++) {
		mal_outside_look_at_polls(&mal, test_clock.now);
		run(MS);
	}
	assert_waits(28 * MS, 41 * MS);
}

/* Only the kernel tells who had the CPU. */
static void without_the_kernels_clocks_nothing_counts(void **state)
{
	(void)state;
	counts_delays = false;
	sleep_for(50 * MS);
	assert_waits(0, 0);
}

/* A call within a call that takes NS, for CPU ns of which it polls. */
static void call(uint64_t ns, uint64_t cpu)
{
	struct mal_device_call outer, inner;

	mal_device_begin(&outer);
	mal_device_begin(&inner);
	test_clock.thread += cpu;
	test_clock.process += cpu;
	sleep_for(ns);
	mal_device_end(&inner);
	mal_device_end(&outer);
}

static void device_calls_are_outside(void **state)
{
	(void)state;
	/* It polls there or it sleeps, and sleeps elsewhere as well. */
	call(10 * MS, 10 * MS);
	assert_waits(10 * MS, 10 * MS);
	call(10 * MS, 0);
	assert_waits(20 * MS, 20 * MS);
	call(10 * MS, 10 * MS);
	sleep_for(10 * MS);
	assert_waits(39 * MS, 41 * MS);
	/* These are none. */
	mal_self.mpi_depth = 1;
	call(10 * MS, 10 * MS);
	mal_self.mpi_depth = 0;
	mal.region_own.depth = 1;
	call(10 * MS, 10 * MS);
	mal.region_own.depth = 0;
	mal_self.primary = false;
	call(10 * MS, 10 * MS);
	mal.active = false;
	call(10 * MS, 10 * MS);
	assert_waits(39 * MS, 41 * MS);
}

/* Another thread has become the primary one: it has a clock of its own. */
static void each_primary_thread_has_its_clock(void **state)
{
	(void)state;
	sleep_for(20 * MS);
	mal_self.tid++;
	test_clock.thread = 0;
	assert_waits(0, 0);
	sleep_for(20 * MS);
	assert_waits(19 * MS, 21 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sleep_is_outside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(computing_is_not_outside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(interrupted_samples_are_not_outside, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(sleep_in_mpi_is_not_outside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_the_kernels_clocks_nothing_counts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(device_calls_are_outside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_primary_thread_has_its_clock, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
