/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_borrower_use.c: which rank uses borrowed CPUs, by clocks and queues that the test turns. */
#include "t/unit/rank_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/cpuword.h"
#include "libmalleable/rank/cpus/borrower_use.h"

static uint64_t queued_ns;
static unsigned int readings;
static uint64_t reading_ns; /* what one takes */

void __wrap_mal_input_text(const char *path, char *text, size_t size);

void __wrap_mal_input_text(const char *path, char *text, size_t size)
{
	assert_non_null(strstr(path, "/schedstat"));
	readings++;
	turn_clock(reading_ns);
	snprintf(text, size, "1 %llu 7\n", (unsigned long long)queued_ns);
}

/* Each case has a rank of its own, which nobody asked about before. It has one of our CPUs. */
static unsigned int borrower;

static int set_up(void **state)
{
	(void)state;
	open_ranks(10, 1, 2);
	mal.segment.ranks[++borrower].unmanaged = true;
	mal.segment.ranks[borrower].pid = getpid();
	mal_word_set(&mal.segment.cpus[0].word,
		     (struct mal_cpu_state){0, (uint16_t)borrower, true});
	readings = 0;
	reading_ns = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

/*
 * Ask each 20 us for MS ms, until it may borrow no more, whether a process uses its CPUs of which
 * threads run for USED us and queue for QUEUED us in each millisecond.
 */
static bool ask(unsigned int ms, unsigned int used, unsigned int queued)
{
	for (unsigned int i = 0; i < 50 * ms; i++) {
		turn_clock(20 * US);
		test_clock.thread += used * US / 50;
		queued_ns += queued * US / 50;
		if (!mal_borrower_uses(&mal, borrower, test_clock.now))
			return false;
	}
	return true;
}

static void threads_in_turn_lose_it(void **state)
{
	(void)state;
	/* What its CPU time alone leaves open its queues decide. */
	assert_true(ask(20, 1050, 200));
	assert_int_equal(readings, 0);
	assert_true(ask(20, 1050, 200));
	assert_false(ask(3, 1050, 200));
	assert_false(mal_borrower_may(&mal, borrower, test_clock.now));
	/* One may have been on its way to sleep while the next one ran. */
	turn_clock(2000 * MS);
	mal.segment.ranks[borrower].changes++;
	assert_true(mal_borrower_may(&mal, borrower, test_clock.now));
	assert_false(ask(23, 1000, 500));
	/* It looks once a millisecond. */
	assert_in_range(readings, 40, 46);
	/* One that uses them is doubted no more. */
	turn_clock(2000 * MS);
	mal.segment.ranks[borrower].changes++;
	assert_true(ask(40, 2000, 0));
	readings = 0;
	assert_true(ask(20, 2000, 0));
	assert_int_equal(readings, 0);
}

static void threads_at_once_keep_it(void **state)
{
	(void)state;
	assert_true(ask(100, 1300, 0));
}

/* Others have half of each CPU. */
static void threads_that_others_delay_keep_it(void **state)
{
	(void)state;
	assert_true(ask(100, 1000, 1000));
}

/* What it did with other CPUs tells nothing. */
static void times_with_other_cpus_are_left_out(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		mal.segment.ranks[borrower].changes++;
		assert_true(ask(1, 1000, 0));
	}
}

static void what_is_declared_or_seen_is_believed(void **state)
{
	(void)state;
	mal.segment.ranks[borrower].unmanaged = MAL_DECLARES;
	assert_true(ask(100, 0, 0));
	mal.segment.ranks[borrower].unmanaged = false;
	assert_true(ask(100, 0, 0));
	assert_int_equal(readings, 0);
}

/*
 * What part of the milliseconds in which both of its threads are ready, PARALLEL at a time, it may
 * have the CPU, where one computes alone for SERIAL before. Without the CPU one of them queues.
 */
static double part_with_cpu(unsigned int serial, unsigned int parallel)
{
	unsigned int with = 0;
	bool has = true;

	for (unsigned int ms = 0; ms < 40 * (serial + parallel); ms++) {
		bool both = ms % (serial + parallel) >= serial;
		struct mal_cpu_state state = {0, has ? (uint16_t)borrower : 0, has};

		with += both && has;
		mal_word_set(&mal.segment.cpus[0].word, state);
		for (unsigned int i = 0; i < 50; i++) {
			turn_clock(20 * US);
			test_clock.thread += (both && has ? 2 : 1) * 20 * US;
			queued_ns += both && !has ? 20 * US : 0;
			state.user = has && mal_borrower_uses(&mal, borrower, test_clock.now)
					     ? (uint16_t)borrower
					     : 0;
			if (has != (state.user != 0) ||
			    (!has && mal_borrower_may(&mal, borrower, test_clock.now))) {
				has = !has;
				mal.segment.ranks[borrower].changes++;
				break;
			}
		}
	}
	return with / (40.0 * parallel);
}

static void threads_after_a_serial_part_get_it(void **state)
{
	static const unsigned int serial[] = {30, 200, 500};

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		double part = part_with_cpu(serial[i], 100);

		if (part < 0.9)
			fail_msg("%.2f after serial parts of %u ms", part, serial[i]);
	}
}

/* A process of many threads: reading what the kernel counts of each takes its time. */
static void looks_take_a_small_part_of_the_time(void **state)
{
	uint64_t begin = test_clock.now;

	(void)state;
	reading_ns = 4 * MS;
	assert_true(ask(1000, 1000, 1000));
	assert_in_range(test_clock.now - begin, 1000 * MS, 1040 * MS);
	assert_in_range(readings, 2, 10);
}

/* It may be none of ours, or have ended. */
static void an_unknown_process_keeps_it(void **state)
{
	(void)state;
	mal.segment.ranks[borrower].pid = 0;
	assert_true(ask(100, 0, 0));
	assert_int_equal(readings, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(threads_in_turn_lose_it),
		CASE(threads_at_once_keep_it),
		CASE(threads_that_others_delay_keep_it),
		CASE(times_with_other_cpus_are_left_out),
		CASE(what_is_declared_or_seen_is_believed),
		CASE(an_unknown_process_keeps_it),
		CASE(threads_after_a_serial_part_get_it),
		CASE(looks_take_a_small_part_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
