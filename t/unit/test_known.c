/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_known.c: which region may have any team, of this program and of objects that it loads and
 * unloads (plugin.c), where verdicts are this file's own: what is asked for them, what is kept, and
 * what one object means for another.
 */
#include "t/unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "libmalleable/prover/rank/region_verdicts.c"
#include "libmalleable/rank/program/parts.h"
/* The library that reads is a file of the test's, which takes until the program goes on. */
static int find_folder(const void *address, Dl_info *info);
static void *load_slowly(const char *path, int flags);
#define dladdr find_folder
#define dlopen load_slowly
#include "libmalleable/prover/rank/reader.c"
#undef dladdr
#undef dlopen

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

/* The thread in the background. */
static void *(*function_of_thread)(void *);
static _Atomic bool works;
/* How many more times it is said to be at work after its end; and the next one. */
static unsigned int late, late_next;

static void *run(void *nothing)
{
	function_of_thread(NULL);
	atomic_store(&works, false);
	return nothing;
}

static bool begin(void *(*function)(void *))
{
	pthread_t thread;

	function_of_thread = function;
	atomic_store(&works, true);
	late = late_next;
	return pthread_create(&thread, NULL, run, NULL) == 0 && pthread_detach(thread) == 0;
}

static bool is_at_work(void)
{
	if (atomic_load(&works))
		return true;
	late -= late > 0;
	return late;
}

/* What the next inspections find: of this program, and of a plugin. */
static struct mal_verdict list[3];
static size_t list_count;
static bool indirect_observes, unknown, plugin_is_free, told;
static const char *question;
static unsigned int inspected;
/* Shared with processes that start at once. */
static struct {
	_Atomic int32_t turn;
	_Atomic uint32_t kept;
	_Atomic uint64_t awaited;
	_Atomic unsigned int inspected, arrived;
	_Atomic bool held;  /* no verdicts ends */
	_Atomic bool parts; /* it finds the region that is awaited before that */
	_Atomic size_t known;
} *node;
static char cache[64], folder[PATH_MAX];

static int find_folder(const void *address, Dl_info *info)
{
	static char path[sizeof(cache) + 16];

	(void)address;
	snprintf(path, sizeof(path), "%s/ours.so", cache);
	info->dli_fname = path;
	return 1;
}

static _Atomic int nice_as_it_loads;

static void *load_slowly(const char *path, int flags)
{
	if (!strstr(path, PROVER))
		return dlopen(path, flags);
	while (!atomic_load(&reader.gives_way))
		usleep(1000);
	usleep(20000);
	atomic_store(&nice_as_it_loads, getpriority(PRIO_PROCESS, 0));
	return NULL;
}

static void add(const void *function, bool is_free, bool indirect)
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

/* One region of a list that is not complete. */
static void find_awaited(const struct mal_inspect_options *options, struct mal_verdicts *verdicts)
{
	uint64_t awaited;

	while (!(awaited = options->next(options->data)))
		usleep(1000);
	for (size_t i = 0; i < list_count; i++)
		if (list[i].address != awaited)
			verdicts->list[i].address = 0;
	options->found(awaited, options->data);
	for (size_t i = 0; i < list_count; i++)
		verdicts->list[i].address = list[i].address;
}

static void ask(const struct mal_inspect_options *options, struct mal_verdicts *verdicts)
{
	told = options->observes_team(question, options->data);
	verdicts->questions = calloc(1, sizeof(*verdicts->questions));
	verdicts->questions[0] = (struct mal_question){strdup(question), told};
	verdicts->question_count = 1;
}

static int inspect(const uint8_t *bytes, size_t size, const struct mal_inspect_options *options,
		   struct mal_verdicts *verdicts, struct mal_error *err)
{
	(void)err;
	inspected++;
	choose_list(bytes, size);
	*verdicts = (struct mal_verdicts){.count = list_count,
					  .list = calloc(list_count + 1, sizeof(list[0])),
					  .unknown = unknown,
					  .indirect_observes = indirect_observes,
					  .part = true};
	memcpy(verdicts->list, list, list_count * sizeof(list[0]));
	/* The object may be unloaded from here on. */
	atomic_fetch_add(&node->inspected, 1);
	if (question && memmem(bytes, size, "region_bound", 13))
		ask(options, verdicts);
	atomic_store(&node->known, options->earlier->count);
	if (atomic_load(&node->parts))
		find_awaited(options, verdicts);
	while (atomic_load(&node->held))
		usleep(1000);
	verdicts->part = false;
	return 0;
}

/* Which code finds verdicts. */
static void stamp(uint64_t number)
{
	prover_stamp = prover.stamp = number;
}

/* As when the process starts. */
static void start(void)
{
	for (size_t i = 0; i < object_count; i++)
		mal_verdicts_free(&objects[i].verdicts);
	memset(objects, 0, sizeof(objects));
	object_count = 0;
	loaded.changes = 0;
	memset(&unread, 0, sizeof(unread));
	shared = reader.shared = (struct mal_reader_share){&node->turn, &node->kept, &node->awaited,
							   begin, is_at_work};
	atomic_store(shared.turn, 0);
	atomic_store(shared.awaited, 0);
	atomic_store(&reader.gives_way, false);
	inspected = late = late_next = 0;
	prover.inspect = inspect;
	prover.missing = false;
	stamp(1);
}

/* No verdicts ends from here on: nobody waits for it longer than a moment. */
static void hold_inspections(void)
{
	atomic_store(&node->held, true);
	mal_patience_set(1);
}

/* A machine that stalls decides nothing then. */
static void let_inspections_end(void)
{
	atomic_store(&node->held, false);
	mal_patience_set(MAL_PATIENCE_MAX);
}

static int open_all(void **state)
{
	(void)state;
	strcpy(cache, "/tmp/known.XXXXXX");
	assert_non_null(mkdtemp(cache));
	setenv("XDG_CACHE_HOME", cache, 1);
	indirect_observes = unknown = 0;
	plugin_is_free = 1;
	question = NULL;
	atomic_store(&node->inspected, 0);
	atomic_store(&node->parts, false);
	let_inspections_end();
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

static struct mal_region_verdict verdict_of(void (*region)(void *))
{
	return mal_region_of((const void *)region);
}

static void regions_are_known_by_function(void **state)
{
	char text[64];

	(void)state;
	assert_true(verdict_of(region_free).free);
	assert_true(verdict_of(region_free).stays);
	assert_false(verdict_of(region_bound).free);
	assert_true(verdict_of(region_bound).stays);
	assert_false(verdict_of(region_unknown).free);
	assert_false(verdict_of(free).free);
	assert_false(verdict_of(NULL).free);
	assert_int_equal(inspected, 1);
	mal_region_why((const void *)region_bound, text, sizeof(text));
	assert_non_null(strstr(text, "name: "));
	mal_region_why((const void *)region_unknown, text, sizeof(text));
	assert_string_equal(text, "the program: a region of which nothing is known");
}

/* The next start reads it, and another code for verdicts does not. */
static void verdicts_are_kept_for_the_next_start(void **state)
{
	(void)state;
	verdict_of(region_free);
	start();
	assert_true(verdict_of(region_free).free);
	assert_false(verdict_of(region_bound).free);
	assert_int_equal(inspected, 0);
	start();
	stamp(2);
	verdict_of(region_free);
	assert_int_equal(inspected, 1);
	/* Where no file can be had, each rank reads. */
	setenv("XDG_CACHE_HOME", "/proc", 1);
	for (int i = 0; i < 2; i++) {
		start();
		assert_true(verdict_of(region_free).free);
		assert_int_equal(inspected, 1);
		assert_int_equal(atomic_load(&node->turn), MAL_EACH_READS);
	}
}

/* Of ranks that start at once one reads, and one that was killed as it read is not waited for. */
static void one_of_many_ranks_reads(void **state)
{
	pid_t killed = fork(), turn;
	int status;

	(void)state;
	if (killed == 0)
		_exit(0);
	waitpid(killed, NULL, 0);
	atomic_store(&node->turn, killed);
	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			_exit(!verdict_of(region_free).free);
	for (int i = 0; i < 4; i++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_int_equal(atomic_load(&node->inspected), 1);
	/* The one that read may have ended before its thread did. */
	turn = atomic_load(&node->turn);
	assert_true(turn == 0 || kill(turn, 0) < 0);
}

static void await_inspections(unsigned int count)
{
	while (atomic_load(&node->inspected) < count)
		usleep(1000);
}

/* Wait for READ objects to be read, and their verdicts to be kept. */
static void let_it_read(unsigned int read)
{
	await_inspections(read);
	while (!mal_reader_is_free())
		usleep(1000);
	usleep(2 * PAUSE_NS / 1000);
}

/* A large program takes longer than it waits: it goes on, and its regions are bound until then. */
static void large_programs_are_read_in_the_background(void **state)
{
	char text[64];

	(void)state;
	hold_inspections();
	assert_false(verdict_of(region_free).free);
	assert_false(verdict_of(region_free).stays);
	assert_true(mal_regions_are_unread());
	assert_false(mal_regions_are_free(text, sizeof(text)));
	mal_region_why((const void *)region_free, text, sizeof(text));
	assert_string_equal(text, "the program: it is being read in the background");
	/* It takes next to no CPU time from others then. */
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)atomic_load(&reader.tid)), 19);
	let_inspections_end();
	let_it_read(1);
	assert_true(verdict_of(region_free).free);
	assert_true(verdict_of(region_free).stays);
	assert_false(verdict_of(region_bound).free);
	assert_false(mal_regions_are_unread());
	/* The next start waits for nothing. */
	hold_inspections();
	start();
	assert_true(verdict_of(region_free).free);
	let_inspections_end();
}

/*
 * It holds the dynamic linker's lock while it loads what reads, and the program may need that: it
 * does not give way before.
 */
static void holds_no_lock_at_length(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "touch %s/" PROVER, cache);
	assert_int_equal(system(command), 0);
	prover.inspect = NULL;
	atomic_store(&nice_as_it_loads, -1);
	mal_patience_set(1);
	assert_false(verdict_of(region_free).free);
	while (!mal_reader_is_free())
		usleep(1000);
	usleep(2 * PAUSE_NS / 1000);
	assert_true(verdict_of(region_free).stays);
	assert_int_equal(atomic_load(&nice_as_it_loads), getpriority(PRIO_PROCESS, 0));
}

/*
 * What starts first is read first, and all have that before the rest. A start that ends then leaves
 * it for the next one, which reads the rest.
 */
static void first_comes_first(void **state)
{
	char text[64];
	pid_t child;
	int status;

	(void)state;
	hold_inspections();
	atomic_store(&node->parts, true);
	child = fork();
	if (child == 0) {
		while (!verdict_of(region_free).free)
			usleep(PAUSE_NS / 1000);
		mal_region_why((const void *)region_bound, text, sizeof(text));
		_exit(!verdict_of(region_free).stays || !mal_regions_are_unread() ||
		      strcmp(text, "the program: it is being read in the background") != 0);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(atomic_load(&node->inspected), 1);
	assert_int_equal(atomic_load(&node->known), 0);

	atomic_store(&node->parts, false);
	start();
	assert_true(verdict_of(region_free).free);
	assert_false(verdict_of(region_bound).stays);
	assert_true(mal_regions_are_unread());
	let_inspections_end();
	let_it_read(2);
	assert_int_equal(atomic_load(&node->known), 1);
	assert_true(verdict_of(region_bound).stays);
	assert_true(verdict_of(region_free).free);
	assert_false(mal_regions_are_unread());
}

/* So do the other ranks: they take what the one that reads has kept. */
static void others_go_on(void **state)
{
	int status;

	(void)state;
	hold_inspections();
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			bool free_at_first = verdict_of(region_free).free;

			atomic_fetch_add(&node->arrived, 1);
			while (!verdict_of(region_free).free)
				usleep(PAUSE_NS / 1000);
			_exit(free_at_first || !verdict_of(region_free).stays);
		}
	while (atomic_load(&node->arrived) < 3)
		usleep(1000);
	let_inspections_end();
	for (int i = 0; i < 3; i++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_int_equal(atomic_load(&node->inspected), 1);
}

/* The rank that reads ends before it has: another one reads. */
static void another_rank_reads_where_one_ended(void **state)
{
	pid_t child;

	(void)state;
	hold_inspections();
	child = fork();
	if (child == 0) {
		verdict_of(region_free);
		await_inspections(1);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(atomic_load(&node->turn), child);
	verdict_of(region_free);
	assert_int_equal(atomic_load(&node->turn), getpid());
	let_inspections_end();
	let_it_read(2);
	assert_true(verdict_of(region_free).free);
	assert_int_equal(inspected, 1);
	assert_int_equal(atomic_load(&node->turn), 0);
}

/* It is loaded, begun to be read, and unloaded: nothing keeps it. */
static void unloaded_as_it_is_read(void **state)
{
	const void *region;

	(void)state;
	verdict_of(region_free);
	hold_inspections();
	loaded_plugin = load("plugin_region");
	region = dlsym(loaded_plugin, "plugin_region");
	/* Only once the thread has ended that read the program another one begins. */
	while (atomic_load(&node->inspected) < 2)
		assert_false(mal_region_of(region).free);
	let_inspections_end();
	dlclose(loaded_plugin);
	let_it_read(2);
	assert_false(mal_region_of(region).free);
	assert_false(mal_regions_are_unread());
	loaded_plugin = load("plugin_region");
	assert_true(mal_region_of(dlsym(loaded_plugin, "plugin_region")).free);
	dlclose(loaded_plugin);
}

/* A region without a name is called by its object, of which the path may be long. */
static void nameless_regions_are_called_by_object(void **state)
{
	char text[256];

	(void)state;
	plugin_is_free = 0;
	loaded_plugin = load("plugin_region");
	look();
	for (size_t i = 0; i < object_count; i++)
		for (size_t j = 0; j < objects[i].verdicts.count; j++) {
			free(objects[i].verdicts.list[j].name);
			objects[i].verdicts.list[j].name = NULL;
		}
	mal_region_why(dlsym(loaded_plugin, "plugin_region"), text, sizeof(text));
	assert_non_null(strstr(text, " of "));
	assert_null(strchr(text, '/'));
	dlclose(loaded_plugin);
}

/* What was found is taken once: as its reader is about to end, an object comes again. */
static void found_is_taken_once(void **state)
{
	(void)state;
	assert_true(verdict_of(region_free).free);
	setenv("XDG_CACHE_HOME", "/proc", 1);
	for (int i = 0; i < 2; i++) {
		late_next = 20;
		loaded_plugin = load("plugin_region");
		assert_true(mal_region_of(dlsym(loaded_plugin, "plugin_region")).free);
		dlclose(loaded_plugin);
		assert_true(verdict_of(region_free).free);
	}
}

static void regions_loaded_later_are_known(void **state)
{
	const void *region;

	(void)state;
	assert_true(verdict_of(region_free).free);
	for (int i = 0; i < 2; i++) {
		loaded_plugin = load("plugin_region");
		region = dlsym(loaded_plugin, "plugin_region");
		assert_true(mal_region_of(region).free);
		assert_false(mal_region_of(region).stays);
		dlclose(loaded_plugin);
		assert_false(mal_region_of(region).free);
		assert_int_equal(object_count, 1);
	}
	/* Each object once: the second time it was in a file. */
	assert_int_equal(inspected, 2);
	assert_true(verdict_of(region_free).free);
	plugin_is_free = 0;
	stamp(prover.stamp + 1);
	loaded_plugin = load("plugin_region");
	assert_false(mal_region_of(dlsym(loaded_plugin, "plugin_region")).free);
	dlclose(loaded_plugin);
	assert_int_equal(inspected, 3);
}

/* The thread ends while its work is taken: what it has read is not read again with the next. */
static void ends_as_it_is_looked_at(void **state)
{
	const void *region;

	(void)state;
	late_next = 1000000;
	assert_true(verdict_of(region_free).free);
	while (atomic_load(&works))
		usleep(1000);
	late = 2;
	late_next = 0;
	loaded_plugin = load("plugin_region");
	region = dlsym(loaded_plugin, "plugin_region");
	while (!mal_region_of(region).free)
		usleep(PAUSE_NS / 1000);
	assert_int_equal(inspected, 2);
	dlclose(loaded_plugin);
}

/* What is found of one object relies on others: not if these are others the next time. */
static void of_other_objects(void **state)
{
	void *handle = load("plugin_plain"), *second;

	(void)state;
	question = "strtol";
	verdict_of(region_free);
	assert_true(told);
	question = "no_such_function";
	start();
	stamp(prover.stamp + 1);
	verdict_of(region_free);
	assert_true(told);
	dlclose(handle);

	handle = dlopen(NULL, RTLD_NOW);
	start();
	stamp(prover.stamp + 2);
	question = "plugin_function";
	verdict_of(region_free);
	assert_true(told);
	assert_int_equal(inspected, 1);
	assert_true(mal_loaded_tells(&loaded, NULL, "plugin_plain"));
	second = load("plugin_plain");
	look();
	assert_false(mal_loaded_tells(&loaded, second, "plugin_plain"));
	dlclose(second);
	second = load("plugin_asks");
	look();
	assert_true(mal_loaded_tells(&loaded, second, "plugin_asks"));
	dlclose(second);
	/* It does not ask itself, but calls what does. */
	second = load("plugin_needs");
	look();
	assert_true(mal_loaded_tells(&loaded, second, "plugin_needs"));
	dlclose(second);
	dlclose(handle);
}

static void verdicts_follow_what_is_loaded(void **state)
{
	struct mal_verdicts *verdicts;

	(void)state;
	question = "no_such_function";
	verdict_of(region_free);
	verdicts = &objects[0].verdicts;
	assert_int_equal(verdicts->question_count, 1);
	verdicts->questions[0].observes_team = false;
	mal_verdicts_store(&objects[0].identity, prover.stamp, verdicts);
	start();
	verdict_of(region_free);
	assert_int_equal(inspected, 1);
}

/* Of the objects that are loaded, those of the test's own libraries tell no more, but NAME. */
static void let_tell(const char *name)
{
	look();
	for (size_t i = 0; i < loaded.count; i++)
		loaded.objects[i].observes_team &= strstr(loaded.objects[i].path, name) != NULL;
}

/* A call by pointer may lead to what another object has. */
static void calls_by_pointer_lead_to_other_objects(void **state)
{
	void *handle;

	(void)state;
	question = "pointer";
	let_tell("plugin_");
	assert_true(verdict_of(region_free).free);
	assert_false(verdict_of(region_free).stays);
	handle = load("plugin_plain");
	let_tell("plugin_");
	assert_true(verdict_of(region_free).free);
	dlclose(handle);
	handle = load("plugin_asks");
	let_tell("plugin_");
	assert_false(verdict_of(region_free).free);
	dlclose(handle);
	let_tell("plugin_");
	assert_true(verdict_of(region_free).free);
	loaded_plugin = load("plugin_region");
	let_tell("nothing");
	assert_true(verdict_of(region_free).free);
	indirect_observes = true;
	start();
	stamp(prover.stamp + 1);
	let_tell("nothing");
	assert_false(verdict_of(region_free).free);
	dlclose(loaded_plugin);
}

static void all_free_only_if_each_region_is(void **state)
{
	char text[64];

	(void)state;
	look();
	assert_false(mal_regions_are_free(text, sizeof(text)));
	assert_non_null(strstr(text, "name"));
	for (size_t i = 0; i < objects[0].verdicts.count; i++)
		objects[0].verdicts.list[i].free = 1;
	assert_true(mal_regions_are_free(text, sizeof(text)));
	loaded_plugin = load("plugin_region");
	assert_true(mal_regions_are_free(text, sizeof(text)));
	dlclose(loaded_plugin);
	look();
	plugin_is_free = 0;
	stamp(prover.stamp + 1);
	loaded_plugin = load("plugin_region");
	assert_false(mal_regions_are_free(text, sizeof(text)));
	dlclose(loaded_plugin);
	assert_true(mal_regions_are_free(text, sizeof(text)));
	objects[0].verdicts.unknown = 1;
	assert_false(mal_regions_are_free(text, sizeof(text)));
	assert_non_null(strstr(text, "nothing is known"));
	objects[0].verdicts.unknown = 0;
	objects[0].verdicts.count = 0;
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
static void what_a_library_needs_is_no_part(void **state)
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
		CASE(regions_are_known_by_function),
		CASE(verdicts_are_kept_for_the_next_start),
		CASE(large_programs_are_read_in_the_background),
		CASE(holds_no_lock_at_length),
		CASE(first_comes_first),
		CASE(others_go_on),
		CASE(unloaded_as_it_is_read),
		CASE(another_rank_reads_where_one_ended),
		CASE(nameless_regions_are_called_by_object),
		CASE(found_is_taken_once),
		CASE(regions_loaded_later_are_known),
		CASE(ends_as_it_is_looked_at),
		CASE(of_other_objects),
		CASE(verdicts_follow_what_is_loaded),
		CASE(calls_by_pointer_lead_to_other_objects),
		CASE(all_free_only_if_each_region_is),
		CASE(one_of_many_ranks_reads),
		CASE(what_a_library_needs_is_no_part),
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
