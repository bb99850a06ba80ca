/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_pages.c: where a rank's memory is: how often it asks, for how much, and what it keeps. */
#include "t/unit/rank_fixture.h"

#include <errno.h>
#include <sys/mman.h>

#include "libmalleable/rank/pages.h"

#define SIZE ((size_t)64 << 20)

/* The system: a page in MEMORY is on node 1, others on 0, or nobody has touched them. */
static struct {
	char *memory;
	unsigned int asked;
	size_t pages, inside;
	int error;
	size_t touched; /* bytes of MEMORY, from its begin on */
	uint64_t takes; /* ns to ask */
} numa;

static long answer(size_t count, char **pages, const int *to, int *node)
{
	assert_null(to);
	numa.asked++;
	numa.pages = count;
	numa.inside = 0;
	for (size_t i = 0; i < count; i++) {
		bool inside = pages[i] >= numa.memory && pages[i] < numa.memory + SIZE;

		assert_int_equal((uintptr_t)pages[i] % 4096, 0);
		assert_true(!i || pages[i] >= pages[i - 1]);
		node[i] = i % 4 && !(inside && pages[i] >= numa.memory + numa.touched) ? inside
										       : -ENOENT;
		numa.inside += inside;
	}
	turn_clock(numa.takes);
	errno = numa.error;
	return numa.error ? -1 : 0;
}

static int set_up(void **state)
{
	(void)state;
	open_ranks(1, 2, 4);
	memset(&numa, 0, sizeof(numa));
	numa.memory = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(numa.memory != MAP_FAILED);
	numa.touched = SIZE;
	mal.segment.header->pages = 1;
	asks_for_pages = answer;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	munmap(numa.memory, SIZE);
	close_ranks();
	return 0;
}

static void look_after(uint64_t ns)
{
	turn_clock(ns);
	mal_pages_sample(&mal, test_clock.now);
}

static void nobody_asks_unless_wanted(void **state)
{
	(void)state;
	mal.segment.header->pages = 0;
	look_after(MS);
	assert_int_equal(numa.asked, 0);
	assert_false(mal_lanes_of(&mal.segment, 0)->pages_known);
}

/* Every 5 s, and when the end forgets the last look. */
static void a_look_is_rare_and_bounded(void **state)
{
	(void)state;
	look_after(MS);
	look_after(4900 * MS);
	assert_int_equal(numa.asked, 1);
	look_after(200 * MS);
	assert_int_equal(numa.asked, 2);
	mal.pages_own.looked = 0;
	look_after(MS);
	assert_int_equal(numa.asked, 3);
	assert_int_equal(numa.pages, 1024);
}

/* A look takes half a thousandth of the time at most, and is overhead. */
static void a_long_look_is_rarer(void **state)
{
	(void)state;
	numa.takes = 20 * MS;
	look_after(MS);
	assert_int_equal(mal.slot->count.overhead_ticks, mal_s_to_ticks(0.02));
	look_after(39900 * MS);
	assert_int_equal(numa.asked, 1);
	look_after(100 * MS);
	assert_int_equal(numa.asked, 2);
}

/* Evenly: nearly all of this program is the large map. */
static void pages_of_all_maps_count(void **state)
{
	const struct mal_lanes *lanes = mal_lanes_of(&mal.segment, 0);

	(void)state;
	look_after(MS);
	assert_in_range(numa.inside, 100, 1024);
	assert_true(lanes->pages_known);
	assert_int_equal(lanes->pages[0] + lanes->pages[1], 768);
	assert_in_range(lanes->pages[1] * 4 + 8, numa.inside * 3, numa.inside * 3 + 16);
}

/* Those of low addresses would be all that there is. */
static void pages_of_many_ranges_count(void **state)
{
	size_t size = (size_t)4096 * 2 * 3000;
	char *low = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(low != MAP_FAILED && low < numa.memory);
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(mprotect(low + 4096 * 2 * i, 4096, PROT_NONE), 0);
	look_after(MS);
	assert_in_range(numa.inside, 100, 1024);
	numa.touched = 0;
	look_after(6000 * MS);
	assert_int_equal(numa.inside, 0);
	munmap(low, size);
}

/* As of large stacks, and what is reserved: hardly a page of the rest would be looked at. */
static void what_nobody_touched_takes_no_place(void **state)
{
	const struct mal_lanes *lanes = mal_lanes_of(&mal.segment, 0);

	(void)state;
	numa.touched = 0;
	look_after(MS);
	assert_int_equal(numa.asked, 2);
	assert_int_equal(numa.inside, 0);
	assert_int_equal(lanes->pages[0], 768);
	/* The kernel may make one map of it and what is touched. */
	numa.touched = SIZE / 4;
	look_after(6000 * MS);
	assert_in_range(numa.asked, 4, 5);
	assert_in_range(lanes->pages[0] + lanes->pages[1], 700, 768);
	assert_in_range(lanes->pages[1], 400, 768);
}

static void a_filter_is_told(void **state)
{
	(void)state;
	numa.error = EPERM;
	errno = EINTR;
	look_after(MS);
	assert_int_equal(errno, EINTR);
	assert_int_equal(mal_lanes_of(&mal.segment, 0)->pages_error, EPERM);
	assert_false(mal_lanes_of(&mal.segment, 0)->pages_known);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nobody_asks_unless_wanted),  CASE(a_look_is_rare_and_bounded),
		CASE(a_long_look_is_rarer),	  CASE(pages_of_all_maps_count),
		CASE(pages_of_many_ranges_count), CASE(what_nobody_touched_takes_no_place),
		CASE(a_filter_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
