/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_patience.c: each deadline, with a clock that waiting turns and nobody who answers: how long
 * is waited, and that patience multiplies it.
 */
#include "t/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/spawn.h"
#include "libmalleable/cmd/as_user.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/control/steps.h"
#include "libmalleable/loadable/exchange.h"
#include "libmalleable/malleable_control.h"
#include "spank/deadline.h"
#include "spank/plugin.h"
#include "spank/slurmctld_client.h"
#include "t/unit/silence.h"

static char directory[] = "/tmp/test-patience.XXXXXX";

#define MS UINT64_C(1000000)

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A controller that accepts nobody: its name, and the socket that listens. */
static const char *controller_socket(int *listening)
{
	static char path[MAL_SOCKET_PATH];
	struct mal_error err;

	snprintf(path, sizeof(path), "%s/malleable/step", directory);
	unlink(path);
	*listening = mal_channel_listen(path, getuid(), getegid(), &err);
	if (*listening < 0)
		fail_msg("%s", err.text);
	return path;
}

/* What waits. */
static void client_reads_nothing(void)
{
	char *text = calloc(1, MAL_CHANNEL_ANSWER);
	int ends[2];

	assert_non_null(text);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	mal_channel_answer(ends[0], text, MAL_CHANNEL_ANSWER);
	close(ends[1]);
	free(text);
}

/* The kernel keeps it for a time. */
static void killed_child(void)
{
	char *environment[] = {NULL};
	const char *const arguments[] = {"true", NULL};
	pid_t child = mal_spawn(&(struct mal_spawn){
		.path = "/bin/true", .arguments = arguments, .environment = environment});

	assert_true(child > 0);
	mal_spawn_end(child, 0);
}

static void loaded_policy(void)
{
	struct mal_host host = {.pid = -1};
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	host.socket = ends[0];
	assert_string_equal(mal_host_ask(&host), "it took too long");
	close(ends[0]);
	close(ends[1]);
}

static void question_about_step(void)
{
	struct mal_controller_process controller = {.uid = getuid()};
	struct mal_error err;
	int listening;

	strcpy(controller.socket, controller_socket(&listening));
	assert_null(mal_step_status(&controller, &err));
	assert_string_equal(err.text, "the controller does not answer");
	close(listening);
}

static void request_to_step(void)
{
	malleable_control *control;
	int listening;

	assert_int_equal(malleable_control_open(controller_socket(&listening), &control), 0);
	assert_int_equal(malleable_control_free_orders(control, 0), MALLEABLE_CONTROL_TIMEOUT);
	malleable_control_close(control);
	close(listening);
}

/* Up to the deadline of all that are asked. */
static void all_steps(void)
{
	silence.ns = (uint64_t)mal_as_user_deadline() * MS;
}

static int act(void *argument, FILE *out)
{
	return 0;
}

static void users_step(void)
{
	assert_int_equal(mal_as_user(1, 1, 0, act, NULL, stdout), -1);
}

static void command_without_controller(void)
{
	char *arguments[] = {"run", "--balance=lewi", "--", "true", NULL};

	optind = 0;
	assert_int_equal(mal_cmd_run(4, arguments), 125);
}

static void partition(void)
{
	balance_deadline_set(60000);
	assert_false(balance_slurmctld_use_partition(1));
}

static void standard_error(void)
{
	balance_deadline_set(60000);
	assert_false(balance_tell_user("x"));
}

static void all_waits_of_slurmstepd(void)
{
	balance_deadline_set(1000);
	silence.ns += (uint64_t)balance_deadline_left(INT_MAX) * MS;
	assert_int_equal(balance_deadline_left(INT_MAX), 0);
}

static void one_wait_of_slurmstepd(void)
{
	balance_deadline_set(1000);
	silence.ns += (uint64_t)balance_deadline_left(300) * MS;
}

static void shorter_waits_of_slurmstepd(void)
{
	long before;

	balance_deadline_set(1000);
	before = balance_deadline_shorten(200);
	silence.ns += (uint64_t)balance_deadline_left(300) * MS;
	balance_deadline_restore(before);
}

/* The last 100 ms of some are for a child that was killed. */
static const struct silence_wait waits[] = {
	{"a client that reads nothing", client_reads_nothing, 100},
	{"a killed child", killed_child, 100},
	{"a loaded policy", loaded_policy, 1000},
	{"a question about a step", question_about_step, 2000},
	{"a request to a step", request_to_step, 2000},
	{"all steps", all_steps, 5000},
	{"a user's step", users_step, 200 + 100},
	{"malleable run's controller", command_without_controller, 10000 + 2500},
	{"slurmctld, for a partition", partition, 400 + 100},
	{"a user's standard error", standard_error, 1000},
	{"all waits of slurmstepd", all_waits_of_slurmstepd, 1000},
	{"one of them", one_wait_of_slurmstepd, 300},
	{"one of shorter ones", shorter_waits_of_slurmstepd, 200},
	{0},
};

/* Up to the one without a name. */
static void multiply_each(const struct silence_wait *wait)
{
	for (; wait->name; wait++)
		for (unsigned int factor = 1; factor <= 60; factor += 59) {
			uint64_t begin = silence.ns, waited_ms, meant_ms = wait->ms * factor;

			mal_patience_set(factor);
			wait->wait();
			waited_ms = (silence.ns - begin) / MS;
			/* Some look every 2 ms. */
			if (waited_ms < meant_ms || waited_ms > meant_ms + 2)
				fail_msg("%s: %u ms, not %u", wait->name, (unsigned int)waited_ms,
					 (unsigned int)meant_ms);
		}
	mal_patience_set(1);
}

static void each_deadline_is_multiplied(void **state)
{
	multiply_each(waits);
	if (silence_waits_of_prover)
		multiply_each(silence_waits_of_prover);
}

static void the_factor_has_bounds(void **state)
{
	static const char *const wrong[] = {"", "0", "1001", "-1", "2x", "1e3"};

	mal_patience_set(0);
	assert_int_equal(mal_patience_ms(100), 100);
	mal_patience_set(UINT_MAX);
	assert_int_equal(mal_patience(), 1000);
	assert_int_equal(mal_patience_ms(60000), 60000000);
	assert_int_equal(mal_patience_ms(INT_MAX / 10), INT_MAX);
	assert_int_equal(mal_patience_ms(INT_MAX), INT_MAX);
	assert_true(mal_patience_take("7"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(mal_patience_take(wrong[i]));
	assert_true(mal_patience_take(NULL));
	assert_int_equal(mal_patience(), 7);
	mal_patience_set(1);
}

static char *path_in(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int set_up(void **state)
{
	if (!mkdtemp(directory) || setenv("XDG_RUNTIME_DIR", directory, 1) < 0)
		return -1;
	strcpy(balance_config.libdir, directory);
	return mkdir(path_in("malleable"), 0700) < 0 ||
			       symlink("/bin/true", path_in("malleable-slurm")) < 0
		       ? -1
		       : close(open(path_in("x.json"), O_CREAT | O_WRONLY, 0600));
}

static int tear_down(void **state)
{
	static const char *const files[] = {"malleable/step", "malleable-slurm", "x.json"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(path_in(files[i]));
	rmdir(path_in("malleable"));
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_deadline_is_multiplied),
		cmocka_unit_test(the_factor_has_bounds),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
