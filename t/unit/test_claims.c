/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_claims.c: whom the agent takes, and what it tells them; time, and who connects, are the
 * test's.
 */
#include "t/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/agent/claims.h"
#include "libmalleable/base/patience.h"

static long now_ms = 1000;
static int coming = -1; /* the connection that is accepted next */
static uid_t caller;

int __wrap_accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_getsockopt(int socket, int level, int name, void *value, socklen_t *length);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_accept4(int socket, struct sockaddr *address, socklen_t *length, int flags)
{
	int fd = coming;

	(void)socket;
	(void)address;
	(void)length;
	(void)flags;
	coming = -1;
	return fd;
}

int __wrap_getsockopt(int socket, int level, int name, void *value, socklen_t *length)
{
	struct ucred peer = {.uid = caller};

	(void)socket;
	(void)level;
	(void)length;
	assert_int_equal(name, SO_PEERCRED);
	memcpy(value, &peer, sizeof(peer));
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000};
	return 0;
}

/* A connection to the agent. */
static int join(void)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	coming = ends[0];
	mal_claims_accept(0);
	return ends[1];
}

/* What the agent does when it wakes up. Returns when it wants to wake up next. */
static int serve(void)
{
	static struct pollfd wait[MAL_CLAIMS_WAITS];
	size_t count = mal_claims_wait(wait);

	assert_true(count <= MAL_CLAIMS_WAITS);
	assert_true(poll(wait, count, 0) >= 0);
	mal_claims_serve(wait, count);
	return mal_claims_update();
}

static void say(int fd, const void *data, size_t size, const int *fds, unsigned int count)
{
	union {
		char room[CMSG_SPACE(MAL_AGENT_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec part = {(void *)(size_t)data, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		*CMSG_FIRSTHDR(&message) =
			(struct cmsghdr){.cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
					 .cmsg_len = CMSG_LEN(count * sizeof(int))};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), fds, count * sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &message, 0), (ssize_t)size);
}

static struct mal_agent_step step_of(uint32_t job, uint32_t user, const char *cpus)
{
	struct mal_agent_step step = {.version = MAL_AGENT_VERSION,
				      .kind = MAL_AGENT_STEP,
				      .user = user,
				      .job = job,
				      .weight = 1,
				      .min = 1};

	assert_int_equal(mal_cpumask_parse(cpus, &step.cpus, NULL), 0);
	return step;
}

static uint32_t verdict(int fd)
{
	struct mal_agent_answer answer = {0};

	if (recv(fd, &answer, sizeof(answer), 0) != (ssize_t)sizeof(answer))
		return 0;
	assert_int_equal(answer.version, MAL_AGENT_VERSION);
	return answer.verdict;
}

/*
 * A step and what it has: its connection, the pipe that slurmstepd holds, and the file that says
 * whether it is suspended.
 */
struct party {
	int fd, life, freezer;
};

static struct party begin(const struct mal_agent_step *step)
{
	struct party party = {.fd = join(), .freezer = memfd_create("freezer", 0)};
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	party.life = ends[1];
	say(party.fd, step, sizeof(*step), (const int[]){ends[0], party.freezer}, 2);
	close(ends[0]);
	serve();
	return party;
}

static struct party begin_on(uint32_t job, const char *cpus)
{
	struct mal_agent_step step = step_of(job, 7, cpus);
	struct party party = begin(&step);

	assert_int_equal(verdict(party.fd), MAL_AGENT_TAKEN);
	return party;
}

static void end(const struct party *party)
{
	close(party->fd);
	close(party->life);
	close(party->freezer);
	serve();
}

/* Where the agent left something unread the kernel says so. */
static bool is_closed(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, 0);

	return got == 0 || (got < 0 && errno == ECONNRESET);
}

static bool is_told_nothing(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) < 0 && errno == EAGAIN;
}

/*
 * The share that is told next; "" if none is. ANSWER: the step says that it has left what it
 * lost.
 */
static const char *share(int fd, bool answer)
{
	static char text[MAL_CPUMASK_TEXT];
	struct mal_agent_share share;

	if (recv(fd, &share, sizeof(share), 0) != (ssize_t)sizeof(share))
		return "";
	if (answer)
		say(fd, &(struct mal_agent_done){share.number}, sizeof(struct mal_agent_done), NULL,
		    0);
	return mal_cpumask_format(&share.cpus, text, sizeof(text));
}

static void jobs_share_cpus(void **state)
{
	struct party a = begin_on(1, "0-7"), b;

	(void)state;
	/* Alone it has all that it knows of. */
	assert_true(is_told_nothing(a.fd));
	b = begin_on(2, "0-7");
	assert_string_equal(share(a.fd, true), "0-3");
	assert_string_equal(share(b.fd, true), "4-7");
	serve();
	assert_true(is_told_nothing(a.fd) && is_told_nothing(b.fd));
	end(&a);
	assert_string_equal(share(b.fd, false), "0-7");
	end(&b);
}

static void suspend(const struct party *party, const char *text)
{
	assert_int_equal(ftruncate(party->freezer, 0), 0);
	assert_int_equal(pwrite(party->freezer, text, strlen(text), 0), (ssize_t)strlen(text));
	now_ms += 1000;
	serve();
}

/*
 * While one of three is suspended the second has gone: when it goes on it gains CPUs, which the
 * third has to leave first. LATE: the third does not say that it has left them.
 */
static void change_hands(bool late)
{
	struct party a = begin_on(1, "0-8"), b = begin_on(2, "0-8"), c = begin_on(3, "0-8");

	for (int i = 0; i < 3; i++) {
		share(a.fd, true);
		share(b.fd, true);
		share(c.fd, true);
		serve();
	}
	suspend(&a, "FROZEN\n");
	share(b.fd, true);
	end(&c);
	share(b.fd, true);
	serve();
	/* It is told nothing before it goes on. */
	assert_true(is_told_nothing(a.fd));
	suspend(&a, "populated 1\nfrozen 0\n");
	assert_string_equal(share(b.fd, !late), "3-6");
	assert_true(is_told_nothing(a.fd));
	if (late) {
		now_ms += mal_patience_ms(100) - 1;
		assert_int_equal(serve(), 1);
		assert_true(is_told_nothing(a.fd));
		now_ms++;
	}
	serve();
	assert_string_equal(share(a.fd, true), "0-2,7-8");
	end(&a);
	end(&b);
}

static void who_gains_waits_for_who_loses(void **state)
{
	(void)state;
	change_hands(false);
	change_hands(true);
	mal_patience_set(60);
	change_hands(true);
	mal_patience_set(1);
}

/* Each that comes makes others leave; but those who gain wait for 500 ms in all. */
static void who_gains_waits_no_longer(void **state)
{
	struct party parties[7];

	(void)state;
	for (unsigned int factor = 1; factor <= 60; factor += 59) {
		mal_patience_set(factor);
		for (unsigned int i = 0; i < 7; i++) {
			now_ms += mal_patience_ms(i > 1 ? 90 : 0);
			parties[i] = begin_on(i, "0-7");
		}
		now_ms += mal_patience_ms(50) - 1;
		assert_int_equal(serve(), 1);
		now_ms++;
		assert_true(serve() > 1);
		for (unsigned int i = 0; i < 7; i++)
			end(&parties[i]);
	}
	mal_patience_set(1);
}

/* Both forms in which the kernel says it; a cgroup that is gone says nothing. */
static void suspended_steps_have_no_share(void **state)
{
	struct party a = begin_on(1, "0-3"), b = begin_on(2, "0-3");

	(void)state;
	share(a.fd, true);
	share(b.fd, true);
	serve();
	suspend(&a, "populated 1\nfrozen 1\n");
	assert_string_equal(share(b.fd, true), "0-3");
	suspend(&a, "");
	assert_string_equal(share(b.fd, true), "2-3");
	end(&a);
	end(&b);
}

static void the_end_of_the_pipe_ends_a_claim(void **state)
{
	struct party a = begin_on(1, "0-3"), b = begin_on(2, "0-3");

	(void)state;
	share(a.fd, true);
	share(b.fd, true);
	/* The user keeps the connection. */
	close(a.life);
	serve();
	assert_true(is_closed(a.fd));
	assert_string_equal(share(b.fd, true), "0-3");
	close(a.fd);
	close(a.freezer);
	end(&b);
}

static void only_root_is_listened_to(void **state)
{
	int fd;

	(void)state;
	caller = 1000;
	fd = join();
	caller = 0;
	assert_true(is_closed(fd));
	close(fd);
	/* Nobody was there after all. */
	coming = -1;
	mal_claims_accept(0);
	assert_int_equal(mal_claims_wait(NULL), 0);
}

static void who_says_nothing_is_left(void **state)
{
	(void)state;
	for (unsigned int factor = 1; factor <= 60; factor += 59) {
		int fd = join();

		mal_patience_set(factor);
		assert_int_equal(serve(), 1000 * factor);
		now_ms += 1000 * factor - 1;
		assert_int_equal(serve(), 1);
		assert_true(is_told_nothing(fd));
		now_ms++;
		serve();
		assert_true(is_closed(fd));
		close(fd);
	}
	mal_patience_set(1);
}

static void unsound_steps_are_refused(void **state)
{
	struct mal_agent_step steps[7];
	int null = memfd_create("pipe", 0);

	(void)state;
	for (int i = 0; i < 7; i++)
		steps[i] = step_of(1, 7, "0-3");
	steps[0].version++;
	steps[1].kind = 3;
	steps[2].weight = 0;
	steps[3].weight = 1025;
	steps[4].min = 0;
	steps[5].cpus = (struct mal_cpumask){{0}};
	/* The last is sound, but for its length, or without a pipe. */
	for (int i = 0; i < 8; i++) {
		int fd = join();

		say(fd, &steps[i < 6 ? i : 6], sizeof(steps[0]) - (i == 6), &null, i < 7);
		serve();
		assert_true(is_closed(fd));
		close(fd);
	}
	assert_int_equal(mal_claims_wait(NULL), 0);
	close(null);
}

/* A user has 16 claims, all together 64; who has a place, but no claim, is one of 72. */
static void claims_are_counted(void **state)
{
	struct party parties[MAL_CLAIMS_TAKEN + 1];
	int waiting[MAL_CLAIMS_MAX - MAL_CLAIMS_TAKEN], full;
	struct mal_agent_step step;

	(void)state;
	for (unsigned int i = 0; i < MAL_CLAIMS_TAKEN; i++) {
		step = step_of(i, i / MAL_CLAIMS_OF_USER, "0");
		if (i == MAL_CLAIMS_OF_USER) {
			step.user = 0;
			parties[i] = begin(&step);
			assert_int_equal(verdict(parties[i].fd), MAL_AGENT_USER_FULL);
			assert_true(is_closed(parties[i].fd));
			end(&parties[i]);
			step.user = 1;
		}
		parties[i] = begin(&step);
		assert_int_equal(verdict(parties[i].fd), MAL_AGENT_TAKEN);
	}
	step = step_of(99, 99, "0");
	parties[MAL_CLAIMS_TAKEN] = begin(&step);
	assert_int_equal(verdict(parties[MAL_CLAIMS_TAKEN].fd), MAL_AGENT_FULL);
	end(&parties[MAL_CLAIMS_TAKEN]);
	for (unsigned int i = 0; i < MAL_CLAIMS_MAX - MAL_CLAIMS_TAKEN; i++)
		waiting[i] = join();
	full = join();
	assert_true(is_closed(full));
	assert_true(is_told_nothing(waiting[0]));
	close(full);
	for (unsigned int i = 0; i < MAL_CLAIMS_MAX - MAL_CLAIMS_TAKEN; i++)
		close(waiting[i]);
	for (unsigned int i = 0; i < MAL_CLAIMS_TAKEN; i++)
		end(&parties[i]);
	assert_int_equal(mal_claims_wait(NULL), 0);
}

static void who_talks_too_much_is_left_out(void **state)
{
	struct party a = begin_on(1, "0-3");
	int said = 0;

	(void)state;
	while (!is_closed(a.fd) && ++said < 1000) {
		say(a.fd, "x", 1, NULL, 0);
		serve();
	}
	assert_int_equal(said, 64);
	end(&a);
}

/* Who reads nothing any more is none of ours: the other has all CPUs. */
static void who_does_not_listen_is_left_out(void **state)
{
	struct party a = begin_on(1, "0-3"), b;

	(void)state;
	shutdown(a.fd, SHUT_RD);
	b = begin_on(2, "0-3");
	serve();
	assert_string_equal(share(b.fd, true), "2-3");
	serve();
	assert_string_equal(share(b.fd, true), "0-3");
	end(&a);
	end(&b);
}

static bool begin_slurmd(int *life)
{
	struct mal_agent_step step = {.version = MAL_AGENT_VERSION, .kind = MAL_AGENT_SLURMD};
	int fd = join(), ends[2];
	bool taken;

	assert_int_equal(pipe(ends), 0);
	say(fd, &step, sizeof(step), ends, 1);
	close(ends[0]);
	*life = ends[1];
	serve();
	taken = verdict(fd) == MAL_AGENT_TAKEN;
	/* It has served its purpose. */
	assert_true(is_closed(fd));
	close(fd);
	return taken;
}

static void the_agent_runs_for_slurmds(void **state)
{
	struct pollfd wait[MAL_SLURMDS_MAX];
	int slurmds[MAL_SLURMDS_MAX + 1];

	(void)state;
	for (int i = 0; i <= MAL_SLURMDS_MAX; i++)
		assert_int_equal(begin_slurmd(&slurmds[i]), i < MAL_SLURMDS_MAX);
	close(slurmds[MAL_SLURMDS_MAX]);
	for (size_t left = MAL_SLURMDS_MAX; left > 0; left--) {
		/* From the front, then from the end. */
		int ended = left > 4 ? slurmds[MAL_SLURMDS_MAX - left] : slurmds[left + 3];

		assert_int_equal(mal_slurmds_wait(wait), left);
		assert_int_equal(poll(wait, left, 0), 0);
		close(ended);
		assert_int_equal(poll(wait, left, 0), 1);
		mal_slurmds_drop_ended(wait, left);
	}
	assert_int_equal(mal_slurmds_wait(wait), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_share_cpus),
		cmocka_unit_test(who_gains_waits_for_who_loses),
		cmocka_unit_test(who_gains_waits_no_longer),
		cmocka_unit_test(suspended_steps_have_no_share),
		cmocka_unit_test(the_end_of_the_pipe_ends_a_claim),
		cmocka_unit_test(only_root_is_listened_to),
		cmocka_unit_test(who_says_nothing_is_left),
		cmocka_unit_test(unsound_steps_are_refused),
		cmocka_unit_test(claims_are_counted),
		cmocka_unit_test(who_talks_too_much_is_left_out),
		cmocka_unit_test(who_does_not_listen_is_left_out),
		cmocka_unit_test(the_agent_runs_for_slurmds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
