/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_known.c: which region may have any team, of this program and of objects that it loads and
 * unloads (plugin.c), where verdicts are this file's own: what is asked for them, what is kept, and
 * what one object means for another.
 */
#include "t/unit/unit.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "libmalleable/rank/program/known.c"
#include "libmalleable/rank/program/parts.h"
#include "libmalleable/rank/program/regions.h"

void GOMP_parallel(void (*function)(void *), void *data, unsigned int threads, unsigned int flags);
void region_free(void *data);
void region_bound(void *data);
void region_unknown(void *data);

void region_free(void *data)
{
	*(int *)data = 1;
}

void region_bound(void *data)
{
	*(int *)data = 2;
}

void region_unknown(void *data)
{
	*(int *)data = 3;
}

/* What the next inspections find: of this program, and of a plugin. */
static struct mal_verdict list[3];
static size_t list_count;
static int taken_tells, unknown, plugin_is_free, is_late, is_large;
static const char *question;
static unsigned int inspected, answer;
static uint64_t last_deadline_ns;
/* Shared with processes that start at once. */
static struct {
	_Atomic int32_t turn;
	_Atomic unsigned int inspected;
} *node;
static char cache[64], folder[PATH_MAX];

static void add(const void *function, int is_free, int indirect)
{
	Dl_info info;
	struct link_map *map;

	dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP);
	list[list_count++] = (struct mal_verdict){.address = (uintptr_t)function - map->l_addr,
						  .free = is_free,
						  .indirect = indirect};
}

static int by_address(const void *left, const void *right)
{
	const struct mal_verdict *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static void *loaded_plugin;

/* The plugin's region is found where it is loaded. */
static void choose_list(const uint8_t *bytes, size_t size)
{
	list_count = 0;
	if (memmem(bytes, size, "plugin_region", 14) && !memmem(bytes, size, "region_bound", 13)) {
		add(dlsym(loaded_plugin, "plugin_region"), plugin_is_free, 0);
	} else if (memmem(bytes, size, "region_bound", 13)) {
		add(region_free, 1, question && strcmp(question, "pointer") == 0);
		add(region_bound, 0, 0);
	}
	for (size_t i = 0; i < list_count; i++)
		list[i].name = strdup("name");
	qsort(list, list_count, sizeof(list[0]), by_address);
}

#define NS(milliseconds) ((uint64_t)(milliseconds) * 1000000)

static int inspect(const uint8_t *bytes, size_t size, const struct mal_inspect_by *by,
		   struct mal_inspection *inspection, struct mal_error *err)
{
	uint64_t until = mal_clock_ns(CLOCK_THREAD_CPUTIME_ID) + NS(KEEP_DEADLINE_MS) / 2;

	(void)err;
	inspected++;
	last_deadline_ns = by->deadline_ns;
	atomic_fetch_add(&node->inspected, 1);
	choose_list(bytes, size);
	*inspection = (struct mal_inspection){.count = list_count,
					      .verdicts = calloc(list_count + 1, sizeof(list[0])),
					      .unknown = unknown,
					      .taken_tells = taken_tells};
	memcpy(inspection->verdicts, list, list_count * sizeof(list[0]));
	if (question && memmem(bytes, size, "region_bound", 13))
		answer = (unsigned int)by->tells(question, by->data);
	while (is_late && mal_now_ns() < by->deadline_ns)
		usleep(1000);
	while (is_large && mal_clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		mal_now_ns();
	return 0;
}

/* As when the process starts. */
static void start(void)
{
	for (size_t i = 0; i < known_count; i++)
		mal_verdicts_free(&known[i].verdicts);
	memset(known, 0, sizeof(known));
	known_count = 0;
	loaded.changes = 0;
	reader = &node->turn;
	atomic_store(reader, 0);
	inspected = 0;
	prover.inspect = inspect;
	prover.stamp = 1;
}

static int open_all(void **state)
{
	(void)state;
	strcpy(cache, "/tmp/known.XXXXXX");
	assert_non_null(mkdtemp(cache));
	setenv("XDG_CACHE_HOME", cache, 1);
	taken_tells = unknown = is_late = is_large = 0;
	plugin_is_free = 1;
	question = NULL;
	atomic_store(&node->inspected, 0);
	mal_patience_set(1);
	start();
	return 0;
}

static int close_all(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", cache);
	return system(command);
}

static void *load(const char *name)
{
	char path[PATH_MAX + 64];
	void *handle;

	snprintf(path, sizeof(path), "%s/.libs/%s.so", folder, name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fail_msg("%s", dlerror());
	return handle;
}

static struct mal_region_kind kind_of(void (*region)(void *))
{
	return mal_region_of((const void *)region);
}

static void by_function(void **state)
{
	char text[64];

	(void)state;
	assert_true(kind_of(region_free).free);
	assert_true(kind_of(region_free).stays);
	assert_false(kind_of(region_bound).free);
	assert_true(kind_of(region_bound).stays);
	assert_false(kind_of(region_unknown).free);
	assert_false(kind_of(free).free);
	assert_false(kind_of(NULL).free);
	assert_int_equal(inspected, 1);
	mal_region_why((const void *)region_bound, text, sizeof(text));
	assert_non_null(strstr(text, "name: "));
	mal_region_why((const void *)region_unknown, text, sizeof(text));
	assert_string_equal(text, "the program: a region of which nothing is known");
}

/* The next start reads it, and another code for verdicts does not. */
static void kept(void **state)
{
	(void)state;
	kind_of(region_free);
	start();
	assert_true(kind_of(region_free).free);
	assert_false(kind_of(region_bound).free);
	assert_int_equal(inspected, 0);
	start();
	prover.stamp = 2;
	kind_of(region_free);
	assert_int_equal(inspected, 1);
	/* Where no file can be had, each rank reads. */
	setenv("XDG_CACHE_HOME", "/proc", 1);
	for (int i = 0; i < 2; i++) {
		start();
		assert_true(kind_of(region_free).free);
		assert_int_equal(inspected, 1);
		assert_int_equal(atomic_load(&node->turn), MAL_EACH_READS);
	}
}

/* Of ranks that start at once one reads, and one that was killed as it read is not waited for. */
static void at_once(void **state)
{
	pid_t killed = fork();
	int status;

	(void)state;
	if (killed == 0)
		_exit(0);
	waitpid(killed, NULL, 0);
	mal_patience_set(MAL_PATIENCE_MAX);
	atomic_store(&node->turn, killed);
	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			_exit(!kind_of(region_free).free);
	for (int i = 0; i < 4; i++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_int_equal(atomic_load(&node->inspected), 1);
	assert_int_equal(atomic_load(&node->turn), 0);
}

/* There was no time for all of it: the next start may have more. */
static void late(void **state)
{
	(void)state;
	is_late = 1;
	kind_of(region_free);
	start();
	is_late = 0;
	kind_of(region_free);
	assert_int_equal(inspected, 1);
	/* Unless all that time went into reading. */
	is_large = is_late = 1;
	for (unsigned int i = 1; i <= 2; i++) {
		start();
		prover.stamp = 2;
		kind_of(region_free);
		assert_int_equal(inspected, 2 - i);
	}
}

/* A large library takes longer than each start may wait: it is read to its end once, to be kept. */
static void more_time_to_keep(void **state)
{
	uint64_t before = mal_now_ns();

	(void)state;
	kind_of(region_free);
	assert_true(last_deadline_ns >= before + NS(KEEP_DEADLINE_MS));
	/* Not where nothing can be kept. */
	setenv("XDG_CACHE_HOME", "/proc", 1);
	start();
	kind_of(region_free);
	assert_int_equal(inspected, 1);
	assert_true(last_deadline_ns <= mal_now_ns() + NS(DEADLINE_MS));
}

/* A region without a name is called by its object, of which the path may be long. */
static void nameless(void **state)
{
	char text[256];

	(void)state;
	plugin_is_free = 0;
	loaded_plugin = load("plugin_region");
	mal_known_look();
	for (size_t i = 0; i < known_count; i++)
		for (size_t j = 0; j < known[i].verdicts.found.count; j++) {
			free(known[i].verdicts.found.verdicts[j].name);
			known[i].verdicts.found.verdicts[j].name = NULL;
		}
	mal_region_why(dlsym(loaded_plugin, "plugin_region"), text, sizeof(text));
	assert_non_null(strstr(text, " of "));
	assert_null(strchr(text, '/'));
	dlclose(loaded_plugin);
}

static void loaded_later(void **state)
{
	const void *region;

	(void)state;
	assert_true(kind_of(region_free).free);
	for (int i = 0; i < 2; i++) {
		loaded_plugin = load("plugin_region");
		region = dlsym(loaded_plugin, "plugin_region");
		assert_true(mal_region_of(region).free);
		assert_false(mal_region_of(region).stays);
		dlclose(loaded_plugin);
		assert_false(mal_region_of(region).free);
		assert_int_equal(known_count, 1);
	}
	/* Each object once: the second time it was in a file. */
	assert_int_equal(inspected, 2);
	assert_true(kind_of(region_free).free);
	plugin_is_free = 0;
	prover.stamp++;
	loaded_plugin = load("plugin_region");
	assert_false(mal_region_of(dlsym(loaded_plugin, "plugin_region")).free);
	dlclose(loaded_plugin);
	assert_int_equal(inspected, 3);
}

/* What is found of one object relies on others: not if these are others the next time. */
static void of_other_objects(void **state)
{
	void *handle = load("plugin_plain"), *second;

	(void)state;
	question = "strtol";
	kind_of(region_free);
	assert_true(answer);
	question = "no_such_function";
	start();
	prover.stamp++;
	kind_of(region_free);
	assert_true(answer);
	dlclose(handle);

	handle = dlopen(NULL, RTLD_NOW);
	start();
	prover.stamp += 2;
	question = "plugin_function";
	kind_of(region_free);
	assert_true(answer);
	assert_int_equal(inspected, 1);
	assert_true(mal_loaded_tells(&loaded, NULL, "plugin_plain"));
	second = load("plugin_plain");
	mal_known_look();
	assert_false(mal_loaded_tells(&loaded, second, "plugin_plain"));
	dlclose(second);
	second = load("plugin_asks");
	mal_known_look();
	assert_true(mal_loaded_tells(&loaded, second, "plugin_asks"));
	dlclose(second);
	/* It does not ask itself, but calls what does. */
	second = load("plugin_needs");
	mal_known_look();
	assert_true(mal_loaded_tells(&loaded, second, "plugin_needs"));
	dlclose(second);
	dlclose(handle);
}

static void answers_change(void **state)
{
	struct mal_verdicts *verdicts;

	(void)state;
	question = "no_such_function";
	kind_of(region_free);
	verdicts = &known[0].verdicts;
	assert_int_equal(verdicts->asked_count, 1);
	verdicts->asked[0].tells = false;
	mal_verdicts_store(&known[0].identity, prover.stamp, verdicts);
	start();
	kind_of(region_free);
	assert_int_equal(inspected, 1);
}

/* A call by pointer may lead to what another object has. */
static void pointers(void **state)
{
	void *handle;

	(void)state;
	question = "pointer";
	assert_true(kind_of(region_free).free);
	assert_false(kind_of(region_free).stays);
	handle = load("plugin_plain");
	assert_true(kind_of(region_free).free);
	dlclose(handle);
	taken_tells = 1;
	handle = load("plugin_asks");
	assert_false(kind_of(region_free).free);
	dlclose(handle);
	assert_true(kind_of(region_free).free);
}

static void all_free(void **state)
{
	char text[64];

	(void)state;
	mal_known_look();
	assert_false(mal_regions_are_free(text, sizeof(text)));
	assert_non_null(strstr(text, "name"));
	for (size_t i = 0; i < known[0].verdicts.found.count; i++)
		known[0].verdicts.found.verdicts[i].free = 1;
	assert_true(mal_regions_are_free(text, sizeof(text)));
	loaded_plugin = load("plugin_region");
	assert_true(mal_regions_are_free(text, sizeof(text)));
	dlclose(loaded_plugin);
	mal_known_look();
	plugin_is_free = 0;
	prover.stamp++;
	loaded_plugin = load("plugin_region");
	assert_false(mal_regions_are_free(text, sizeof(text)));
	dlclose(loaded_plugin);
	assert_true(mal_regions_are_free(text, sizeof(text)));
	known[0].verdicts.found.unknown = 1;
	assert_false(mal_regions_are_free(text, sizeof(text)));
	assert_non_null(strstr(text, "nothing is known"));
	known[0].verdicts.found.unknown = 0;
	known[0].verdicts.found.count = 0;
	assert_false(mal_regions_are_free(text, sizeof(text)));
}

static int add_part(struct dl_phdr_info *info, size_t size, void *seen)
{
	(void)size;
	if (strstr(info->dlpi_name, "plugin_asks") && mal_part_of_program(info))
		*(bool *)seen = true;
	return 0;
}

static bool has_part(void)
{
	bool seen = false;

	dl_iterate_phdr(add_part, &seen);
	return seen;
}

/* What only a known library needs is as little a part of the program as that itself. */
static void needed(void **state)
{
	void *library = load("mca_needs"), *handle;

	(void)state;
	assert_false(has_part());
	handle = load("plugin_needs");
	assert_true(has_part());
	dlclose(handle);
	assert_false(has_part());
	dlclose(library);
	handle = load("plugin_asks");
	assert_true(has_part());
	dlclose(handle);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(by_function),
		CASE(kept),
		CASE(late),
		CASE(nameless),
		CASE(more_time_to_keep),
		CASE(loaded_later),
		CASE(of_other_objects),
		CASE(answers_change),
		CASE(pointers),
		CASE(all_free),
		CASE(at_once),
		CASE(needed),
	};
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	(void)argv;
	folder[length > 0 ? length : 0] = '\0';
	*strrchr(folder, '/') = '\0';
	node = mmap(NULL, sizeof(*node), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* It is a program in C++, with regions. */
	dlopen("libstdc++.so.6", RTLD_NOW);
	if (argc > 1)
		GOMP_parallel(region_free, &argc, 1, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
