/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_period.c: find the period of a sequence of regions. */
#include "t/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/rank/state/period.h"

/* Feed TEXT, one event per letter. Returns the number of boundaries. */
static unsigned int feed(struct mal_period *period, const char *text)
{
	unsigned int boundaries = 0;

	for (; *text; text++)
		boundaries += mal_period_event(period, (uint32_t)*text);
	return boundaries;
}

static void simple_periods_are_found(void **state)
{
	struct mal_period period = {0};

	(void)state;
	feed(&period, "abcdabcdabcdabcd");
	assert_int_equal(period.length, 4);
	assert_int_equal(feed(&period, "abcdabcdabcdabcd"), 4);
}

static void behind_an_initialisation(void **state)
{
	struct mal_period period = {0};

	(void)state;
	feed(&period, "zyxwvuzzz");
	feed(&period, "abcabcabcabc");
	assert_int_equal(feed(&period, "abcabcabc"), 3);
}

/* aab aab: the inner repetition is not a period of the whole. */
static void with_sub_period(void **state)
{
	struct mal_period period = {0};

	(void)state;
	feed(&period, "aabaabaabaabaabaab");
	assert_int_equal(period.length, 3);
	assert_int_equal(feed(&period, "aabaabaab"), 3);
}

static void found_again_after_a_change(void **state)
{
	struct mal_period period = {0};

	(void)state;
	feed(&period, "abcabcabcabcabc");
	feed(&period, "xyxyxyxyxyxy");
	assert_int_equal(period.length, 2);
	assert_int_equal(feed(&period, "xyxyxyxy"), 4);
}

static void no_period_no_boundary(void **state)
{
	struct mal_period period = {0};
	unsigned int boundaries = 0;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++)
		boundaries += mal_period_event(&period, i);
	assert_int_equal(boundaries, 0);
}

/*
 * Many kinds of regions, an inner loop that is entered twice, and an initialisation: found within
 * ten periods.
 */
static void found_within_ten_periods(void **state)
{
	static struct mal_period period;
	unsigned int boundaries = 0, length = 0;

	(void)state;
	memset(&period, 0, sizeof(period));
	for (uint32_t i = 0; i < 300; i++)
		mal_period_event(&period, 100000 + i * i % 77);
	for (int round = 0; round < 30; round++) {
		length = 0;
		for (uint32_t i = 0; i < 60; i++, length++)
			boundaries += mal_period_event(&period, 0x400000 + i * 4096);
		for (int inner = 0; inner < 24; inner++, length++)
			boundaries +=
				mal_period_event(&period, 0x400000 + (uint32_t)(inner % 3) * 4096);
	}
	assert_int_equal(period.length, length);
	assert_true(boundaries >= 20);
}

/*
 * Feed a recorded sequence: its period must be found within ten periods, and last to the end or for
 * ten more.
 */
static void check_recorded(const char *name, unsigned int length, const char *events)
{
	static struct mal_period period;
	size_t count = strlen(events), found = 0;
	unsigned int in_a_row = 0;

	memset(&period, 0, sizeof(period));
	for (size_t i = 0; i < count; i++) {
		if (!mal_period_event(&period, (uint32_t)events[i]))
			continue;
		in_a_row = period.length == length ? in_a_row + 1 : 0;
		if (in_a_row == 1)
			found = i;
		if (in_a_row == 10)
			break;
	}
	print_message("# %s: period of %u found after %zu events\n", name, length, found);
	assert_true(in_a_row > 0);
	assert_true(in_a_row == 10 || in_a_row >= (count - found) / length);
	assert_true(found < 10 * (size_t)length + 50);
}

static void periods_of_recorded_programs_are_found(void **state)
{
	const char *directory = getenv("abs_top_srcdir");
	char path[4096], line[8192], name[64], events[8192];
	unsigned int length, lines = 0;
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/t/unit/sequences.txt", directory ? directory : ".");
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%63s %u %8191s", name, &length, events), 3);
		check_recorded(name, length, events);
		lines++;
	}
	fclose(file);
	assert_int_equal(lines, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_periods_are_found),
		cmocka_unit_test(behind_an_initialisation),
		cmocka_unit_test(with_sub_period),
		cmocka_unit_test(found_again_after_a_change),
		cmocka_unit_test(no_period_no_boundary),
		cmocka_unit_test(found_within_ten_periods),
		cmocka_unit_test(periods_of_recorded_programs_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
