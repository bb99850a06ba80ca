/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launcher_group.c: give the ranks that one launcher forks on this node a controller.
 *
 * Invariant: ranks of one launcher on a node have one controller (t/t2019-launchers.t).
 */
#include "libmalleable/cmd/launcher_group.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/standalone.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/handover.h"
#include "libmalleable/core/off_file.h"
#include "libmalleable/core/report_wish.h"
#include "libmalleable/core/script.h"
#include "libmalleable/core/segment.h"

/* How long the ranks of a launcher may take to come, and one of them to send its request. */
#define COME_MS 5000
#define REQUEST_MS 1000

static struct {
	const struct mal_launcher_group *group;
	/* of the ranks that run: the first is what we listen on, the others end as the ranks do */
	struct pollfd polled[MAL_MAX_RANKS + 1];
	int waiting[MAL_MAX_RANKS + 1]; /* connections that wait for an answer, else -1 */
	size_t count;			/* of both */
	unsigned int expected;
	struct mal_cpumask cpus;
	unsigned int came; /* ranks, in all */
	int claim;
	bool started, balanced;
	struct mal_standalone standalone;
} all = {.claim = -1};

/* Lock a byte that nothing is ever read from. Does not wait. Returns 0 or -1. */
static int lock(int fd, unsigned int cpu)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = cpu, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &range);
}

/*
 * Claim CPUS of the job, so that the ranks of another launcher do not take them too: the pipe of
 * the job's script has a byte for each CPU, which is locked. Returns a descriptor that holds them
 * until it is closed, or -1 with ERR: another launcher of the job has some, or the job has no
 * balanced script here.
 */
static int claim_cpus(const struct mal_cpumask *cpus, struct mal_error *err)
{
	int fd = mal_script_open();

	if (fd < 0)
		return mal_fail_errno(
			err, "cannot open the pipe of the job's script in " MAL_SCRIPT_DIR);
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(cpus, cpu)) < MAL_MAX_CPUS; cpu++)
		if (lock(fd, cpu) < 0) {
			close(fd);
			return mal_fail(err,
					"ranks of another launcher have CPU %u: give each "
					"launcher CPUs of its own, as by mpirun --cpu-set 0-3",
					cpu);
		}
	return fd;
}

static void add(int listening_or_process, int connection)
{
	all.polled[all.count] = (struct pollfd){.fd = listening_or_process, .events = POLLIN};
	all.waiting[all.count++] = connection;
}

static void answer(size_t index)
{
	struct mal_launcher_group_answer text = {.cpus = all.cpus};

	strcpy(text.socket, all.standalone.socket);
	mal_descriptor_send(all.waiting[index], all.balanced ? all.standalone.segment_fd : -1,
			    &text, sizeof(text));
	close(all.waiting[index]);
	all.waiting[index] = -1;
}

/* Read the request of CONNECTION's rank. Returns a pidfd of the rank, or -1. */
static int hear(int connection, struct mal_launcher_group_request *request)
{
	struct ucred peer;
	int process = -1;

	if (mal_channel_peer(connection, &peer) && peer.uid == geteuid() &&
	    mal_descriptor_wait(connection, POLLIN, mal_now_ms() + mal_patience_ms(REQUEST_MS)) &&
	    mal_descriptor_receive(connection, &process, request, sizeof(*request)) ==
		    (ssize_t)sizeof(*request))
		return process;
	if (process >= 0)
		close(process);
	return -1;
}

/* Take the next rank that connects. */
static void take(void)
{
	int connection = accept4(all.polled[0].fd, NULL, NULL, SOCK_CLOEXEC), process;
	struct mal_launcher_group_request request;

	if (connection < 0)
		return;
	process = all.count <= MAL_MAX_RANKS ? hear(connection, &request) : -1;
	if (process < 0) {
		close(connection);
		return;
	}
	add(process, connection);
	all.came++;
	if (!all.started) {
		mal_cpumask_union(&all.cpus, &request.cpus);
		all.expected = request.expected;
	} else {
		answer(all.count - 1);
	}
}

/* The rank at INDEX has ended. */
static void drop(size_t index)
{
	close(all.polled[index].fd);
	if (all.waiting[index] >= 0)
		close(all.waiting[index]);
	all.count--;
	all.polled[index] = all.polled[all.count];
	all.waiting[index] = all.waiting[all.count];
}

static int begin(struct mal_error *err)
{
	const struct mal_launcher_group *group = all.group;
	char step[48];
	struct mal_standalone_options start = {
		.user_options = &group->user_options,
		.choice = &group->choice,
		.libdir = group->libdir,
		.step = step,
		.job_name = getenv("SLURM_JOB_NAME"),
		.allowed = getenv(MAL_ENV_JOB_POLICIES),
		.off_file = mal_admin_off_file(),
		.cpus = &all.cpus,
		.nodes = group->nodes,
	};

	/* Where nobody knows who comes, all that the launcher may give them. */
	if (!all.expected)
		all.cpus = group->cpus;
	snprintf(step, sizeof(step), "%.20s.%s", getenv("SLURM_JOB_ID") ?: "0", group->name);
	start.ranks = mal_cpumask_count(&all.cpus);
	if (start.ranks < all.expected)
		start.ranks = all.expected;
	all.claim = claim_cpus(&all.cpus, err);
	return all.claim < 0 ? -1 : mal_standalone_start(&all.standalone, &start, err);
}

static void start(void)
{
	struct mal_error err;

	all.started = true;
	all.balanced = begin(&err) == 0;
	if (!all.balanced && !all.group->quiet)
		mal_print_line(stderr, "balance: %s; the ranks of %s run unbalanced", err.text,
			       all.group->name);
	for (size_t i = 1; i < all.count; i++)
		answer(i);
}

/* The slurmstepd of the script logs it. */
static void hand_over(const char *text)
{
	struct mal_handover what = {.ranks = all.came, .cpus = mal_cpumask_count(&all.cpus)};

	memcpy(&what.record, text, sizeof(what.record));
	if (what.record.magic != MAL_OUTCOME_MAGIC)
		return;
	snprintf(what.launcher, sizeof(what.launcher), "%s", all.group->name);
	snprintf(what.policy, sizeof(what.policy), "%s", all.group->choice.policy->name);
	mal_handover_send(&what);
}

static void end(void)
{
	char text[MAL_STANDALONE_TEXT] = {0};

	mal_rendezvous_end(&all.group->rendezvous, all.polled[0].fd);
	if (all.claim >= 0)
		close(all.claim);
	if (!all.started)
		return;
	mal_standalone_end(&all.standalone, all.balanced && !all.group->quiet, text);
	hand_over(text);
	if (all.balanced && mal_report_wish(all.group->user_options.report) != MAL_REPORT_OFF)
		mal_standalone_print(text);
}

void mal_launcher_group_run(const struct mal_launcher_group *group)
{
	long deadline = mal_now_ms() + mal_patience_ms(COME_MS);
	bool any = false;

	all.group = group;
	all.standalone = (struct mal_standalone){.launched = MAL_LAUNCHED_NONE, .segment_fd = -1};
	add(group->listening, -1);
	while (!any || all.count > 1) {
		long left = deadline - mal_now_ms();
		int wait_ms = all.started ? -1 : left > 0 ? (int)left : 0;

		if (poll(all.polled, all.count, wait_ms) < 0 && errno != EINTR)
			break;
		for (size_t i = all.count - 1; i > 0; i--)
			if (all.polled[i].revents)
				drop(i);
		if (all.polled[0].revents)
			take();
		any |= all.count > 1;
		if (!all.started && any &&
		    (all.count > all.expected || all.count > MAL_MAX_RANKS ||
		     mal_now_ms() >= deadline))
			start();
		else if (!any && mal_now_ms() >= deadline)
			break;
		if (all.started && !all.balanced)
			break;
	}
	end();
}
