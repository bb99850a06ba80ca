/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_gomp.c: programs for libgomp: which variables keep them on it, their clock and pauses, and
 * where libomp is.
 */
#include "t/unit/rank_fixture.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/gomp_only.h"
#include "libmalleable/rank/program/libomp.h"
#include "libmalleable/rank/program/runtime.h"

double omp_get_wtick(void);
double omp_get_wtime(void);
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

static int paused;

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

static int set_up(void **state)
{
	(void)state;
	is_known = true;
	is_replaced = false;
	own = original = (struct mal_runtime){0};
	own.base = &own;
	mal.ompt_own.on = true;
	paused = 0;
	return 0;
}

/* Without a runtime, and where that lacks all of these functions. */
static void nobody_knows(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		is_known = known;
		assert_float_equal(omp_get_wtick(), 0, 0);
		assert_float_equal(omp_get_wtime(), 0, 0);
		assert_int_equal(omp_pause_resource(SOFT, 0), -1);
		assert_int_equal(omp_pause_resource_all(SOFT), -1);
	}
}

static void the_clock_is_libgomps(void **state)
{
	(void)state;
	own.get_wtick = own.get_wtime = tick_of_own;
	original.get_wtick = original.get_wtime = tick_of_original;
	assert_float_equal(omp_get_wtick(), 1e-9, 0);
	assert_float_equal(omp_get_wtime(), 1e-9, 0);
	is_replaced = true;
	assert_float_equal(omp_get_wtick(), 1e-6, 0);
	assert_float_equal(omp_get_wtime(), 1e-6, 0);
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
}

/* Of values that are not plain libomp might make something else. */
static void variables_keep_libgomp(void **state)
{
	static const struct {
		char *variable;
		bool keeps;
	} all[] = {
		{"OMP_NUM_THREADS=2", false},	     {"OMP_NUM_THREADS=1023", false},
		{"OMP_NUM_THREADS=1024", true},	     {"OMP_NUM_THREADS=0", true},
		{"OMP_NUM_THREADS=", true},	     {"OMP_NUM_THREADS=2,2", true},
		{"OMP_NUM_THREADS= 2", true},	     {"OMP_NUM_THREADS", true},
		{"OMP_NUM_THREADS2=2", true},	     {"OMP_DYNAMIC=FALSE", false},
		{"OMP_DYNAMIC=falsehood", true},     {"OMP_DYNAMIC=fals", true},
		{"OMP_PROC_BIND=true", false},	     {"OMP_PROC_BIND=spread,close", true},
		{"OMP_PLACES=Cores", false},	     {"OMP_PLACES={0}", true},
		{"OMP_SCHEDULE=guided,7", false},    {"OMP_SCHEDULE=guided,", true},
		{"OMP_SCHEDULE=auto", false},	     {"OMP_SCHEDULE=auto,4", true},
		{"OMP_STACKSIZE=16", false},	     {"OMP_STACKSIZE=15", true},
		{"OMP_STACKSIZE=512K", false},	     {"OMP_STACKSIZE=1g", false},
		{"OMP_STACKSIZE=0x10", true},	     {"OMP_MAX_ACTIVE_LEVELS=4", false},
		{"OMP_MAX_ACTIVE_LEVELS=300", true}, {"OMP_DISPLAY_ENV=verbose", false},
		{"OMP_DISPLAY_AFFINITY=true", true}, {"OMP_TOOL=disabled", true},
		{"OMP_NESTED=true", true},	     {"GOMP_CPU_AFFINITY=0", true},
		{"GOMP_SPINCOUNT=0", false},	     {"KMP_BLOCKTIME=x", false},
		{"PATH=OMP_NESTED", false},	     {"OMP_TOOL_LIBRARIES=tool.so", false},
	};
	char **before = environ;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		environ = (char *[]){"KMP_AFFINITY=disabled", all[i].variable, NULL};
		if (mal_gomp_is_wanted() != all[i].keeps)
			print_error("%s\n", all[i].variable);
		assert_int_equal(mal_gomp_is_wanted(), all[i].keeps);
	}
	environ = before;
}

/* A link to a library, in the second directory: what is in the first one is none. */
static void libomp_is_where_ld_so_finds_it(void **state)
{
	char directory[] = "/tmp/gomp-XXXXXX", first[32], none[64], file[64], list[96];
	struct mal_libomp libomp;
	Dl_info cmocka;

	(void)state;
	assert_int_not_equal(dladdr((void *)_cmocka_run_group_tests, &cmocka), 0);
	assert_non_null(mkdtemp(directory));
	snprintf(first, sizeof(first), "%s/first", directory);
	snprintf(none, sizeof(none), "%s/" MAL_LIBOMP, first);
	snprintf(file, sizeof(file), "%s/" MAL_LIBOMP, directory);
	snprintf(list, sizeof(list), "%s:%s", first, directory);
	assert_int_equal(mkdir(first, 0700), 0);
	fclose(fopen(none, "w"));
	assert_int_equal(symlink(cmocka.dli_fname, file), 0);
	setenv("LD_LIBRARY_PATH", list, 1);
	assert_true(mal_libomp_open(&libomp, "/nowhere/libgomp.so.1"));
	assert_string_equal(libomp.path, file);
	assert_true(mal_libomp_has(&libomp, "_cmocka_run_group_tests"));
	/* It calls that one. */
	assert_false(mal_libomp_has(&libomp, "malloc"));
	assert_false(mal_libomp_has(&libomp, "omp_get_max_threads"));
	mal_elf_file_close(&libomp.file);
	/* At last beside libgomp, if it is in no place of the system's. */
	setenv("LD_LIBRARY_PATH", first, 1);
	snprintf(list, sizeof(list), "%s/libgomp.so.1", directory);
	assert_true(mal_libomp_open(&libomp, list));
	assert_non_null(strstr(libomp.path, "/" MAL_LIBOMP));
	mal_elf_file_close(&libomp.file);
	unsetenv("LD_LIBRARY_PATH");
	unlink(none);
	unlink(file);
	rmdir(first);
	rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nobody_knows, set_up),
		cmocka_unit_test_setup(the_clock_is_libgomps, set_up),
		cmocka_unit_test_setup(pauses, set_up),
		cmocka_unit_test(variables_keep_libgomp),
		cmocka_unit_test(libomp_is_where_ld_so_finds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
