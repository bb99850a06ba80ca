/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_malleabled.c: the controller's process as it is, in a child: its arguments, a step from its
 * start to its end, how it leaves its parent.
 */
#include "t/unit/unit.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/controller/detach.h"
#include "libmalleable/controller/report/summaries.h"
#include "libmalleable/controller/state/controller.h"
#include "libmalleable/core/outcome.h"
#include "libmalleable/core/site_report.h"

/* main() of malleabled, which is linked under this name. */
int malleabled(int argc, char **argv);

#define RANKS 2u
#define PATIENCE_MS 20000

void *__wrap_calloc(size_t count, size_t size);
void *__real_calloc(size_t count, size_t size);
int __wrap_mal_confine(bool policies);
int __wrap_mal_places_read(void);
int __wrap_setresgid(gid_t real, gid_t effective, gid_t saved);
int __wrap_setresuid(uid_t real, uid_t effective, uid_t saved);
int __wrap_setuid(uid_t user);
_Noreturn void __wrap__exit(int status);

static bool confined, without_nodes;
static uid_t user_now;
static bool user_stays;

/* No memory for the other nodes. */
void *__wrap_calloc(size_t count, size_t size)
{
	if (without_nodes && size > 2 * sizeof(struct mal_node))
		return NULL;
	return __real_calloc(count, size);
}

int __wrap_mal_confine(bool policies)
{
	(void)policies;
	confined = true;
	return 0;
}

/* Nothing is known of the machine: all its CPUs are neighbours. */
int __wrap_mal_places_read(void)
{
	return -1;
}

int __wrap_setresgid(gid_t real, gid_t effective, gid_t saved)
{
	return real == effective && effective == saved ? 0 : -1;
}

int __wrap_setresuid(uid_t real, uid_t effective, uid_t saved)
{
	user_now = real;
	return real == effective && effective == saved ? 0 : -1;
}

int __wrap_setuid(uid_t user)
{
	return user == 0 && user_stays ? -1 : 0;
}

/* In order, so that gcov writes what it has counted. */
_Noreturn void __wrap__exit(int status)
{
	exit(status);
}

/* A step that is run: what malleabled has of it, and what its ranks have. */
static struct {
	struct mal_segment segment;
	int segment_fd, life, life_end, report, report_end, listening, site;
	char folder[32], socket[64], json[64], trace[64], errors[64];
	pid_t pid;
} step;

static int set_up(void **state)
{
	struct mal_cpumask cpus;
	int ends[2];

	(void)state;
	memset(&step, 0, sizeof(step));
	strcpy(step.folder, "/tmp/malleabled-XXXXXX");
	assert_non_null(mkdtemp(step.folder));
	snprintf(step.socket, sizeof(step.socket), "%s/socket", step.folder);
	snprintf(step.json, sizeof(step.json), "%s/json", step.folder);
	snprintf(step.trace, sizeof(step.trace), "%s/trace", step.folder);
	snprintf(step.errors, sizeof(step.errors), "%s/errors", step.folder);
	assert_int_equal(mal_cpumask_parse("0-3", &cpus, NULL), 0);
	step.segment_fd = mal_segment_create(&step.segment, RANKS, &cpus, NULL);
	step.listening = mal_channel_listen(step.socket, geteuid(), getegid(), NULL);
	step.site = mal_site_report_make(NULL);
	assert_true(step.segment_fd >= 0 && step.listening >= 0 && step.site >= 0);
	assert_int_equal(pipe(ends), 0);
	step.life = ends[0];
	step.life_end = ends[1];
	assert_int_equal(pipe(ends), 0);
	step.report_end = ends[0];
	step.report = ends[1];
	return 0;
}

static int tear_down(void **state)
{
	const char *const files[] = {step.socket, step.json, step.trace, step.errors};
	const int fds[] = {step.segment_fd, step.life,	    step.life_end, step.report,
			   step.report_end, step.listening, step.site};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	rmdir(step.folder);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	mal_segment_close(&step.segment);
	return 0;
}

/* malleabled with OPTIONS, separated by blanks, in a process of its own. */
static void start(const char *options)
{
	char name[] = "malleabled", text[2048], *argv[40] = {name}, *save;
	int argc = 1;

	snprintf(text, sizeof(text), "%s", options);
	fflush(stdout);
	step.pid = fork();
	if (step.pid)
		return;
	/* What it says is for its user. */
	if (!freopen("/dev/null", "w", stdout) || !freopen(step.errors, "w", stderr))
		_exit(3);
	close(step.life_end);
	close(step.report_end);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	_exit(malleabled(argc, argv));
}

static void start_step(const char *more)
{
	char options[1024];

	snprintf(options, sizeof(options),
		 "--segment-fd=%d --life-fd=%d --report-fd=%d --listen-fd=%d --cpus=0-3 --step=7.0 "
		 "--node=n1 "
		 "--report-file=%s --site-fd=%d --trace-file=%s %s",
		 step.segment_fd, step.life, step.report, step.listening, step.json, step.site,
		 step.trace, more);
	start(options);
	close(step.report);
	step.report = -1;
}

static int status_of(const char *options)
{
	int status;

	start(options);
	assert_int_equal(waitpid(step.pid, &status, 0), step.pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The step is over: how malleabled ends. */
static int end_step(void)
{
	int status;

	close(step.life_end);
	step.life_end = -1;
	assert_int_equal(waitpid(step.pid, &status, 0), step.pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void come(unsigned int rank)
{
	struct mal_rank_slot *slot = &step.segment.ranks[rank];

	for (unsigned int cpu = 2 * rank; cpu < 2 * rank + 2; cpu++) {
		mal_cpumask_add(&slot->home, cpu);
		mal_word_set(&step.segment.cpus[cpu].word,
			     (struct mal_cpu_state){rank, rank, false});
	}
	slot->pid = getpid();
	slot->uses_mpi = true;
	slot->state = MAL_RANK_RUNNING;
	mal_futex_post(&step.segment.header->wake);
}

/* Until the controller has asked for another round than OLD. */
static uint64_t wait_for_round(uint64_t old)
{
	long deadline = mal_now_ms() + PATIENCE_MS;

	while (atomic_load(&step.segment.header->round) <= old) {
		assert_true(mal_now_ms() < deadline);
		sched_yield();
	}
	return atomic_load(&step.segment.header->round);
}

/* Both say that a second has passed. */
static void say(uint64_t round, unsigned int second)
{
	for (unsigned int rank = 0; rank < RANKS; rank++) {
		uint64_t ticks = (second + 1) * mal_s_to_ticks(1);
		struct mal_snapshot said = {.round = round,
					    .boundaries = {[MAL_BOUNDARY_COLLECTIVE] = second},
					    .kind = MAL_BOUNDARY_COLLECTIVE,
					    .tick = ticks,
					    .busy = rank ? ticks : 2 * ticks,
					    .cpu = 2 * ticks};

		mal_snapshot_write(&step.segment.ranks[rank], &said);
		atomic_fetch_add(&step.segment.header->arrivals, 1);
	}
	mal_futex_post(&step.segment.header->wake);
}

static void run_some_windows(void)
{
	uint64_t round = 0;

	mal_clock_open();
	for (unsigned int rank = 0; rank < RANKS; rank++)
		come(rank);
	/* The second has been seen by the round that expects both. */
	do
		round = wait_for_round(round);
	while (atomic_load(&step.segment.header->expected) < RANKS);
	for (unsigned int second = 0; second < 3; second++) {
		say(round, second);
		round = wait_for_round(round);
	}
}

static const char *read_report(struct mal_outcome_record *record)
{
	static char text[4096];
	size_t length = 0;
	ssize_t got;

	assert_int_equal(read(step.report_end, record, sizeof(*record)), sizeof(*record));
	while ((got = read(step.report_end, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	return text;
}

static char site[MAL_SITE_REPORT_MAX + 1];

static bool has_site(const char *part)
{
	return mal_site_report_read(step.site, site) && strstr(site, part);
}

static bool has_file(const char *path, const char *part)
{
	char text[8192];
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[length] = '\0';
	if (file)
		fclose(file);
	return strstr(text, part);
}

/* From the first rank to the report. */
static void whole_step(void **state)
{
	struct mal_outcome_record record;
	struct mal_error err;
	const char *text;
	size_t length;
	char *answer;

	(void)state;
	start_step("--policy=observe");
	run_some_windows();
	answer = mal_channel_ask(step.socket, "status", PATIENCE_MS, &length, &err);
	assert_non_null(answer);
	assert_non_null(strstr(answer, "\"windows\":2"));
	free(answer);
	assert_true(mal_channel_tell(step.socket, "rebind", PATIENCE_MS));
	/* What a user sends to all of the step's processes does not end it. */
	kill(step.pid, SIGTERM);
	kill(step.pid, SIGHUP);
	assert_int_equal(end_step(), 0);
	text = read_report(&record);
	assert_int_equal(record.magic, MAL_OUTCOME_MAGIC);
	assert_int_equal(record.windows, 2);
	assert_float_equal(record.elapsed_s, 2, 0.1);
	/* The windows are made up, and longer than the step was. */
	assert_memory_equal(text, "only observed: ", 15);
	assert_non_null(strstr(text, "\nstep 7.0 on n1: policy observe, 2 ranks, 4 CPUs, "));
	assert_non_null(strstr(text, "\npredicted with --balance: auto "));
	/* Nothing is said of a trace that could be written. */
	text = strstr(text, "\noverhead: ");
	assert_non_null(text);
	assert_string_equal(strchr(text + 1, '\n'), "\n");
	assert_true(has_file(step.json, "\"windows\": 2"));
	assert_true(has_site("\"windows\": 2"));
	assert_true(has_file(step.trace, "\"step\""));
}

/* A rank that dies is noticed by its process's end, not by anything that it says. */
static void dead_ranks_are_noticed(void **state)
{
	struct mal_outcome_record record;
	pid_t rank = fork();
	uint64_t round;

	(void)state;
	if (rank == 0)
		for (;;)
			pause();
	start_step("--policy=observe");
	come(0);
	round = wait_for_round(0);
	step.segment.ranks[1].pid = rank;
	step.segment.ranks[1].state = MAL_RANK_RUNNING;
	mal_futex_post(&step.segment.header->wake);
	round = wait_for_round(round);
	kill(rank, SIGKILL);
	waitpid(rank, NULL, 0);
	wait_for_round(round);
	assert_int_equal(step.segment.ranks[1].state, MAL_RANK_DEAD);
	assert_int_equal(end_step(), 0);
	assert_non_null(strstr(read_report(&record), "too short to measure"));
}

/* No rank ever came: that alone is said, with likely causes. There is no report. */
static void without_ranks_one_line_says_so(void **state)
{
	struct mal_outcome_record record;

	(void)state;
	start_step("--policy=lewi --off-file=/dev/null/off");
	assert_int_equal(end_step(), 0);
	assert_memory_equal(read_report(&record),
			    "no rank connected, nothing was balanced: LD_PRELOAD ", 52);
	assert_int_equal(record.magic, MAL_OUTCOME_NOTHING);
	assert_true(mal_outcome_is_nothing((const char *)&record));
	assert_false(mal_outcome_is_missing((const char *)&record));
	assert_int_equal(mal_site_report_read(step.site, site), 0);
	assert_false(has_file(step.json, "ranks"));
}

/* A task has said why it does not come. */
static void refused_ranks_leave_no_line(void **state)
{
	struct mal_outcome_record record;

	(void)state;
	start_step("--policy=lewi --off-file=/dev/null/off");
	mal_segment_note_unbalanced(step.segment_fd);
	assert_int_equal(end_step(), 0);
	assert_string_equal(read_report(&record), "");
	assert_int_equal(record.magic, MAL_OUTCOME_NOTHING);
}

/* Whoever started it is gone: the files are written all the same. */
static void files_are_written_without_a_reader(void **state)
{
	(void)state;
	start_step("--policy=observe");
	run_some_windows();
	close(step.report_end);
	step.report_end = -1;
	assert_int_equal(end_step(), 0);
	assert_true(has_file(step.json, "\"windows\": 2"));
	assert_true(has_site("\"windows\": 2"));
	assert_true(has_file(step.trace, "\"step\""));
}

/* What ends it is said; no report means that it did not reach its end. */
static void no_memory_is_left(void **state)
{
	char text[sizeof(struct mal_outcome_record) + 64] = "";

	(void)state;
	without_nodes = true;
	start_step("--policy=observe --nodes=2");
	without_nodes = false;
	assert_int_equal(end_step(), 1);
	assert_true(has_file(step.errors, "malleabled: out of memory"));
	assert_true(read(step.report_end, text, sizeof(text) - 1) > 0);
	assert_non_null(mal_outcome_failure(text));
}

/* Of several nodes each has a line; files that cannot be written are named. */
static void one_of_two_nodes(void **state)
{
	struct mal_outcome_record record;
	const char *text;

	(void)state;
	snprintf(step.json, sizeof(step.json), "/dev/null/json");
	snprintf(step.trace, sizeof(step.trace), "/dev/null/trace");
	start_step("--policy=observe --nodes=2 --min-cpus=1");
	run_some_windows();
	assert_int_equal(end_step(), 0);
	text = read_report(&record);
	assert_memory_equal(text, "step 7.0 on n1: observe, 2 ranks, 4 CPUs, ", 42);
	assert_non_null(strstr(text, "/dev/null/json"));
	assert_non_null(strstr(text, "/dev/null/trace"));
	assert_null(strstr(text, "load balance (mean/max)"));
}

/* What it cannot start with ends it. */
static void arguments_are_checked(void **state)
{
	char options[256], report[sizeof(struct mal_outcome_record) + 512] = {0};

	(void)state;
	assert_int_equal(status_of("--help"), 0);
	assert_int_equal(status_of("--version"), 0);
	assert_int_equal(status_of(""), 2);
	assert_int_equal(status_of("--nonesuch"), 2);
	assert_int_equal(status_of("--segment-fd=0 --life-fd=x --cpus=0"), 2);
	assert_int_equal(status_of("--segment-fd=0 --life-fd=1 --cpus=0 more"), 2);
	assert_int_equal(status_of("--segment-fd=0 --life-fd=1 --cpus=0 --user=x"), 2);
	assert_int_equal(status_of("--segment-fd=0 --life-fd=0 --cpus=x --libdir=/ --policies=auto "
				   "--socket=s"),
			 1);
	assert_int_equal(status_of("--segment-fd=0 --life-fd=0 --cpus=0 --policy=nonesuch "
				   "--user=1 --group=1"),
			 1);
	/* No segment. */
	snprintf(options, sizeof(options),
		 "--segment-fd=%d --life-fd=%d --report-fd=%d --cpus=0-3 --idle=9", step.life,
		 step.life, step.report);
	assert_int_equal(status_of(options), 1);
	assert_true(read(step.report_end, report, sizeof(report) - 1) > 0);
	assert_non_null(mal_outcome_failure(report));
	assert_non_null(strstr(mal_outcome_failure(report), "segment"));
	/* Nothing to watch. */
	snprintf(options, sizeof(options), "--segment-fd=%d --life-fd=%d --cpus=0-3",
		 step.segment_fd, step.segment_fd);
	assert_int_equal(status_of(options), 1);
}

/* It goes on in a child, which its parent hands over, in the cgroups that it was told. */
static void child_goes_on_in_the_cgroups(void **state)
{
	int ends[2], cgroup[2], pidfd = -1, status;
	char more[128], byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(pipe(cgroup), 0);
	snprintf(more, sizeof(more), "--policy=observe --start-fd=%d --cgroup-fd=%d", ends[1],
		 cgroup[1]);
	start_step(more);
	assert_int_equal(waitpid(step.pid, &status, 0), step.pid);
	assert_int_equal(status, 0);
	assert_int_equal(mal_descriptor_receive(ends[0], &pidfd, &byte, 1), 1);
	assert_true(pidfd >= 0);
	assert_int_equal(read(cgroup[0], &byte, 1), 1);
	assert_int_equal(byte, '0');
	close(step.life_end);
	step.life_end = -1;
	/* Its process ends when the step does. */
	assert_int_equal(poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, PATIENCE_MS), 1);
	assert_true(!mal_site_report_read(step.site, site));
	close(pidfd);
	close(ends[0]);
	close(ends[1]);
	close(cgroup[0]);
	close(cgroup[1]);
}

/*
 * HOW it is to leave its parent, in a process of its own: returns whether it does, and what the
 * socket was told.
 */
static bool detaches(struct mal_arguments how, bool stays, char *told, size_t size)
{
	int ends[2], done[2], fd = -1;
	char result = 'f';
	ssize_t got;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(pipe(done), 0);
	how.start_fd = ends[1];
	fflush(stdout);
	step.pid = fork();
	if (step.pid == 0) {
		struct mal_error err;

		user_stays = stays;
		if (mal_detach(&how, &err) == 0 && (!how.becomes_user || user_now == how.user))
			result = 't';
		_exit(write(done[1], &result, 1) != 1);
	}
	close(done[1]);
	close(ends[1]);
	waitpid(step.pid, NULL, 0);
	assert_int_equal(read(done[0], &result, 1), 1);
	got = mal_descriptor_receive(ends[0], &fd, told, size - 1);
	told[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
	close(done[0]);
	close(ends[0]);
	return result == 't';
}

/* Root's child becomes the user's for good; where it could become root again it ends. */
static void child_is_the_users_for_good(void **state)
{
	struct mal_arguments how = {.becomes_user = true, .user = 1234, .group = 1234};
	char told[512];

	(void)state;
	assert_true(detaches(how, true, told, sizeof(told)));
	assert_false(detaches(how, false, told, sizeof(told)));
	how.cgroup_count = 1;
	how.cgroup_fds[0] = -1;
	assert_false(detaches(how, true, told, sizeof(told)));
	assert_non_null(strstr(told, "cannot enter the step's cgroup"));
	how = (struct mal_arguments){.layout = MAL_SEGMENT_VERSION + 1};
	assert_false(detaches(how, true, told, sizeof(told)));
	assert_non_null(strstr(told, "it is of another build"));
	how.layout = MAL_SEGMENT_VERSION;
	assert_true(detaches(how, true, told, sizeof(told)));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(whole_step),
		CASE(dead_ranks_are_noticed),
		CASE(without_ranks_one_line_says_so),
		CASE(refused_ranks_leave_no_line),
		CASE(files_are_written_without_a_reader),
		CASE(no_memory_is_left),
		CASE(one_of_two_nodes),
		CASE(arguments_are_checked),
		CASE(child_goes_on_in_the_cgroups),
		CASE(child_is_the_users_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
