/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_objects.c: what objects call and keep, by which a program that is not read keeps its teams
 * or its runtime: those of plugin.c, and none beside them.
 */
#include "t/unit/unit.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/rank/program/objects.h"
#include "libmalleable/rank/program/parts.h"

void GOMP_parallel(void (*function)(void *), void *data, unsigned int threads, unsigned int flags);

/* The parts of the program, and what libomp lacks. */
static const char *parts, *lacking;

bool mal_part_of_program(const struct dl_phdr_info *info)
{
	const char *name = strstr(info->dlpi_name, "plugin_");

	return name && strstr(parts, name);
}

bool mal_libomp_has(const struct mal_libomp *libomp, const char *name)
{
	(void)libomp;
	return strcmp(name, lacking) != 0;
}

static void *load(const char *name)
{
	char path[PATH_MAX + 64] = "";
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
	char *end = strrchr(path, '/');
	void *handle;

	assert_true(length > 0 && end);
	snprintf(end, 64, "/.libs/plugin_%s.so", name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fail_msg("%s", dlerror());
	return handle;
}

static void *handles[5];

static int load_all(void **state)
{
	static const char *const names[] = {"plain", "region", "asks", "needs", "data"};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		handles[i] = load(names[i]);
	return 0;
}

static int unload_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < 5; i++)
		dlclose(handles[i]);
	return 0;
}

/* A team's size may change unless something that opens regions goes with what tells threads. */
static void sizes_are_kept(void **state)
{
	static const struct {
		const char *parts;
		enum mal_mode_reason reason;
	} programs[] = {
		{"", MAL_REASON_NONE},
		{"plugin_plain.so plugin_region.so", MAL_REASON_NONE},
		{"plugin_asks.so plugin_data.so", MAL_REASON_NONE},
		{"plugin_region.so plugin_asks.so", MAL_REASON_REPORTED},
		{"plugin_region.so plugin_data.so", MAL_REASON_THREAD_DATA},
		{"plugin_region.so plugin_data.so plugin_asks.so", MAL_REASON_THREAD_DATA},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		parts = programs[i].parts;
		assert_int_equal(mal_objects_keep_size(), programs[i].reason);
	}
}

static void libomp_lacks_calls(void **state)
{
	(void)state;
	parts = "plugin_region.so";
	lacking = "";
	assert_false(mal_objects_call_more_than(NULL));
	lacking = "GOMP_parallel";
	assert_true(mal_objects_call_more_than(NULL));
	lacking = "plugin_region";
	assert_false(mal_objects_call_more_than(NULL));
	lacking = "GOMP_parallel";
	parts = "plugin_asks.so";
	assert_false(mal_objects_call_more_than(NULL));
}

/* The objects that are described, by what they do. */
static unsigned int described, with_regions, that_tell;

static int describe(struct dl_phdr_info *info, size_t size, void *nothing)
{
	struct mal_object object;

	(void)size;
	(void)nothing;
	if (!mal_object_read(info, &object))
		return 0;
	assert_ptr_equal(object.path, info->dlpi_name);
	described++;
	with_regions += object.regions;
	that_tell += object.observes_team;
	return 0;
}

static void objects_are_described(void **state)
{
	(void)state;
	parts = "plugin_plain.so plugin_region.so plugin_asks.so plugin_needs.so plugin_data.so";
	dl_iterate_phdr(describe, NULL);
	assert_int_equal(described, 5);
	assert_int_equal(with_regions, 1);
	/* GOMP_ may be any call of libgomp's. */
	assert_int_equal(that_tell, 3);
}

static void changes_are_seen(void **state)
{
	void *handle;

	(void)state;
	assert_true(mal_objects_changed());
	assert_false(mal_objects_changed());
	handle = load("plain");
	assert_true(mal_objects_changed());
	dlclose(handle);
	assert_true(mal_objects_changed());
	assert_false(mal_objects_changed());
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sizes_are_kept, load_all, unload_all),
		cmocka_unit_test_setup_teardown(libomp_lacks_calls, load_all, unload_all),
		cmocka_unit_test_setup_teardown(objects_are_described, load_all, unload_all),
		cmocka_unit_test(changes_are_seen),
	};

	(void)argv;
	/* Plugins find it there. */
	if (argc > 99)
		GOMP_parallel(NULL, NULL, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
