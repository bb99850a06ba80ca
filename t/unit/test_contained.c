/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_contained.c: descriptors of callbacks that run in a child with slurmstepd's memory, and
 * descriptors of its own.
 */
#include "t/unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/contained.h"
#include "spank/descriptors.h"

#define STACK 65536

static int fds[] = {-1, -1, -1}, reader = -1;
#define held fds[0]
#define none fds[1]
#define other fds[2]

/* Whether somebody holds the pipe's other end. */
static bool is_held(void)
{
	struct pollfd wait = {.fd = reader, .events = POLLIN};

	return poll(&wait, 1, 0) == 0;
}

/* As Slurm calls such a callback. */
static int call(int (*callback)(void *))
{
	char *stack = malloc(STACK);
	int status = -1;
	pid_t pid;

	assert_non_null(stack);
	pid = clone(callback, stack + STACK, CLONE_VM | SIGCHLD, NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(stack);
	return status;
}

/* A child's work: HELD is the pipe's end, OTHER another descriptor. */
static int begin(void *name)
{
	char path[32];

	(void)name;
	balance_contained_begin();
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)balance_contained_slurmstepd(), held);
	held = open(path, O_WRONLY);
	other = open("/dev/null", O_RDONLY);
	_exit(held < 0 || balance_contained_leave(fds, 3, NULL) < 0 || held >= 0 || other >= 0);
}

static int end(void *name)
{
	(void)name;
	balance_contained_take(fds, 3, false);
	if (held < 0 || none >= 0 || other < 0 || !is_held())
		_exit(1);
	close(held);
	close(other);
	held = other = -1;
	_exit(is_held());
}

/* What user_init opens is there for the tasks, and until the step ends: then nothing is. */
static void descriptors_stay_until_the_step_ends(void **state)
{
	int ends[2], status;
	unsigned int before;
	pid_t task;

	(void)state;
	balance_contained_prepare();
	assert_int_equal(pipe(ends), 0);
	reader = ends[0];
	held = ends[1];
	before = open_descriptors();
	assert_int_equal(call(begin), 0);
	/* Numbers of the child's are none of ours. */
	assert_int_equal(held, -1);
	assert_int_equal(open_descriptors(), before);
	close(ends[1]);
	assert_true(is_held());
	for (int i = 0; i < 2; i++) {
		task = fork();
		if (!task) {
			balance_contained_take(fds, 3, true);
			_exit(!(held >= 0 && none < 0 && other >= 0 &&
				fcntl(held, F_GETFD) == FD_CLOEXEC &&
				open_descriptors() == before - 1));
		}
		assert_int_equal(waitpid(task, &status, 0), task);
		assert_int_equal(status, 0);
	}
	assert_true(is_held());
	assert_int_equal(call(end), 0);
	assert_false(is_held());
	balance_contained_take(fds, 3, false);
	assert_int_equal(held, -1);
	close(reader);
	balance_contained_begin();
}

/* Without such callbacks there is no descriptor from user_init on. */
static void without_callbacks_there_is_no_descriptor(void **state)
{
	unsigned int before = open_descriptors();

	(void)state;
	held = none = -1;
	balance_contained_prepare();
	balance_contained_begin();
	other = open("/dev/null", O_RDONLY);
	assert_int_equal(balance_contained_leave(fds, 3, NULL), 0);
	assert_true(other >= 0);
	balance_contained_take(fds, 3, true);
	assert_int_equal(open_descriptors(), before + 1);
	close(other);
	assert_int_equal(balance_contained_slurmstepd(), getpid());
}

static struct balance_descriptors kept;

static int leave_all(void *name)
{
	(void)name;
	for (int i = 0; i < 7; i++)
		kept.all[i] = open("/dev/null", O_RDONLY);
	_exit(balance_descriptors_leave(&kept, NULL) < 0);
}

/* Without them a step's end neither waits for the controller nor has its report. */
static void where_few_fit_those_of_the_controller_do(void **state)
{
	struct rlimit before, few;
	int room[4];

	(void)state;
	balance_contained_prepare();
	assert_int_equal(call(leave_all), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	for (int i = 0; i < 4; i++)
		room[i] = open("/dev/null", O_RDONLY);
	few.rlim_cur = (rlim_t)room[3] + 1;
	for (int i = 0; i < 4; i++)
		close(room[i]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	balance_descriptors_take(&kept);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(kept.segment >= 0 && kept.controller.pidfd >= 0 && kept.controller.life >= 0 &&
		    kept.controller.report >= 0);
	assert_true(kept.script < 0 && kept.site < 0 && kept.handovers < 0);
	for (int i = 0; i < 7; i++)
		if (kept.all[i] >= 0)
			close(kept.all[i]);
	balance_contained_begin();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors_stay_until_the_step_ends),
		cmocka_unit_test(without_callbacks_there_is_no_descriptor),
		cmocka_unit_test(where_few_fit_those_of_the_controller_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
