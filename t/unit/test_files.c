/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_files.c: files that change, and links that others make, while they are read and written. */
#include "t/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/input.h"
#include "libmalleable/base/output.h"

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
	return mal_output_derive(AT_FDCWD, name, name, "trace", err);
}

static void refused(const char *name)
{
	struct mal_error err = {""};

	assert_int_equal(derive(name, &err), -1);
	assert_memory_equal(err.text, "cannot write the trace to ", 26);
	assert_non_null(strstr(err.text, ": a link, or not yours alone; name another file"));
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
		has_text("name", i ? "old" : "");
		file = mal_output_take(fd, "name", "trace", &err);
		assert_non_null(file);
		has_text("name", "");
		fputs("old", file);
		assert_int_equal(mal_output_close(file, "name", "trace", &err), 0);
	}
	assert_int_equal(unlink("name"), 0);
	assert_int_equal(derive("none/name", &err), -1);
	assert_string_equal(err.text,
			    "cannot write the trace to none/name: No such file or directory");
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
		cmocka_unit_test(copies_are_whole),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
