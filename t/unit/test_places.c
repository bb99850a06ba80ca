/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_places.c: what a program hears of its OpenMP runtime's places, levels and clock, where
 * another runtime was put in its place and where not.
 */
#include "t/unit/rank_fixture.h"

#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/runtime.h"

int omp_get_proc_bind(void);
int omp_get_supported_active_levels(void);
int omp_get_max_active_levels(void);
int omp_get_nested(void);
double omp_get_wtick(void);
int omp_get_num_places(void);
int omp_get_place_num(void);
int omp_get_partition_num_places(void);
void omp_get_partition_place_nums(int *nums);
int omp_get_place_num_procs_(const int *place);
void omp_get_place_proc_ids(int place, int *ids);
int omp_pause_resource(int kind, int device);
int omp_pause_resource_all(int kind);

#define SOFT 1
#define HARD 2

/* The runtime of a caller, where one is known, and that for which it was built, if another. */
static struct mal_runtime own, original;
static bool is_known, is_replaced;

const struct mal_runtime *mal_runtime_of(const void *caller)
{
	(void)caller;
	return is_known ? &own : NULL;
}

const struct mal_runtime *mal_gomp_original(const struct mal_runtime *runtime)
{
	return runtime && is_replaced ? &original : NULL;
}

const struct mal_runtime *mal_runtime_managed(void)
{
	return &own;
}

static int none(void)
{
	return 0;
}

static int one(void)
{
	return 1;
}

static int five(void)
{
	return 5;
}

static double tick_of_own(void)
{
	return 1e-9;
}

static double tick_of_original(void)
{
	return 1e-6;
}

static void write_place(int *nums)
{
	*nums = 5;
}

static int procs_of(int place)
{
	return place + 1;
}

static void write_proc(int place, int *ids)
{
	*ids = place;
}

static int pauses_of_original, paused;

static int pause_own(int kind, int device)
{
	(void)device;
	paused = kind;
	return 0;
}

static int pause_own_all(int kind)
{
	return pause_own(kind, 0);
}

static int pause_original(int kind, int device)
{
	(void)kind;
	(void)device;
	pauses_of_original++;
	return 0;
}

static int pause_original_all(int kind)
{
	return pause_original(kind, 0);
}

static int set_up(void **state)
{
	(void)state;
	is_known = true;
	is_replaced = false;
	own = original = (struct mal_runtime){0};
	own.base = &own;
	mal.ompt_own.on = true;
	pauses_of_original = paused = 0;
	return 0;
}

/* Without a runtime, and where that lacks all of these functions. */
static void nobody_knows(void **state)
{
	int place = 7;

	(void)state;
	for (int known = 0; known < 2; known++) {
		is_known = known;
		assert_int_equal(omp_get_num_places(), 0);
		assert_int_equal(omp_get_place_num(), -1);
		assert_int_equal(omp_get_partition_num_places(), 0);
		assert_int_equal(omp_get_place_num_procs_(&place), 0);
		omp_get_partition_place_nums(&place);
		omp_get_place_proc_ids(0, &place);
		assert_int_equal(place, 7);
		assert_int_equal(omp_get_proc_bind(), 0);
		assert_int_equal(omp_get_supported_active_levels(), 1);
		assert_int_equal(omp_get_max_active_levels(), 1);
		assert_int_equal(omp_get_nested(), 0);
		assert_float_equal(omp_get_wtick(), 0, 0);
		assert_int_equal(omp_pause_resource(SOFT, 0), -1);
		assert_int_equal(omp_pause_resource_all(SOFT), -1);
	}
}

/* How many there are the program's variables decide; where a thread is, only its own runtime. */
static void places(void **state)
{
	int place = 7;

	(void)state;
	own.get_num_places = five;
	own.get_place_num = own.get_partition_num_places = five;
	own.get_partition_place_nums = write_place;
	original.get_num_places = one;
	original.get_place_num_procs = procs_of;
	original.get_place_proc_ids = write_proc;
	assert_int_equal(omp_get_num_places(), 5);
	is_replaced = true;
	assert_int_equal(omp_get_num_places(), 1);
	assert_int_equal(omp_get_place_num(), 5);
	assert_int_equal(omp_get_partition_num_places(), 5);
	omp_get_partition_place_nums(&place);
	assert_int_equal(place, 5);
	assert_int_equal(omp_get_place_num_procs_(&place), 6);
	omp_get_place_proc_ids(3, &place);
	assert_int_equal(place, 3);
	/* libomp has some where libgomp had none. */
	original.get_num_places = none;
	assert_int_equal(omp_get_place_num(), -1);
	assert_int_equal(omp_get_partition_num_places(), 0);
	omp_get_partition_place_nums(&place);
	assert_int_equal(place, 3);
}

static void clocks_and_policies(void **state)
{
	(void)state;
	own.get_wtick = tick_of_own;
	own.get_proc_bind = five;
	original.get_wtick = tick_of_original;
	original.get_proc_bind = one;
	assert_float_equal(omp_get_wtick(), 1e-9, 0);
	assert_int_equal(omp_get_proc_bind(), 5);
	is_replaced = true;
	assert_float_equal(omp_get_wtick(), 1e-6, 0);
	assert_int_equal(omp_get_proc_bind(), 1);
	original.get_proc_bind = none;
	assert_int_equal(omp_get_proc_bind(), 5);
}

static void levels(void **state)
{
	(void)state;
	own.get_max_active_levels = own.get_supported_active_levels = five;
	own.get_active_level = one;
	own.get_nested = none;
	original.get_supported_active_levels = one;
	assert_int_equal(omp_get_max_active_levels(), 5);
	assert_int_equal(omp_get_nested(), 0);
	is_replaced = true;
	assert_int_equal(omp_get_supported_active_levels(), 1);
	assert_int_equal(omp_get_max_active_levels(), 1);
	/* One more region would have several threads. */
	assert_int_equal(omp_get_nested(), 1);
	own.get_active_level = five;
	assert_int_equal(omp_get_nested(), 0);
	own.get_active_level = none;
	own.get_max_active_levels = one;
	assert_int_equal(omp_get_nested(), 0);
}

/* A rank stays balanced, and a program keeps its settings. */
static void pauses(void **state)
{
	(void)state;
	own.pause_resource = pause_own;
	own.pause_resource_all = pause_own_all;
	own.get_initial_device = five;
	assert_int_equal(omp_pause_resource(HARD, 5), 0);
	assert_int_equal(paused, SOFT);
	/* On a device there is no tool. */
	assert_int_equal(omp_pause_resource(HARD, 0), 0);
	assert_int_equal(paused, HARD);
	assert_int_equal(omp_pause_resource_all(HARD), 0);
	assert_int_equal(paused, SOFT);
	mal.ompt_own.on = false;
	assert_int_equal(omp_pause_resource_all(HARD), 0);
	assert_int_equal(paused, HARD);
	is_replaced = true;
	original.pause_resource = pause_original;
	original.pause_resource_all = pause_original_all;
	own.get_level = none;
	assert_int_equal(omp_pause_resource(HARD, 5), 0);
	assert_int_equal(omp_pause_resource_all(HARD), 0);
	assert_int_equal(pauses_of_original, 2);
	/* Not inside a region. */
	own.get_level = one;
	assert_int_equal(omp_pause_resource_all(HARD), -1);
	assert_int_equal(pauses_of_original, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nobody_knows, set_up),
		cmocka_unit_test_setup(places, set_up),
		cmocka_unit_test_setup(clocks_and_policies, set_up),
		cmocka_unit_test_setup(levels, set_up),
		cmocka_unit_test_setup(pauses, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
