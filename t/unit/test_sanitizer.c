/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_sanitizer.c: a program with a sanitizer's runtime, as this one claims to be, is executed
 * again as without us, and its step is told.
 */
#include "t/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/core/env.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/rank/program/sanitizer.h"

#define LINE \
	"balance: the program has a sanitizer, which must be loaded first; " \
	"its ranks run unbalanced\n"
#define OURS "LD_PRELOAD=/opt/lib/libmalleable.so:/opt/lib/libmalleable_mpi.so"

void __hwasan_init(void);

void __hwasan_init(void)
{
}

static struct mal_segment view;
static int fd;

static int set_up(void **state)
{
	struct mal_cpumask cpus = {{0xf}};
	struct mal_error err;

	(void)state;
	fd = mal_segment_create(&view, 2, &cpus, &err);
	return fd >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	mal_segment_close(&view);
	close(fd);
	return 0;
}

/* What is printed, into TEXT of SIZE bytes, where this is executed again with OTHERS set too. */
static void execute(const char *descriptor, char *others, char *text, size_t size)
{
	char command[] = "test_sanitizer", word[] = "again", preload[] = OURS, segment[64];
	char *argv[] = {command, word, NULL}, *variables[] = {preload, segment, others, NULL};
	int ends[2], status;
	size_t length = 0;
	ssize_t got;
	pid_t child;

	snprintf(segment, sizeof(segment), MAL_ENV_SEGMENT_FD "=%s", descriptor);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		mal_sanitizer_step_aside(argv, variables);
		_exit(1);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* The environment has nothing of ours, and it PRINTS that; whether the step was told. */
static bool tells_step(const char *descriptor, const char *other, const char *prints)
{
	char text[1024], others[64], all[1024];

	snprintf(others, sizeof(others), "%s", other);
	snprintf(all, sizeof(all), "%sLD_PRELOAD=\n", prints);
	view.header->refused = false;
	execute(descriptor, others, text, sizeof(text));
	assert_string_equal(text, all);
	return view.header->refused;
}

static void first_rank_tells_its_step(void **state)
{
	char own[16];

	(void)state;
	snprintf(own, sizeof(own), "%d", fd);
	assert_true(tells_step(own, "SLURM_PROCID=0", LINE));
	assert_true(tells_step(own, MAL_ENV_QUIET "=yes", ""));
	assert_false(tells_step(own, "SLURM_PROCID=1", ""));
	assert_false(tells_step("999", "SLURM_PROCID=0", ""));
	/* A daemon may outlive its step. */
	view.header->over = true;
	assert_false(tells_step(own, "SLURM_PROCID=0", ""));
}

/* The one that is executed again, with nothing of ours, goes on. */
static void is_executed_once(void **state)
{
	char preload[] = "LD_PRELOAD=/opt/lib/libother.so", *argv[] = {NULL},
	     *variables[] = {preload, NULL};

	(void)state;
	assert_true(mal_sanitizer_step_aside(argv, variables));
	assert_string_equal(preload, "LD_PRELOAD=/opt/lib/libother.so");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_rank_tells_its_step, set_up, tear_down),
		cmocka_unit_test(is_executed_once),
	};

	(void)argv;
	for (char **at = environ; argc > 1 && *at; at++)
		if (strncmp(*at, "LD_PRELOAD", 10) == 0 || strncmp(*at, "MALLEABLE_", 10) == 0)
			puts(*at);
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
