/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_files.c: files that change, and links that others make, while they are read and written. */
#include "t/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/input.h"
#include "libmalleable/base/output.h"
#include "libmalleable/base/path.h"

/* The work directory is where the test runs. */
static char directory[] = "/tmp/test-files.XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? chdir(directory) : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return chdir("/") | rmdir(directory);
}

#define TRACE "{\"type\":\"step\",\"version\":1}"

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void has_text(const char *name, const char *text)
{
	char line[64] = "";
	FILE *file = fopen(name, "r");

	assert_non_null(file);
	assert_ptr_equal(fgets(line, sizeof(line), file), *text ? line : NULL);
	assert_string_equal(line, text);
	fclose(file);
}

static int derive(const char *name, struct mal_error *err)
{
	return mal_output_derive(name, "trace", err);
}

static void refused(const char *name)
{
	struct mal_error err = {""};

	assert_int_equal(derive(name, &err), -1);
	assert_memory_equal(err.text, "cannot write the trace to ", 26);
	assert_non_null(strstr(err.text, ": a link, or others can write it; name another file"));
	assert_int_equal(unlink(name), 0);
}

static void derived_names_lead_nowhere_else(void **state)
{
	(void)state;
	assert_int_equal(symlink("precious", "name"), 0);
	refused("name");
	assert_int_equal(access("precious", F_OK), -1);
	write_text("precious", "precious");
	assert_int_equal(symlink("precious", "name"), 0);
	refused("name");
	assert_int_equal(link("precious", "name"), 0);
	refused("name");
	assert_int_equal(mkfifo("name", 0600), 0);
	refused("name");
	has_text("precious", "precious");
	assert_int_equal(unlink("precious"), 0);
	if (geteuid() != 0)
		return;
	write_text("name", "");
	assert_int_equal(chown("name", 65534, 65534), 0);
	refused("name");
}

/* It is there from an earlier time, and is emptied only when it is written. */
static void own_files_are_taken(void **state)
{
	struct mal_error err = {""};
	FILE *file;
	int fd;

	(void)state;
	for (int i = 0; i < 2; i++) {
		fd = derive("name", &err);
		assert_true(fd >= 0);
		has_text("name", i ? TRACE : "");
		file = mal_output_take(fd, "name", "trace", &err);
		assert_non_null(file);
		has_text("name", "");
		fputs(TRACE, file);
		assert_int_equal(mal_output_close(file, "name", "trace", &err), 0);
	}
	assert_int_equal(unlink("name"), 0);
	assert_int_equal(derive("none/name", &err), -1);
	assert_string_equal(err.text,
			    "cannot write the trace to none/name: No such file or directory");
}

static FILE *open_output(const char *name, const char *what, struct mal_error *err)
{
	return mal_output_take(mal_output_named(name), name, what, err);
}

/* A program, say, that a user named by mistake. */
static void other_files_are_left_alone(void **state)
{
	static const char *const kinds[] = {"trace", "report", "page"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct mal_error err = {""};

		write_text("name", i ? TRACE : "#!/bin/sh\n");
		assert_null(open_output("name", kinds[i], &err));
		assert_non_null(strstr(err.text, " to name: malleable did not write the file "
						 "there; name another"));
		has_text("name", i ? TRACE : "#!/bin/sh\n");
	}
	assert_int_equal(unlink("name"), 0);
}

/* Write a trace to PATH. Returns whether that fails for a stranger's link. */
static bool leads_astray(const char *path)
{
	struct mal_error err = {""};
	FILE *file = open_output(path, "trace", &err);

	if (file)
		fclose(file);
	return !file && strstr(err.text, "the path has another user's link");
}

/* Whatever fs.protected_symlinks is, and through a directory too. */
static void links_of_strangers_are_not_followed(void **state)
{
	static const struct {
		const char *target, *link, *path;
	} tries[] = {{"there/new", "name", "name"}, {"there", "way", "way/other"}};

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir("there", 0755), 0);
	assert_int_equal(chmod(".", 0755), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(symlink(tries[i].target, tries[i].link), 0);
		assert_int_equal(lchown(tries[i].link, 65534, 65534), 0);
		assert_true(leads_astray(tries[i].path));
		assert_int_equal(rmdir("there"), 0);
		assert_int_equal(mkdir("there", 0777), 0);
		assert_int_equal(chmod("there", 0777), 0);
		/* Others may follow it where not everybody can put one. */
		assert_int_equal(seteuid(1000), 0);
		assert_false(leads_astray(tries[i].path));
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(chmod(".", 01777), 0);
		assert_int_equal(seteuid(1000), 0);
		assert_true(leads_astray(tries[i].path));
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(lchown(tries[i].link, 0, 0), 0);
		assert_false(leads_astray(tries[i].path));
		assert_int_equal(unlink(tries[i].path), 0);
		unlink(tries[i].link);
		unlink("there/new");
		assert_int_equal(chmod(".", 0755), 0);
	}
	assert_int_equal(rmdir("there"), 0);
}

static void paths_lead_where_they_lead(void **state)
{
	static const struct {
		const char *path;
		int error; /* 0: none */
	} tries[] = {{"a/up/../b//name", 0},
		     {"./a/b/./name", 0},
		     {"a/up/name", 0},
		     {"round/name", ELOOP},
		     {"a/none/name", ENOENT},
		     {"a/name/", ENOENT},
		     {"", ENOENT}};

	(void)state;
	assert_int_equal(mkdir("a", 0755), 0);
	assert_int_equal(mkdir("a/b", 0755), 0);
	assert_int_equal(symlink("b/../../a/b/.", "a/up"), 0);
	assert_int_equal(symlink("round", "round"), 0);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		int fd = mal_output_named(tries[i].path);

		if (tries[i].error) {
			assert_int_equal(fd, -1);
			assert_int_equal(errno, tries[i].error);
			continue;
		}
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(unlink("a/b/name"), 0);
	}
	unlink("round");
	unlink("a/up");
	rmdir("a/b");
	rmdir("a");
}

static void root_knows_its_own_paths(void **state)
{
	char here[PATH_MAX], path[PATH_MAX + 16];

	(void)state;
	assert_true(mal_path_is_roots("/usr/bin"));
	assert_false(mal_path_is_roots("usr"));
	/* Somebody else may make it. */
	assert_false(mal_path_is_roots("/tmp/is-not-there"));
	if (geteuid() != 0)
		skip();

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(mkdir("own", 0755), 0);
	write_text("own/file", "");
	assert_int_equal(symlink("own", "link"), 0);
	snprintf(path, sizeof(path), "%s/link/file", here);
	assert_true(mal_path_is_roots(path));
	for (const char *const *part = (const char *[]){"own/file", "own", "link", NULL}; *part;
	     part++) {
		assert_int_equal(lchown(*part, 65534, 65534), 0);
		assert_false(mal_path_is_roots(path));
		assert_int_equal(lchown(*part, 0, 0), 0);
		if (**part == 'l')
			continue;
		assert_int_equal(chmod(*part, 0775), 0);
		assert_false(mal_path_is_roots(path));
		assert_int_equal(chmod(*part, 0755), 0);
	}
	assert_true(mal_path_is_roots(path));
	unlink("link");
	unlink("own/file");
	rmdir("own");
}

static void copies_are_whole(void **state)
{
	struct mal_error err = {""};
	uint8_t *bytes;
	size_t size = 0;
	int fd;

	(void)state;
	write_text("name", "12345");
	fd = open("name", O_RDONLY);
	assert_true(fd >= 0);
	bytes = mal_input_read(fd, 5, &size, &err);
	assert_non_null(bytes);
	assert_int_equal(size, 5);
	assert_memory_equal(bytes, "12345", 5);
	free(bytes);
	assert_null(mal_input_read(fd, 4, &size, &err));
	assert_string_equal(err.text, "too large");
	assert_int_equal(truncate("name", 0), 0);
	assert_null(mal_input_read(fd, 5, &size, &err));
	close(fd);
	assert_int_equal(unlink("name"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derived_names_lead_nowhere_else),
		cmocka_unit_test(own_files_are_taken),
		cmocka_unit_test(other_files_are_left_alone),
		cmocka_unit_test(links_of_strangers_are_not_followed),
		cmocka_unit_test(paths_lead_where_they_lead),
		cmocka_unit_test(root_knows_its_own_paths),
		cmocka_unit_test(copies_are_whole),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
