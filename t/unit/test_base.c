/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_base.c: requests over sockets, descriptors, programs that are started, files, error texts
 * and names of functions.
 */
#include "t/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/hidden.h"
#include "libmalleable/base/input.h"
#include "libmalleable/base/output.h"
#include "libmalleable/base/readable.h"
#include "libmalleable/base/spawn.h"

static char directory[] = "/tmp/test-base.XXXXXX";
static char path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/file", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

/*
 * A controller for one request: it notes it, and answers with LENGTH bytes of ANSWER, or with FD.
 */
struct controller {
	int listening;
	const char *answer;
	size_t length;
	int fd;
	char request[MAL_CHANNEL_REQUEST];
};

static void *answer(void *argument)
{
	struct controller *controller = argument;
	int client = -1;

	assert_true(mal_descriptor_wait(controller->listening, POLLIN, mal_now_ms() + 5000));
	client = mal_channel_accept(controller->listening);
	assert_true(client >= 0);
	assert_true(mal_descriptor_wait(client, POLLIN, mal_now_ms() + 5000));
	while (mal_channel_take(client, controller->request, sizeof(controller->request)) == 0)
		assert_true(mal_descriptor_wait(client, POLLIN, mal_now_ms() + 5000));
	if (controller->fd >= 0)
		mal_channel_answer_fd(client, controller->fd);
	else
		mal_channel_answer(client, controller->answer, controller->length);
	return NULL;
}

static pthread_t start(struct controller *controller, const char *text)
{
	struct mal_error err = {""};
	pthread_t thread;

	controller->answer = text;
	controller->length = text ? strlen(text) : 0;
	controller->listening = mal_channel_listen(path, geteuid(), getegid(), &err);
	if (controller->listening < 0)
		fail_msg("%s", err.text);
	assert_int_equal(pthread_create(&thread, NULL, answer, controller), 0);
	return thread;
}

static void end_thread(const struct controller *controller, pthread_t thread)
{
	pthread_join(thread, NULL);
	close(controller->listening);
	unlink(path);
}

static void a_request_is_answered(void **state)
{
	static struct controller controller = {.fd = -1};
	pthread_t thread = start(&controller, "some\nlines\n");
	struct mal_error err;
	size_t length = 0;
	char *text = mal_channel_ask(path, "status", 5000, &length, &err);

	(void)state;
	assert_non_null(text);
	assert_string_equal(text, "some\nlines\n");
	assert_int_equal(length, 11);
	assert_string_equal(controller.request, "status");
	free(text);
	end_thread(&controller, thread);
}

/* More than a socket takes at once, and than is read into the first room. */
static void long_answers_come_whole(void **state)
{
	static struct controller controller = {.fd = -1};
	static char sent[600000];
	struct mal_error err;
	pthread_t thread;
	size_t length;
	char *text;

	(void)state;
	memset(sent, 'x', sizeof(sent) - 1);
	sent[77777] = 'y';
	thread = start(&controller, sent);
	text = mal_channel_ask(path, "status", 5000, &length, &err);
	assert_non_null(text);
	assert_int_equal(length, sizeof(sent) - 1);
	assert_string_equal(text, sent);
	free(text);
	end_thread(&controller, thread);
}

/* Half of what is written is not, as where memory runs out. */
static bool halves;

size_t __real_fwrite(const void *data, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *file)
{
	return __real_fwrite(data, size, halves ? count / 2 : count, file);
}

static void answers_that_memory_cannot_hold_are_none(void **state)
{
	static struct controller controller = {.fd = -1};
	struct mal_error err;
	pthread_t thread;
	size_t length;

	(void)state;
	thread = start(&controller, "some\nlines\n");
	halves = true;
	assert_null(mal_channel_ask(path, "status", 5000, &length, &err));
	halves = false;
	assert_string_equal(err.text, "the controller does not answer");
	end_thread(&controller, thread);
}

static void no_answer_is_an_error(void **state)
{
	static struct controller controller = {.fd = -1};
	pthread_t thread = start(&controller, "");
	struct mal_error err;
	size_t length;

	(void)state;
	assert_null(mal_channel_ask(path, "status", 5000, &length, &err));
	assert_string_equal(err.text, "the controller does not answer");
	end_thread(&controller, thread);
}

static void only_ok_is_done(void **state)
{
	static const char *const answers[] = {"ok\n", "error no\n", "o", "of\n"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		static struct controller controller = {.fd = -1};
		pthread_t thread = start(&controller, answers[i]);

		assert_int_equal(mal_channel_tell(path, "leave 3", 5000), i == 0);
		assert_string_equal(controller.request, "leave 3");
		end_thread(&controller, thread);
	}
}

static void descriptors_are_passed(void **state)
{
	static struct controller controller;
	struct mal_error err;
	pthread_t thread;
	int ends[2], passed;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	controller.fd = ends[1];
	thread = start(&controller, NULL);
	passed = mal_channel_ask_fd(path, MAL_CHANNEL_SEGMENT, 5000, &err);
	assert_true(passed >= 0);
	assert_int_equal(write(passed, "x", 1), 1);
	assert_true(mal_descriptor_wait(ends[0], POLLIN, mal_now_ms() + 5000));
	assert_true(fcntl(passed, F_GETFD) & FD_CLOEXEC);
	close(passed);
	end_thread(&controller, thread);
	/* An answer without one. */
	controller.fd = -1;
	thread = start(&controller, "ok\n");
	assert_int_equal(mal_channel_ask_fd(path, MAL_CHANNEL_SEGMENT, 5000, &err), -1);
	assert_non_null(strstr(err.text, "does not answer"));
	end_thread(&controller, thread);
	close(ends[0]);
	close(ends[1]);
}

static void connecting_fails_where_nobody_listens(void **state)
{
	struct mal_error err;
	size_t length;

	(void)state;
	assert_false(mal_channel_is_open(path));
	assert_null(mal_channel_ask(path, "status", 100, &length, &err));
	assert_non_null(strstr(err.text, "cannot reach the controller at /tmp/test-base."));
	assert_non_null(strstr(err.text, ": No such file or directory"));
	assert_int_equal(mal_channel_ask_fd(path, "status", 100, &err), -1);
	assert_false(mal_channel_tell(path, "status", 100));
}

static void names_that_no_socket_can_have(void **state)
{
	char name[200];
	struct mal_error err;
	size_t length;
	int fd;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(mal_channel_listen(name, geteuid(), getegid(), &err), -1);
	assert_non_null(strstr(err.text, "is too long for a socket"));
	assert_null(mal_channel_ask(name, "status", 100, &length, &err));
	assert_false(mal_channel_is_open(name));
	fd = mal_channel_listen(path, geteuid(), getegid(), &err);
	assert_true(fd >= 0);
	/* A name that is taken stays whose it is. */
	assert_int_equal(mal_channel_listen(path, geteuid(), getegid(), &err), -1);
	assert_non_null(strstr(err.text, "cannot listen on"));
	assert_true(mal_channel_is_open(path));
	close(fd);
	unlink(path);
}

static int connect_to(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, name);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Who goes, or sends more than a request may have, is turned away; the next one is served. */
static void bad_clients_are_turned_away(void **state)
{
	static const char *const sent[] = {"far too long\n", "", "2 this\n", "1 th", "1 this\n"};
	static const int taken[] = {-1, -1, -1, 0, 1};
	int listening = mal_channel_listen(path, geteuid(), getegid(), NULL), clients[5],
	    served = -1;
	char text[8], told[200] = "";
	struct stat status;

	(void)state;
	assert_true(listening >= 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(mal_channel_accept(listening), -1);
	for (int i = 0; i < 5; i++) {
		clients[i] = connect_to(path);
		assert_int_equal(write(clients[i], sent[i], strlen(sent[i])), strlen(sent[i]));
	}
	close(clients[1]);
	for (int i = 0; i < 5; i++) {
		served = mal_channel_accept(listening);
		assert_true(served >= 0);
		assert_int_equal(mal_channel_take(served, text, sizeof(text)), taken[i]);
		if (i < 4)
			close(served);
	}
	assert_string_equal(text, "this");
	assert_true(read(clients[2], told, sizeof(told) - 1) > 0);
	assert_ptr_equal(strstr(told, "error a request of another version"), told);
	for (int i = 0; i < 5; i++)
		if (i != 1)
			close(clients[i]);
	/* The client is gone: the answer is lost, and nobody is stopped by it. */
	mal_channel_answer(served, "ok\n", 3);
	close(listening);
	unlink(path);
}

static void descriptors_and_waiting(void **state)
{
	int ends[2], got = 7;
	char text[8] = "";

	(void)state;
	assert_false(mal_descriptor_wait(-1, POLLIN, mal_now_ms()));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_false(mal_descriptor_wait(ends[0], POLLIN, mal_now_ms() - 1));
	assert_int_equal(mal_descriptor_receive(ends[0], &got, text, sizeof(text)), -1);
	assert_int_equal(got, -1);
	/* Without a descriptor, and with one. */
	assert_int_equal(mal_descriptor_send(ends[1], -1, "abc", 3), 0);
	assert_true(mal_descriptor_wait(ends[0], POLLIN, mal_now_ms() - 1));
	assert_int_equal(mal_descriptor_receive(ends[0], &got, text, sizeof(text)), 3);
	assert_int_equal(got, -1);
	assert_string_equal(text, "abc");
	assert_int_equal(mal_descriptor_send(ends[1], ends[0], "x", 1), 0);
	assert_int_equal(mal_descriptor_receive(ends[0], &got, text, sizeof(text)), 1);
	assert_true(got > ends[1]);
	close(got);
	close(ends[0]);
	assert_int_equal(mal_descriptor_send(ends[1], -1, "x", 1), -1);
	close(ends[1]);
}

/* Whoever sends several makes us open none of them. */
static void of_several_descriptors_none_stays(void **state)
{
	union {
		char room[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec part = {"x", 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int ends[2], before, got = 7;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(header), ends, sizeof(ends));
	assert_int_equal(sendmsg(ends[1], &message, 0), 1);
	before = dup(0);
	close(before);
	assert_int_equal(mal_descriptor_receive(ends[0], &got, &byte, 1), 1);
	if (got >= 0)
		close(got);
	/* The lowest free number is what it was. */
	assert_int_equal(dup(0), before);
	close(before);
	close(ends[0]);
	close(ends[1]);
}

/* A descriptor that has no place here is no message without one. */
static void a_descriptor_without_a_place(void **state)
{
	struct rlimit few, limit;
	int ends[2], got;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(mal_descriptor_send(ends[1], ends[0], "x", 1), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){(rlim_t)ends[1], limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(mal_descriptor_receive(ends[0], &got, &byte, 1), -1);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(got, -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(ends[0]);
	close(ends[1]);
}

/* SCRIPT, run by the shell with DESCRIPTOR as its first one; its exit status. */
static int run(const char *script, int descriptor, long limit_ms)
{
	const char *const arguments[] = {"sh", "-c", script, NULL};
	char *environment[] = {"ONLY=this", NULL};
	pid_t child = mal_spawn(&(struct mal_spawn){.path = "/bin/sh",
						    .arguments = arguments,
						    .environment = environment,
						    .fds = &descriptor,
						    .count = descriptor >= 0});

	assert_true(child > 0);
	return mal_spawn_end(child, mal_now_ms() + limit_ms);
}

static void programs_inherit_nothing_by_accident(void **state)
{
	int ends[2], stray = open("/dev/null", O_RDONLY);
	char text[64] = "";

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(run("echo $ONLY $HOME >&3", ends[1], 5000), 0);
	assert_int_equal(read(ends[0], text, sizeof(text)), 5);
	assert_string_equal(text, "this\n");
	assert_int_equal(run("test ! -e /dev/fd/4 && test ! -t 0", ends[1], 5000), 0);
	assert_int_equal(run("exit 7", -1, 5000), 7);
	close(stray);
	close(ends[0]);
	close(ends[1]);
}

/* Each gets its own place, whatever numbers the caller's have. */
static void descriptors_keep_apart(void **state)
{
	const char *const arguments[] = {"sh", "-c", "echo a >&3; echo b >&4; echo c >&5", NULL};
	static const int firsts[] = {4, 8, 209, 210, 211, 212, 500};
	int ends[3][2], fds[3];
	const struct mal_spawn what = {.path = "/bin/sh",
				       .arguments = arguments,
				       .environment = environ,
				       .fds = fds,
				       .count = 3};
	char text[8];

	(void)state;
	for (size_t n = 0; n < sizeof(firsts) / sizeof(firsts[0]); n++) {
		for (int i = 0; i < 3; i++) {
			assert_int_equal(pipe2(ends[i], O_CLOEXEC), 0);
			fds[i] = fcntl(ends[i][1], F_DUPFD_CLOEXEC, firsts[n] + 2 - i);
			close(ends[i][1]);
		}
		assert_int_equal(mal_spawn_end(mal_spawn(&what), mal_now_ms() + 5000), 0);
		for (int i = 0; i < 3; i++) {
			close(fds[i]);
			assert_int_equal(read(ends[i][0], text, sizeof(text)), 2);
			assert_int_equal(text[0], 'a' + i);
			close(ends[i][0]);
		}
	}
}

/* Others read a command line, and not what is hidden; the program has both. */
static void words_are_hidden(void **state)
{
	const char *const arguments[] = {"sh", "-c",
					 "tr '\\0' ' ' </proc/$$/cmdline >&3; "
					 "tr '\\0' , </dev/fd/4 >&3",
					 NULL};
	const char *const hidden[] = {"--job-name", "merger of two", "", NULL};
	char text[256] = "", number[16], wrong[] = "99", name[] = "p", option[] = MAL_HIDDEN_OPTION;
	char *words[] = {name, option, number, NULL}, **argv = words;
	int ends[2], argc = 3, fd = mal_hidden_make(hidden);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(mal_spawn_end(mal_spawn(&(struct mal_spawn){.path = "/bin/sh",
								     .arguments = arguments,
								     .hidden = hidden,
								     .environment = environ,
								     .fds = &ends[1],
								     .count = 1}),
				       mal_now_ms() + 5000),
			 0);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, " --hidden-fd 4 --job-name,merger of two,,"));
	snprintf(number, sizeof(number), "%d", ends[0]);
	mal_hidden_take(&argc, &argv);
	words[2] = wrong;
	mal_hidden_take(&argc, &argv);
	assert_ptr_equal(argv, words);
	words[2] = number;
	snprintf(number, sizeof(number), "%d", fd);
	mal_hidden_take(&argc, &argv);
	assert_int_equal(argc, 4);
	assert_string_equal(argv[0], "p");
	assert_string_equal(argv[2], "merger of two");
	assert_string_equal(argv[3], "");
	assert_null(argv[4]);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	free(argv[1]);
	free(argv);
	close(ends[0]);
	close(ends[1]);
}

static void programs_end_in_time(void **state)
{
	const char *const arguments[] = {"none", NULL};
	pid_t child;

	(void)state;
	assert_int_equal(run("kill -9 $$", -1, 5000), -1);
	assert_int_equal(run("while :; do sleep 1; done", -1, 10), -1);
	/* Somebody else reaped it: how it ended is not known. */
	child = fork();
	if (child == 0)
		_exit(5);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(mal_spawn_end(child, mal_now_ms() + 50), 0);
	errno = 0;
	assert_int_equal(mal_spawn(&(struct mal_spawn){.path = "/none",
						       .arguments = arguments,
						       .hidden = arguments,
						       .environment = environ}),
			 -1);
	assert_int_equal(errno, ENOENT);
}

static FILE *open_output(const char *name, const char *what, struct mal_error *err)
{
	return mal_output_take(mal_output_named(name), name, what, err);
}

static void files_are_written(void **state)
{
	struct mal_error err = {""};
	struct stat status;
	FILE *file;

	(void)state;
	/* What was there before is gone. */
	for (int length = 5; length > 1; length -= 2) {
		file = open_output(path, "trace", &err);
		assert_non_null(file);
		fprintf(file, "{\"type\":\"step\",\"version\":%0*d", length, 1);
		assert_int_equal(mal_output_close(file, path, "trace", &err), 0);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_size, 25 + length);
	}
	unlink(path);
}

static void what_is_no_file_is_refused(void **state)
{
	struct mal_error err;

	(void)state;
	assert_null(open_output(directory, "trace", &err));
	assert_non_null(strstr(err.text, "cannot write the trace to /tmp/test-base."));
	/* A pipe that nobody reads, and one that somebody does. */
	assert_int_equal(mkfifo(path, 0600), 0);
	for (int reader = -1;; reader = open(path, O_RDONLY | O_NONBLOCK)) {
		assert_null(open_output(path, "trace", &err));
		assert_non_null(strstr(err.text, ": not a file or device"));
		if (reader >= 0) {
			close(reader);
			break;
		}
	}
	unlink(path);
}

/* A full disk is told when the file is closed, whether the failure was then or before. */
static void full_disks_are_told(void **state)
{
	(void)state;
	for (int length = 10; length < 100000; length *= 1000) {
		struct mal_error err = {""};
		FILE *file = open_output("/dev/full", "trace", &err);

		assert_non_null(file);
		for (int i = 0; i < length; i++)
			fputc('x', file);
		errno = 0;
		assert_int_equal(mal_output_close(file, "/dev/full", "trace", &err), -1);
		assert_string_equal(err.text,
				    "cannot write the trace to /dev/full: No space left on device");
	}
}

/* Files that are there are never written, and links never followed. */
static void new_files_take_the_next_name(void **state)
{
	char name[72], longest[5000];
	struct mal_error err = {""};
	int fds[10];

	(void)state;
	assert_int_equal(symlink("/etc/passwd", path), 0);
	for (int i = 1; i < 10; i++) {
		fds[i] = mal_output_create(path, &err);
		assert_true(fds[i] >= 0);
		snprintf(name, sizeof(name), "%s.%d", path, i);
		assert_int_equal(access(name, F_OK), 0);
	}
	assert_int_equal(mal_output_create(path, &err), -1);
	assert_non_null(strstr(err.text, "cannot create"));
	assert_non_null(strstr(err.text, "File exists"));
	for (int i = 1; i < 10; i++) {
		close(fds[i]);
		snprintf(name, sizeof(name), "%s.%d", path, i);
		unlink(name);
	}
	unlink(path);
	assert_int_equal(mal_output_create("/dev/null/file", &err), -1);
	assert_string_equal(err.text, "cannot create /dev/null/file: Not a directory");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(mal_output_create(longest, &err), -1);
	assert_non_null(strstr(err.text, "...: too long"));
}

/* Also where there is no room for the reason, or nobody wants to know; errno stays. */
static void errors_say_why(void **state)
{
	struct mal_error err;
	char longest[sizeof(err.text) + 10];

	(void)state;
	errno = ENOENT;
	assert_int_equal(mal_fail_errno(&err, "cannot open %s", "it"), -1);
	assert_string_equal(err.text, "cannot open it: No such file or directory");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(mal_fail_errno(&err, "%s", longest), -1);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	mal_fail(&err, "%s", "a\033]0;b\a\nc\233d");
	assert_string_equal(err.text, "a?]0;b??c?d");
	errno = ENOENT;
	mal_fail_errno(&err, "%s", "a\033b");
	assert_string_equal(err.text, "a?b: No such file or directory");
	assert_int_equal(mal_fail_errno(NULL, "nobody"), -1);
	assert_int_equal(mal_fail(NULL, "nobody"), -1);
	assert_int_equal(errno, ENOENT);
}

/* Without an invariant time stamp counter ticks are nanoseconds. */
static void ticks_are_nanoseconds_elsewhere(void **state)
{
	bool tsc = mal_clock_is_tsc;
	uint64_t before, ticks;

	(void)state;
	mal_clock_is_tsc = false;
	before = mal_now_ns();
	ticks = mal_ticks();
	assert_true(ticks >= before && ticks <= mal_now_ns());
	assert_float_equal(mal_ticks_to_s(2500000000u), 2.5, 1e-9);
	assert_int_equal(mal_s_to_ticks(0.5), 500000000);
	mal_clock_is_tsc = tsc;
}

/* Who opens a pipe may have to wait for who has it open, whatever the flags. */
static void reads_as(const char *text, const char *expected)
{
	char out[128];

	assert_string_equal(mal_make_readable(mal_demangler(0), text, out, sizeof(out)), expected);
}

static void names_are_readable(void **state)
{
	char name[2000] = "_Z1fI", out[128];

	(void)state;
	reads_as("", "");
	reads_as("main._omp_fn.0: why, at +0x3", "main._omp_fn.0: why, at +0x3");
	reads_as("_Z18exchangeVertexReqsRK5GraphRmS2_RSt6vectorIiSaIiEE._omp_fn.0: why, in "
		 "_Z1fv+0x3",
		 "exchangeVertexReqs._omp_fn.0: why, in f+0x3");
	reads_as("_ZN2ns12_GLOBAL__N_13parIZ4mainEUliE_EEvT_i.omp_outlined",
		 "ns::(anonymous namespace)::par.omp_outlined");
	reads_as("_ZN2ns1S2tfIdEESt6vectorIT_SaIS3_EESt8functionIFviEE._omp_fn.0",
		 "ns::S::tf._omp_fn.0");
	reads_as("_ZNK2ns1SclEi", "ns::S::operator()");
	reads_as("_ZN2ns1SltERKS0_", "ns::S::operator<");
	reads_as("_ZN2ns1ScvjEv", "ns::S::operator unsigned int");
	reads_as("_ZZ4mainENKUliE0_clEi", "main::{lambda#2}::operator()");
	reads_as("_Z", "_Z");
	reads_as("_Znonsense why", "_Znonsense why");
	reads_as("it_Z1fv", "it_Z1fv");
	/* Without a demangler, and what is too long for one. */
	assert_string_equal(mal_make_readable(NULL, "_Z1fv: why", out, sizeof(out)), "_Z1fv: why");
	memset(name + 5, 'i', sizeof(name) - 9);
	memcpy(name + sizeof(name) - 4, "Evv", 4);
	assert_int_equal(strlen(mal_make_readable(mal_demangler(0), name, out, sizeof(out))), 127);
}

/* a<a<...>, a<...>> and so on: each level is twice as long. */
static void names_that_explode_stay(void **state)
{
	char name[512] = "_Z1f1aIiiES_IS0_S0_E", out[512];

	(void)state;
	for (int i = 1; i < 30; i++) {
		int digit = i <= 9 ? '0' + i : 'A' + i - 10;

		snprintf(name + strlen(name), 16, "S_IS%c_S%c_E", digit, digit);
	}
	assert_string_equal(mal_make_readable(mal_demangler(0), name, out, sizeof(out)), name);
}

static void long_texts_end_at_a_blank(void **state)
{
	char out[24];

	(void)state;
	assert_string_equal(mal_make_readable(NULL, "f: threads of the program's own", out, 24),
			    "f: threads of the...");
	assert_string_equal(mal_make_readable(NULL, "f: threads of the pool.", out, 24),
			    "f: threads of the pool.");
	assert_string_equal(mal_make_readable(NULL, "abcdefghijklmnopqrstuvwxyz", out, 24),
			    "abcdefghijklmnopqrst...");
	assert_string_equal(mal_make_readable(NULL, "ab", out, 2), "a");
}

static void *read_with_little_stack(void *out)
{
	mal_make_readable(mal_demangler(0), "_Z1fv", out, 8);
	return NULL;
}

/* A demangler may take more than a small stack has. */
static void small_stacks_are_spared(void **state)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char out[8];

	(void)state;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	assert_int_equal(pthread_create(&thread, &attributes, read_with_little_stack, out), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	assert_string_equal(out, "_Z1fv");
}

static char read_on_own_stack[8];

static void read_there(void)
{
	read_with_little_stack(read_on_own_stack);
}

/* Nothing tells how large a stack is that the program has made for itself. */
static void own_stacks_are_spared(void **state)
{
	static char stack[65536];
	ucontext_t here, there;

	(void)state;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, read_there, 0);
	assert_int_equal(swapcontext(&here, &there), 0);
	assert_string_equal(read_on_own_stack, "_Z1fv");
}

static void pipes_are_not_opened(void **state)
{
	char place[] = "/tmp/test-base.XXXXXX", name[64], event[512];
	int watch = inotify_init1(IN_NONBLOCK), fd;

	(void)state;
	assert_non_null(mkdtemp(place));
	snprintf(name, sizeof(name), "%s/pipe", place);
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_true(inotify_add_watch(watch, name, IN_OPEN) >= 0);
	assert_int_equal(mal_input_descriptor(AT_FDCWD, name, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(unlink(name), 0);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	fd = mal_input_descriptor(AT_FDCWD, name, O_NOFOLLOW);
	assert_int_equal(read(fd, event, sizeof(event)), 1);
	close(fd);
	close(watch);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(rmdir(place), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_answered),
		cmocka_unit_test(long_answers_come_whole),
		cmocka_unit_test(answers_that_memory_cannot_hold_are_none),
		cmocka_unit_test(no_answer_is_an_error),
		cmocka_unit_test(only_ok_is_done),
		cmocka_unit_test(descriptors_are_passed),
		cmocka_unit_test(connecting_fails_where_nobody_listens),
		cmocka_unit_test(names_that_no_socket_can_have),
		cmocka_unit_test(bad_clients_are_turned_away),
		cmocka_unit_test(descriptors_and_waiting),
		cmocka_unit_test(of_several_descriptors_none_stays),
		cmocka_unit_test(a_descriptor_without_a_place),
		cmocka_unit_test(programs_inherit_nothing_by_accident),
		cmocka_unit_test(words_are_hidden),
		cmocka_unit_test(descriptors_keep_apart),
		cmocka_unit_test(programs_end_in_time),
		cmocka_unit_test(files_are_written),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(full_disks_are_told),
		cmocka_unit_test(new_files_take_the_next_name),
		cmocka_unit_test(errors_say_why),
		cmocka_unit_test(ticks_are_nanoseconds_elsewhere),
		cmocka_unit_test(names_are_readable),
		cmocka_unit_test(names_that_explode_stay),
		cmocka_unit_test(long_texts_end_at_a_blank),
		cmocka_unit_test(small_stacks_are_spared),
		cmocka_unit_test(own_stacks_are_spared),
		cmocka_unit_test(pipes_are_not_opened),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
