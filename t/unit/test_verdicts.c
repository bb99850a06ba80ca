/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_verdicts.c: verdicts that are kept in files come back as they were, or not at all: whatever
 * is there instead, and whoever writes at the same time.
 */
#include "t/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/prover/rank/verdict_files.h"

#define PROVER 7

static char base[64], folder[96];
static struct mal_identity identity;
static bool disk_is_full;

ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __real_write(int fd, const void *bytes, size_t size);

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
	return __real_write(fd, bytes, disk_is_full ? size / 2 : size);
}

static int open_cache(void **state)
{
	(void)state;
	strcpy(base, "/tmp/verdicts.XXXXXX");
	assert_non_null(mkdtemp(base));
	snprintf(folder, sizeof(folder), "%s/malleable", base);
	setenv("XDG_CACHE_HOME", base, 1);
	unsetenv("HOME");
	identity = (struct mal_identity){
		.content = 8, .segments = 3, .text_begin = 0x1000, .text_end = 0x9000};
	disk_is_full = false;
	return 0;
}

static int close_cache(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command);
}

static void store(void)
{
	static struct mal_verdict list[] = {
		{.address = 0x1000, .name = (char *)"not kept", .free = 1},
		{.address = 0x2000,
		 .name = (char *)"by a pointer",
		 .free = 1,
		 .indirect = 1,
		 .alone = (char *)"a static variable",
		 .sums = (char *)"a reduction"},
		{.address = 0x8fff,
		 .name = (char *)"second one\n",
		 .reason = (char *)"a clause",
		 .where = 0x42}};
	static struct mal_question questions[] = {{(char *)"plain", false},
						  {(char *)"telling", true}};
	struct mal_verdicts verdicts = {.list = list,
					.count = 3,
					.indirect_observes = true,
					.questions = questions,
					.question_count = 2};

	mal_verdicts_store(&identity, PROVER, &verdicts);
}

/* Whether they are there; then they are what was stored. */
static bool is_there(void)
{
	struct mal_verdicts verdicts;

	if (!mal_verdicts_load(&identity, PROVER, &verdicts))
		return false;
	assert_int_equal(verdicts.count, 3);
	assert_int_equal(verdicts.list[0].address, 0x1000);
	assert_null(verdicts.list[0].name);
	assert_int_equal(verdicts.list[0].free, 1);
	assert_null(verdicts.list[0].reason);
	/* Other objects may bind this one, and the report names it then. */
	assert_string_equal(verdicts.list[1].name, "by a pointer");
	assert_int_equal(verdicts.list[1].free + verdicts.list[1].indirect, 2);
	assert_string_equal(verdicts.list[1].alone, "a static variable");
	assert_string_equal(verdicts.list[1].sums, "a reduction");
	assert_null(verdicts.list[0].alone);
	assert_null(verdicts.list[0].sums);
	assert_string_equal(verdicts.list[2].name, "second one?");
	assert_string_equal(verdicts.list[2].reason, "a clause");
	assert_int_equal(verdicts.list[2].where, 0x42);
	assert_true(verdicts.indirect_observes);
	assert_false(verdicts.unknown);
	assert_int_equal(verdicts.question_count, 2);
	assert_string_equal(verdicts.questions[1].symbol, "telling");
	assert_int_equal(verdicts.questions[0].observes_team, false);
	assert_int_equal(verdicts.questions[1].observes_team, true);
	mal_verdicts_free(&verdicts);
	return true;
}

static unsigned int count_files(char *last)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	unsigned int count = 0;

	while (directory && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (last)
			snprintf(last, 256, "%.100s/%.100s", folder, entry->d_name);
	}
	if (directory)
		closedir(directory);
	return count;
}

/* The only file. */
static const char *path(void)
{
	static char text[256];

	assert_int_equal(count_files(text), 1);
	return text;
}

static void put(const char *name, const void *bytes, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(__real_write(fd, bytes, size), size);
	close(fd);
}

/* A part of them comes back as such. */
static void comes_in_parts(void **state)
{
	struct mal_verdict list[] = {{.address = 0x1000, .free = 1}, {.address = 0}};
	struct mal_verdicts part = {.list = list, .count = 2, .part = true}, back;

	(void)state;
	assert_true(mal_verdicts_store(&identity, PROVER, &part));
	assert_true(mal_verdicts_load(&identity, PROVER, &back));
	assert_true(back.part);
	assert_int_equal(back.count, 1);
	assert_int_equal(back.list[0].address, 0x1000);
	mal_verdicts_free(&back);
}

static void verdicts_come_back(void **state)
{
	(void)state;
	assert_false(is_there());
	store();
	assert_true(is_there());
	/* Where the user has said nothing of it, it is in the home directory. */
	unsetenv("XDG_CACHE_HOME");
	assert_false(is_there());
	store();
	assert_false(is_there());
	setenv("HOME", base, 1);
	store();
	assert_true(is_there());
	setenv("XDG_CACHE_HOME", "relative", 1);
	assert_true(is_there());
}

static void verdicts_of_another_code_are_refused(void **state)
{
	struct mal_identity before = identity;
	struct mal_verdicts verdicts;

	(void)state;
	store();
	assert_false(mal_verdicts_load(&identity, PROVER + 1, &verdicts));
	identity.segments++;
	assert_false(is_there());
	identity = before;
	identity.text_end++;
	assert_false(is_there());
	identity = before;
	identity.content++;
	assert_false(is_there());
	identity = before;
	assert_true(is_there());
}

/* Two programs with one build-id: what is told of one is not of the other. */
static void code_tells_programs_apart(void **state)
{
	struct {
		ElfW(Nhdr) note;
		char name[4], id[16], code[4001];
	} file = {{4, 16, NT_GNU_BUILD_ID}, "GNU", "the same", "one code"};
	const ElfW(Phdr) headers[] = {{.p_type = PT_NOTE, .p_flags = PF_R, .p_memsz = 36},
				      {.p_type = PT_LOAD,
				       .p_flags = PF_R | PF_X,
				       .p_filesz = sizeof(file),
				       .p_memsz = sizeof(file)}};
	struct mal_object object = {
		.base = (uintptr_t)&file, .headers = headers, .header_count = 2};
	struct mal_identity first, second;

	(void)state;
	mal_identity_read(&object, &first);
	for (size_t i = 0; i < sizeof(file.code); i++) {
		file.code[i] ^= 1;
		mal_identity_read(&object, &second);
		assert_int_not_equal(first.content, second.content);
		file.code[i] ^= 1;
	}
	mal_identity_read(&object, &second);
	assert_memory_equal(&first, &second, sizeof(first));
}

/* Each byte changed, and each length. */
static void damaged_files_are_refused(void **state)
{
	char text[4096];
	int fd;
	ssize_t size;

	(void)state;
	store();
	fd = open(path(), O_RDONLY);
	size = read(fd, text, sizeof(text));
	close(fd);
	for (ssize_t i = 0; i < size; i++) {
		text[i] ^= 1;
		put(path(), text, (size_t)size);
		assert_false(is_there());
		text[i] ^= 1;
		put(path(), text, (size_t)i);
		assert_false(is_there());
	}
	put(path(), text, (size_t)size);
	assert_true(is_there());
}

/* A whole file that a program of somebody's has made: LINES behind the two that are right. */
static bool is_taken(const char *lines)
{
	struct mal_verdicts verdicts;
	char text[4096], *end;
	int fd;

	store();
	fd = open(path(), O_RDONLY);
	text[read(fd, text, sizeof(text) - 1)] = '\0';
	close(fd);
	end = strstr(text, "facts");
	strcpy(end, lines);
	end += strlen(lines);
	sprintf(end, "end %" PRIx64 "\n", mal_identity_hash(0, text, (size_t)(end - text)));
	put(path(), text, strlen(text));
	if (!mal_verdicts_load(&identity, PROVER, &verdicts))
		return false;
	mal_verdicts_free(&verdicts);
	return true;
}

static void made_up_files_are_refused(void **state)
{
	static const char *const wrong[] = {
		"region fff 1 0 0 f\t-\t-\t-\n",
		"region 9000 1 0 0 f\t-\t-\t-\n",
		"region 1000 2 0 0 f\t-\t-\t-\n",
		"region 1001 1 0 0 f\t-\t-\t-\nregion 1000 1 0 0 g\t-\t-\t-\n",
		"region 1000 1 0 0 f\t-\t-\t-\nregion 1000 0 0 0 g\t-\t-\t-\n",
		"region 1000 1 0 0 f\n",
		"region 1000 1 0 0 f\t-\t-\n",
		"region 1000 1 0\t-\t-\t-\n",
		"region \t\t\t\n",
		"question 2 f\n",
		"question 1\n",
		"question 1 \n",
		"facts 1\n",
		"else\n"};

	(void)state;
	assert_true(is_taken("region 1000 1 0 0 f\t-\t-\t-\nregion 1001 0 0 0 g\twhy\t-\t-\n"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (is_taken(wrong[i]))
			fail_msg("taken: %s", wrong[i]);
}

/* What is no file of the user's alone. */
static void files_of_others_are_refused(void **state)
{
	char other[128], name[256];

	(void)state;
	store();
	snprintf(name, sizeof(name), "%s", path());
	snprintf(other, sizeof(other), "%s/other", base);
	chmod(name, 0620);
	assert_false(is_there());
	chmod(name, 0600);
	assert_true(is_there());
	chmod(folder, 0777);
	assert_false(is_there());
	chmod(folder, 0700);
	if (geteuid() == 0) {
		assert_int_equal(chown(name, 1, 1), 0);
		assert_false(is_there());
		assert_int_equal(chown(name, 0, 0), 0);
	}
	assert_int_equal(rename(name, other), 0);
	assert_int_equal(symlink(other, name), 0);
	assert_false(is_there());
	/* One that is to be written replaces the link, not what it names. */
	put(other, "mine", 4);
	store();
	assert_true(is_there());
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_false(is_there());
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkdir(name, 0700), 0);
	assert_false(is_there());
	store();
	assert_int_equal(rmdir(name), 0);
	assert_int_equal(rmdir(folder), 0);
	/* Nor through a link for the directory. */
	assert_int_equal(unlink(other), 0);
	assert_int_equal(mkdir(other, 0700), 0);
	assert_int_equal(symlink(other, folder), 0);
	store();
	assert_false(is_there());
}

/* Nothing is left where it cannot be written as a whole. */
static void no_half_file_is_left(void **state)
{
	struct rlimit before, small;

	(void)state;
	disk_is_full = true;
	store();
	assert_int_equal(count_files(NULL), 0);
	disk_is_full = false;
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &small);
	store();
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(count_files(NULL), 0);
	setenv("XDG_CACHE_HOME", "/proc", 1);
	store();
	assert_false(is_there());
}

/* A writer that died has left its file: it is in the way for a minute. */
static void of_the_dead(void **state)
{
	struct timespec times[2] = {{0}, {0}};
	char name[300];

	(void)state;
	store();
	snprintf(name, sizeof(name), "%s.new", path());
	unlink(path());
	put(name, "half", 4);
	store();
	assert_false(is_there());
	assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
	store();
	store();
	assert_true(is_there());
	assert_string_not_equal(path(), name);
}

/* Verdicts of COUNT free regions with long names. Returns whether they come back. */
static bool large_comes_back(size_t count, bool indirect)
{
	struct mal_verdicts large = {.count = count}, found;
	bool there;

	large.list = calloc(count, sizeof(struct mal_verdict));
	for (size_t i = 0; i < count; i++)
		large.list[i] = (struct mal_verdict){
			.address = 0x1000 + i,
			.name = (char *)"_ZN5plant11grow_leavesILi3EEEvRKSt6vectorIdSaIdEE.omp",
			.free = 1,
			.indirect = indirect};
	mal_verdicts_store(&identity, PROVER, &large);
	free(large.list);
	there = mal_verdicts_load(&identity, PROVER, &found);
	if (there)
		assert_int_equal(found.count, count);
	mal_verdicts_free(&found);
	return there;
}

/* Weather codes have thousands of regions. */
static void thousands_of_regions_come_back(void **state)
{
	(void)state;
	assert_true(large_comes_back(6000, false));
	assert_true(large_comes_back(6000, true));
}

static void number_of_files_is_bounded(void **state)
{
	(void)state;
	assert_false(large_comes_back(20000, true));
	assert_int_equal(count_files(NULL), 0);
	for (unsigned int i = 0; i < 4000; i++) {
		identity.content = mal_identity_hash(0, &i, sizeof(i));
		store();
	}
	assert_in_range(count_files(NULL), 512, 1024);
}

/* Jobs that start at once: each finds all or nothing. */
static void jobs_at_once_find_all_or_nothing(void **state)
{
	int status;

	(void)state;
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			for (int j = 0; j < 300; j++) {
				store();
				is_there();
			}
			_exit(0);
		}
	for (int i = 0; i < 8; i++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_true(is_there());
	path();
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, open_cache, close_cache)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(verdicts_come_back),
		CASE(comes_in_parts),
		CASE(verdicts_of_another_code_are_refused),
		CASE(code_tells_programs_apart),
		CASE(damaged_files_are_refused),
		CASE(made_up_files_are_refused),
		CASE(files_of_others_are_refused),
		CASE(no_half_file_is_left),
		CASE(of_the_dead),
		CASE(thousands_of_regions_come_back),
		CASE(number_of_files_is_bounded),
		CASE(jobs_at_once_find_all_or_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
