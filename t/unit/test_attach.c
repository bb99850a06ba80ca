/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_attach.c: how a process becomes a rank of a step, from the variables and the segment that
 * it inherits, and how it leaves.
 */
#include "t/unit/alone.h"
#include "t/unit/rank_fixture.h"

#include <fcntl.h>
#include <pthread.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/core/env.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/cpus/sibling_threads.h"
#include "libmalleable/rank/pmix/pmix.h"
#include "libmalleable/rank/primary.h"

/* We attach to FD's segment as rank 0 of two that share CPUs 0 to 3. */
static int fd;
static int fd_of_controller = -1, waited_ms;
static struct mal_cpumask all;
static struct mal_segment view; /* as another process sees it */
static bool pmix_knows;

int __wrap_mal_channel_ask_fd(const char *path, const char *request, int timeout_ms,
			      struct mal_error *err);

int __wrap_mal_channel_ask_fd(const char *path, const char *request, int timeout_ms,
			      struct mal_error *err)
{
	(void)path, (void)err;
	waited_ms = timeout_ms;
	assert_string_equal(request, MAL_CHANNEL_SEGMENT);
	return fd_of_controller < 0 ? -1 : dup(fd_of_controller);
}

bool __wrap_mal_channel_is_open(const char *path);

bool __wrap_mal_channel_is_open(const char *path)
{
	assert_string_equal(path, "/socket");
	return true;
}

bool mal_pmix_open(bool load)
{
	(void)load;
	return pmix_knows;
}

bool mal_pmix_local(unsigned int *rank, unsigned int *count)
{
	*rank = 1;
	*count = 2;
	return true;
}

static void set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	setenv(name, text, 1);
}

static int set_up(void **state)
{
	static const char *const variables[] = {MAL_ENV_LOCAL_RANK,
						MAL_ENV_MODE,
						MAL_ENV_HOME,
						MAL_ENV_NODES,
						MAL_ENV_SOCKET,
						"OMPI_COMM_WORLD_LOCAL_RANK",
						"OMPI_COMM_WORLD_LOCAL_SIZE",
						"MPI_LOCALRANKID",
						"PMIX_RANK",
						"PMI_RANK",
						"PMI_SIZE"};
	struct mal_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	memset(&all, 0, sizeof(all));
	assert_int_equal(mal_cpumask_parse("0-3", &all, &err), 0);
	fd = mal_segment_create(&view, 2, &all, &err);
	assert_true(fd >= 0);
	test_kernel = (struct test_kernel){.caller = 1};
	test_kernel.mask[1] = all;
	mal_clock_is_tsc = false;
	pmix_knows = false;
	fd_of_controller = -1;
	set_number(MAL_ENV_SEGMENT_FD, fd);
	setenv(MAL_ENV_CPUS, "0-3", 1);
	setenv(MAL_ENV_LOCAL_RANK, "0", 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mal_segment_close(&view);
	close(fd);
	return 0;
}

static const char *home(void)
{
	static char text[MAL_CPUMASK_TEXT];

	return mal_cpumask_format(&mal.home, text, sizeof(text));
}

static struct mal_cpu_state seen(unsigned int cpu)
{
	return mal_word_read(&view.cpus[cpu].word);
}

static void attaches(void **state)
{
	(void)state;
	mal_attach();
	assert_true(mal.active);
	assert_string_equal(home(), "0-1");
	assert_memory_equal(&test_kernel.mask[1], &mal.home, sizeof(mal.home));
	assert_int_equal(mal.cpus.owned_count, 2);
	assert_int_equal(view.ranks[0].state, MAL_RANK_RUNNING);
	assert_int_equal(view.ranks[0].pid, getpid());
	assert_int_equal(seen(1).owner, 0);
	assert_int_equal(seen(2).owner, MAL_NOBODY);
	mal_attach();
	assert_true(mal_become_primary(&mal));
	assert_false(mal_become_primary(&mal));
}

/*
 * Ranks that are not bound get equal parts of the step's CPUs; what a rank had is free when it
 * has ended.
 */
static void unbound_ranks_share_cpus_equally(void **state)
{
	run_alone(attaches, state);
	assert_int_equal(view.ranks[0].state, MAL_RANK_ENDED);
	assert_true(seen(0).lent && seen(1).lent);
}

static unsigned int sleeps; /* for so many looks the first thread sleeps */

bool mal_thread_sleeps(int32_t tid)
{
	assert_int_equal(tid, getpid());
	return sleeps && sleeps--;
}

static void *becomes_primary(void *result)
{
	*(bool *)result = mal_become_primary(&mal);
	return NULL;
}

/* Whether a new thread becomes the primary one where the first sleeps for LOOKS, and ends. */
static bool another_becomes(unsigned int looks)
{
	bool result;
	pthread_t thread;

	sleeps = looks;
	assert_int_equal(pthread_create(&thread, NULL, becomes_primary, &result), 0);
	pthread_join(thread, NULL);
	return result;
}

/* The first thread only began with MPI: the program runs in another one. */
static void thread_that_opens_regions_is_primary(void **state)
{
	(void)state;
	mal_attach();
	test_kernel.caller = 0;
	assert_true(mal_become_primary(&mal));
	/* What it does, or did, need not be waited for where it is not about to sleep. */
	mal.region_own.begin = 1;
	assert_false(another_becomes(0));
	mal.region_own.begin = 0;
	mal.primary_own.tid = getpid() + 1;
	assert_false(another_becomes(0));
	mal.primary_own.tid = getpid();
	assert_int_equal(test_kernel.naps, 0);
	/* It computes, or wakes meanwhile. */
	assert_false(another_becomes(0));
	assert_true(test_kernel.naps > 0);
	assert_false(another_becomes(1));
	/* It waits in MPI, or opens regions. */
	mal_self.mpi_depth = 1;
	assert_false(another_becomes(2));
	mal_self.mpi_depth = 0;
	mal_self.testing = true;
	assert_false(another_becomes(2));
	mal_self.testing = false;
	mal.region_own.depth = 1;
	assert_false(another_becomes(2));
	mal.region_own.depth = 0;
	mal.region_own.begin = 1;
	assert_false(another_becomes(2));
	mal.region_own.begin = 0;
	assert_true(mal_self.primary);
	assert_int_equal(mal.primary.tid, getpid());
	mal.team_own.base = 2;
	mal.slot->foreign_threads = MAL_FOREIGN_WAIT;
	assert_true(another_becomes(2));
	assert_false(mal_self.primary || mal_self.considered_primary);
	assert_int_equal(mal.team.base, 0);
	assert_int_equal(mal.slot->foreign_threads, 0);
	assert_false(another_becomes(2));
	/* That has ended, whatever it did. */
	mal.region_own.begin = 1;
	mal.primary_own.tid = MAL_PRIMARY_ENDED;
	assert_true(mal_become_primary(&mal));
	assert_false(another_becomes(2));
}

/* What the one before in the slot left there is not believed: its threads and its home. */
static void earlier_rank_of_the_slot_is_not_believed(void **state)
{
	struct mal_thread_slot *threads = mal_thread_slot(&view, 0, 0);

	(void)state;
	for (unsigned int i = 0; i < view.thread_count; i++) {
		threads[i].tid = 4711;
		threads[i].cpu = threads[i].bound_cpu = 3;
	}
	mal_cpumask_add(&view.ranks[0].home, 3);
	mal_attach();
	assert_true(mal.active);
	for (unsigned int i = 0; i < view.thread_count; i++) {
		assert_int_equal(threads[i].tid, 0);
		assert_int_equal(threads[i].cpu, MAL_NO_CPU);
	}
	assert_memory_equal(&view.ranks[0].home, &mal.home, sizeof(mal.home));
	assert_false(mal_cpumask_has(&view.ranks[0].home, 3));
}

static void is_no_rank(void **state)
{
	(void)state;
	assert_false(mal.active);
}

/* One that is bound has what it is bound to. Its children are no ranks. */
static void bound_ranks_keep_their_cpus(void **state)
{
	memset(&test_kernel.mask[1], 0, sizeof(all));
	mal_cpumask_add(&test_kernel.mask[1], 2);
	setenv(MAL_ENV_MODE, "cpuset", 1);
	mal_attach();
	assert_string_equal(home(), "2");
	assert_int_equal(view.ranks[0].reason, MAL_REASON_USER);
	run_alone(is_no_rank, state);
	assert_true(mal.active);
	assert_int_equal(view.ranks[0].state, MAL_RANK_RUNNING);
}

static void begins_with_less(void **state)
{
	(void)state;
	setenv(MAL_ENV_HOME, "0,3", 1);
	setenv(MAL_ENV_LOCAL_RANK, "1", 1);
	setenv(MAL_ENV_MODE, "team", 1);
	mal_attach();
	assert_string_equal(home(), "3");
	assert_memory_equal(&test_kernel.mask[1], &mal.home, sizeof(mal.home));
	assert_int_equal(mal.mode, MAL_MODE_TEAM);
}

static unsigned int number, count;

static void rank_has_its_number(void **state)
{
	(void)state;
	mal_attach();
	assert_int_equal(mal.me, number);
	assert_int_equal(mal.rank_count, count);
}

static void expect(unsigned int rank, unsigned int ranks)
{
	number = rank;
	count = ranks;
	run_alone(rank_has_its_number, NULL);
}

/* Who we are where Slurm does not say it. */
static void as_launchers_say(void **state)
{
	(void)state;
	unsetenv(MAL_ENV_LOCAL_RANK);
	expect(0, 1);
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_SIZE", "2", 1);
	expect(1, 2);
	setenv("PMIX_RANK", "17", 1);
	setenv("PMI_RANK", "0", 1);
	pmix_knows = true;
	expect(1, 2);
	setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0", 1);
	setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "x", 1);
	expect(0, 2);
	setenv(MAL_ENV_LOCAL_RANK, "9", 1);
	expect(0, 1);
}

static void outside_a_step_nothing_happens(void **state)
{
	(void)state;
	mal_attach();
	assert_false(mal.active);
}

static int said; /* what a rank prints */

static void is_refused(void **state)
{
	dup2(said, STDERR_FILENO);
	outside_a_step_nothing_happens(state);
}

/* What a rank says in DO_WHAT, in TEXT of SIZE bytes. */
static void hear(CMUnitTestFunction do_what, char *text, size_t size)
{
	ssize_t length;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	said = ends[1];
	run_alone(do_what, NULL);
	close(said);
	length = read(ends[0], text, size - 1);
	close(ends[0]);
	assert_true(length >= 0);
	text[length] = '\0';
}

static void refused(const char *why)
{
	char text[256];

	view.header->refused = false;
	hear(is_refused, text, sizeof(text));
	if (!strstr(text, why) || !strstr(text, "; this rank runs unbalanced\n"))
		fail_msg("%s", text);
}

static void refusals_name_what_is_wrong(void **state)
{
	char text[256], node[65] = "";

	(void)state;
	unsetenv(MAL_ENV_CPUS);
	refused("balance: " MAL_ENV_CPUS " is missing or wrong");
	/* One of several nodes may lack something. */
	setenv(MAL_ENV_NODES, "2", 1);
	gethostname(node, sizeof(node) - 1);
	snprintf(text, sizeof(text), "balance: %s: " MAL_ENV_CPUS, node);
	refused(text);
	unsetenv(MAL_ENV_NODES);
	setenv(MAL_ENV_CPUS, "0-3", 1);
	setenv(MAL_ENV_SOCKET, "/socket", 1);
	set_number(MAL_ENV_SEGMENT_FD, 999);
	refused("descriptor 999 is not");
	setenv(MAL_ENV_SEGMENT_FD, "x", 1);
	refused(MAL_ENV_SEGMENT_FD " is wrong");
	assert_false(view.header->refused);
	set_number(MAL_ENV_SEGMENT_FD, fd);
	memset(&test_kernel.mask[1], 0, sizeof(all));
	mal_cpumask_add(&test_kernel.mask[1], 7);
	refused("no CPU of its step");
	assert_true(view.header->refused);
	mal_cpumask_add(&test_kernel.mask[1], 0);
	setenv(MAL_ENV_HOME, "0", 1);
	refused("nothing to balance");
	unsetenv(MAL_ENV_HOME);
	view.ranks[0].pid = 1;
	view.ranks[0].state = MAL_RANK_RUNNING;
	refused("several OpenMP or MPI programs at once");
	/* Of hundreds of programs one has a line. */
	hear(is_refused, text, sizeof(text));
	assert_string_equal(text, "");
	view.ranks[0].state = MAL_RANK_ABSENT;
	refused("several OpenMP or MPI programs at once");
	view.ranks[0].pid = 0;
	mal_word_set(&view.cpus[0].word, (struct mal_cpu_state){1, 1, false});
	view.ranks[1].state = MAL_RANK_RUNNING;
	mal_cpumask_add(&view.ranks[1].home, 0);
	refused("other ranks already have");
	assert_int_equal(view.ranks[0].pid, 0);
	setenv(MAL_ENV_MODE, "observe", 1);
	mal_attach();
	assert_false(mal.active);
	assert_true(mal.observe);
}

static void warns(void **state)
{
	(void)state;
	dup2(said, STDERR_FILENO);
	mal_warn_for_all("it is so");
	mal_warn_for_all("and so");
}

/* What is the same for all ranks: one of them says it, and once. */
static void first_rank_warns_for_all(void **state)
{
	char text[256];

	(void)state;
	setenv("SLURM_PROCID", "1", 1);
	hear(warns, text, sizeof(text));
	assert_string_equal(text, "");
	setenv("SLURM_PROCID", "0", 1);
	hear(warns, text, sizeof(text));
	assert_string_equal(text, "balance: it is so\n");
	unsetenv("SLURM_PROCID");
}

/*
 * A wrapper closed the descriptor: the controller has it. And what the task's earlier program
 * left is taken over.
 */
static void asks_and_takes_over(void **state)
{
	(void)state;
	fd_of_controller = fd;
	set_number(MAL_ENV_SEGMENT_FD, 999);
	setenv(MAL_ENV_SOCKET, "/socket", 1);
	view.ranks[0].pid = 0x7ffffff0;
	view.ranks[0].state = MAL_RANK_ENDED;
	mal_word_set(&view.cpus[0].word, (struct mal_cpu_state){0, MAL_NOBODY, true});
	mal_word_set(&view.cpus[1].word, (struct mal_cpu_state){0, 1, true});
	mal_attach();
	assert_true(mal.active);
	assert_int_equal(mal.cpus.owned_count, 2);
	assert_int_equal(seen(0).user, 0);
	assert_int_equal(seen(1).user, 0);
	assert_int_equal(waited_ms, 1000);
}

/* The controller is asked for so long as the starter of the step allows. */
static void asks_with_patience(void **state)
{
	(void)state;
	set_number(MAL_ENV_SEGMENT_FD, 999);
	setenv(MAL_ENV_SOCKET, "/socket", 1);
	set_number(MAL_ENV_PATIENCE, 60);
	mal_attach();
	unsetenv(MAL_ENV_PATIENCE);
	assert_false(mal.active);
	assert_int_equal(waited_ms, 60000);
	mal_patience_set(1);
}

/* The task's earlier program was killed, or replaced by this one, in the middle of everything. */
static void forgets_what_was_begun(void **state)
{
	struct mal_rank_slot *slot = &view.ranks[0];

	(void)state;
	slot->pid = getpid();
	slot->state = MAL_RANK_RUNNING;
	slot->binding = 1;
	slot->count.boundaries[MAL_BOUNDARY_MARK] = 1000;
	slot->waiting_since = 5;
	mal_borrower_set(&view, 0, true);
	mal_request_open(&view, 0, 5, 0, 1, true);
	mal_attach();
	assert_true(mal.active);
	assert_int_equal(slot->binding, 0);
	assert_int_equal(slot->waiting_since, 0);
	assert_int_equal(slot->count.boundaries[MAL_BOUNDARY_MARK], 0);
	assert_int_equal(view.header->borrowers, 0);
	assert_int_equal(view.requests[0].word, 0);
}

/*
 * What the task's earlier program had is another rank's by now: the controller sees that we run
 * without a CPU.
 */
static void comes_to_cpus_of_others(void **state)
{
	(void)state;
	view.ranks[0].pid = 0x7ffffff0;
	view.ranks[0].state = MAL_RANK_ENDED;
	view.ranks[1].state = MAL_RANK_RUNNING;
	mal_cpumask_add(&view.ranks[1].home, 2);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		mal_word_set(&view.cpus[cpu].word, (struct mal_cpu_state){1, 1, false});
	mal_attach();
	assert_true(mal.active);
	assert_int_equal(mal.cpus.owned_count, 0);
	assert_int_equal(view.ranks[0].state, MAL_RANK_RUNNING);
	assert_int_equal(view.ranks[0].pid, getpid());
}

/* Outside of a step, as its segment is not there, and no controller. */
static void without_a_segment_it_is_no_rank(void **state)
{
	set_number(MAL_ENV_SEGMENT_FD, 999);
	run_alone(outside_a_step_nothing_happens, state);
	unsetenv(MAL_ENV_SEGMENT_FD);
	run_alone(outside_a_step_nothing_happens, state);
}

#define CASE(function) ALONE(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(unbound_ranks_share_cpus_equally),
		CASE(thread_that_opens_regions_is_primary),
		CASE(earlier_rank_of_the_slot_is_not_believed),
		CASE(bound_ranks_keep_their_cpus),
		CASE(begins_with_less),
		CASE(as_launchers_say),
		CASE(refusals_name_what_is_wrong),
		CASE(first_rank_warns_for_all),
		CASE(asks_and_takes_over),
		CASE(asks_with_patience),
		CASE(forgets_what_was_begun),
		CASE(comes_to_cpus_of_others),
		CASE(without_a_segment_it_is_no_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
