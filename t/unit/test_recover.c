/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_recover.c: what the controller does when a rank is killed in the middle of something, ends,
 * or has to leave CPUs.
 */
#include "t/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/step.h"
#include "libmalleable/core/request.h"
#include "libmalleable/core/rundir.h"

#define RANKS 3u
#define CPUS 6u
#define THREADS 2u

static struct mal_step_facts step;
static struct mal_controller controller;
static pid_t pids[RANKS];
/* This thread binds itself to CPU 1 again whenever it is sent away, 0: none does. */
static pid_t stubborn;
/* What another controller answers, and the last request it got. */
static const char *answer;
static char reported[MAL_CHANNEL_REQUEST];
/* The controller's clock, in nanoseconds: the test turns it. */
static uint64_t now;

uint64_t __wrap_mal_clock_elsewhere(void);
int __wrap_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask);
int __real_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask);
char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err);
bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms);
void __wrap_mal_watch_process(int32_t pid);

uint64_t __wrap_mal_clock_elsewhere(void)
{
	return now;
}

int __wrap_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask)
{
	int result = __real_mal_cpumask_set_affinity(tid, mask);

	return tid == stubborn ? mal_bind_thread(tid, 1) : result;
}

char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err)
{
	(void)path, (void)request, (void)timeout_ms, (void)err;
	*length = strlen(answer);
	return strdup(answer);
}

bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms)
{
	(void)path, (void)timeout_ms;
	snprintf(reported, sizeof(reported), "%s", request);
	return true;
}

void __wrap_mal_watch_process(int32_t pid)
{
	(void)pid;
}

static void *room(size_t size)
{
	void *memory = aligned_alloc(MAL_CACHE_LINE,
				     (size + MAL_CACHE_LINE - 1) / MAL_CACHE_LINE * MAL_CACHE_LINE);

	assert_non_null(memory);
	return memset(memory, 0, size);
}

static mal_word *word(unsigned int cpu)
{
	return &step.segment.cpus[cpu].word;
}

static struct mal_cpu_state state_of(unsigned int cpu)
{
	return mal_word_read(word(cpu));
}

/*
 * A rank's process: two threads that sleep. It reports the number of the second one, which is in no
 * team.
 */
static void *sleep_on(void *pipe_end)
{
	pid_t tid = gettid();

	if (pipe_end && write(*(int *)pipe_end, &tid, sizeof(tid)) < 0)
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

static pid_t idle_threads[RANKS];

static void start(unsigned int rank)
{
	pthread_t thread;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	pids[rank] = fork();
	if (pids[rank] == 0) {
		pthread_create(&thread, NULL, sleep_on, &ends[1]);
		sleep_on(NULL);
	}
	assert_int_equal(read(ends[0], &idle_threads[rank], sizeof(pid_t)), sizeof(pid_t));
	close(ends[0]);
	close(ends[1]);
}

/* Rank R has CPUs 2R and 2R + 1, and is a process that sleeps. */
static int set_up(void **state)
{
	(void)state;
	step = (struct mal_step_facts){.arguments = {MAL_ARGUMENTS_NO_FDS}};
	now = 1000000000;
	stubborn = 0;
	reported[0] = '\0';
	step.segment = (struct mal_segment){
		.header = room(sizeof(struct mal_header)),
		.cpus = room(CPUS * sizeof(struct mal_cpu_slot)),
		.requests = room(RANKS * sizeof(struct mal_request_slot)),
		.ranks = room(RANKS * sizeof(struct mal_rank_slot)),
		.threads = room(RANKS * THREADS * sizeof(struct mal_thread_slot)),
		.rank_count = RANKS,
		.cpu_count = CPUS,
		.thread_count = THREADS};
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		step.cpu[step.cpu_count++] = cpu;
		mal_cpumask_add(&step.allocation, cpu);
		mal_word_set(word(cpu), (struct mal_cpu_state){cpu / 2, cpu / 2, false});
	}
	for (unsigned int rank = 0; rank < RANKS; rank++) {
		start(rank);
		step.segment.ranks[rank].pid = pids[rank];
		step.segment.ranks[rank].state = MAL_RANK_RUNNING;
		for (unsigned int i = 0; i < THREADS; i++)
			mal_thread_slot(&step.segment, rank, i)->cpu = MAL_NO_CPU;
	}
	memset(&controller, 0, sizeof(controller));
	assert_int_equal(mal_controller_open(&controller, &step, &(struct mal_cpumask){{0}}, NULL),
			 0);
	controller.deciding_own.binds = true;
	mal_ranks_update(&controller);
	return 0;
}

static void end(unsigned int rank)
{
	if (pids[rank] <= 0)
		return;
	kill(pids[rank], SIGKILL);
	waitpid(pids[rank], NULL, 0);
	pids[rank] = 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned int rank = 0; rank < RANKS; rank++)
		end(rank);
	free(step.segment.header);
	free(step.segment.cpus);
	free(step.segment.ranks);
	free((void *)step.segment.requests);
	free(step.segment.threads);
	mal_controller_close(&controller);
	return 0;
}

static bool is_free(unsigned int cpu)
{
	return state_of(cpu).lent && state_of(cpu).user == MAL_NOBODY;
}

/* A rank that would borrow is killed: no rank would any more. */
static void killed_borrower_asks_no_more(void **state)
{
	(void)state;
	mal_borrower_set(&step.segment, 1, true);
	assert_true(step.segment.header->borrowers);
	end(1);
	mal_ranks_update(&controller);
	assert_false(step.segment.header->borrowers);
	mal_borrower_set(&step.segment, 2, true);
	mal_borrower_set(&step.segment, 0, true);
	end(0);
	mal_ranks_update(&controller);
	assert_true(step.segment.header->borrowers);
}

/* The rank is killed after it took or freed a CPU, before it updated free_cpus. */
static void free_cpus_are_counted_again(void **state)
{
	(void)state;
	assert_true(mal_word_lend(word(0), 0));
	mal_free_check(&step.segment, 0);
	assert_int_equal(step.segment.header->free_cpus, 1);
	assert_true(mal_word_borrow(word(0), 1));
	mal_word_reclaim(word(0), 0);
	assert_true(mal_word_lend(word(5), 2));
	end(2);
	mal_ranks_update(&controller);
	/* CPU 0 is not free, whatever was said; those of the dead are. */
	assert_int_equal(step.segment.header->free_cpus, 1 << 4 | 1 << 5);
}

/* The rank ended in order, and is killed before it lent a CPU moved to it. */
static void killed_while_it_leaves(void **state)
{
	(void)state;
	step.segment.ranks[1].state = MAL_RANK_ENDED;
	assert_true(mal_word_move(word(0), 0, 1));
	mal_ranks_update(&controller);
	assert_false(is_free(0));
	end(1);
	mal_ranks_update(&controller);
	assert_true(is_free(0));
	assert_true(is_free(2) && is_free(3));
	assert_int_equal(step.segment.header->free_cpus, 1 << 0 | 1 << 2 | 1 << 3);
}

/*
 * The rank took its CPU back, and is killed before it sent the borrower's thread away: send that
 * away before the CPU is free.
 */
static void killed_while_it_evicts(void **state)
{
	struct mal_thread_slot *slot = mal_thread_slot(&step.segment, 0, 1);

	(void)state;
	slot->tid = mal_thread_slot(&step.segment, 0, 0)->tid = pids[0];
	mal_thread_slot(&step.segment, 0, 0)->cpu = 0;
	slot->cpu = 2;
	end(1);
	mal_ranks_update(&controller);
	assert_true(slot->cpu < 2);
	assert_true(is_free(2));
}

/* The rank is killed while it grants a CPU to a rank that waits by now and does not know of it. */
static void killed_while_it_grants(void **state)
{
	(void)state;
	assert_true(mal_word_grant(word(2), 1, 0));
	assert_true(mal_word_grant(word(3), 1, 2));
	mal_request_open(&step.segment, 2, 1, 0, 1, false);
	end(1);
	mal_ranks_update(&controller);
	assert_true(is_free(2));
	assert_int_equal(state_of(3).user, 2);
}

/* CPUs above 1 may not exist here: bind the threads of all ranks to CPU 0. */
static void bind_to_0(void)
{
	for (unsigned int rank = 0; rank < RANKS; rank++) {
		mal_bind_thread(pids[rank], 0);
		mal_bind_thread(idle_threads[rank], 0);
	}
}

/* Rank 0's threads are on CPUs 0 and 1, which must exist. */
static void need_cpus(void)
{
	struct mal_cpumask mask;

	if (mal_cpumask_get_affinity(0, &mask) < 0 || !mal_cpumask_has(&mask, 0) ||
	    !mal_cpumask_has(&mask, 1))
		skip();
	bind_to_0();
	mal_cpumask_parse("0-1", &mask, NULL);
	assert_int_equal(mal_cpumask_set_affinity(pids[0], &mask), 0);
	assert_int_equal(mal_bind_thread(idle_threads[0], 1), 0);
}

static bool may_run_on(pid_t tid, unsigned int cpu)
{
	struct mal_cpumask mask;

	assert_int_equal(mal_cpumask_get_affinity(tid, &mask), 0);
	return mal_cpumask_has(&mask, cpu);
}

/* Whether our answer to the pool's first controller starts with LINE. */
static bool says(const char *line)
{
	char *text = mal_pool_describe(&controller);
	bool same = strncmp(text, line, strlen(line)) == 0;

	free(text);
	return same;
}

/* The controller looks again when SECONDS have passed. */
static void settle(double seconds)
{
	now += (uint64_t)(seconds * 1e9);
	mal_evict_settle(&controller);
}

/*
 * A CPU is taken away: all threads on it leave, also those in no team, before another rank gets it.
 */
static void threads_leave_before_a_cpu_changes(void **state)
{
	(void)state;
	need_cpus();
	assert_int_equal(mal_evict_withdraw(&controller, "1", NULL), 0);
	assert_false(may_run_on(pids[0], 1) || may_run_on(idle_threads[0], 1));
	assert_true(says("0,2-5 \n"));
}

/* Not while a rank is binding threads: it may have read the words before. */
static void leaves_when_nobody_binds(void **state)
{
	(void)state;
	need_cpus();
	step.segment.ranks[2].binding = 1;
	assert_int_equal(mal_evict_withdraw(&controller, "1", NULL), -1);
	assert_true(says("0-5 1\n"));
	settle(0.1);
	assert_true(says("0-5 1\n"));
	step.segment.ranks[2].binding = 0;
	settle(0.1);
	assert_true(says("0,2-5 \n"));
}

/*
 * A thread that the program binds itself stays: the report says so, and the CPU stays unused until
 * the thread has gone.
 */
static void thread_bound_by_the_program_keeps_its_cpu(void **state)
{
	(void)state;
	need_cpus();
	stubborn = idle_threads[0];
	assert_int_equal(mal_evict_withdraw(&controller, "1", NULL), -1);
	assert_false(mal_cpumask_count(&controller.leaving.kept));
	settle(2);
	assert_false(controller.settling.until);
	assert_true(mal_cpumask_has(&controller.leaving.kept, 1));
	assert_true(says("0-5 1\n"));
	assert_int_equal(mal_evict_withdraw(&controller, "1", NULL), -1);
	/* It is not looked at more often for being asked again. */
	assert_false(controller.settling.until);
	stubborn = 0;
	settle(2);
	assert_true(says("0,2-5 \n"));
}

/* The rank ended in order, and its process goes on. */
static void former_rank_leaves(void **state)
{
	(void)state;
	need_cpus();
	step.segment.ranks[0].state = MAL_RANK_ENDED;
	mal_ranks_update(&controller);
	assert_int_equal(mal_evict_withdraw(&controller, "1", NULL), 0);
	assert_false(may_run_on(idle_threads[0], 1));
}

/* A CPU that it was leaving is offered to it again. */
static void cpu_being_left_is_offered_again(void **state)
{
	(void)state;
	need_cpus();
	step.segment.ranks[2].binding = 1;
	assert_int_equal(mal_evict_withdraw(&controller, "1", NULL), -1);
	assert_int_equal(mal_idle_offer(&controller, "1", NULL), 0);
	assert_true(says("0-5 \n"));
	assert_int_not_equal(state_of(1).owner, MAL_NOBODY);
}

/* We are the first of two steps. The other one has far more work. */
static void open_pool(void)
{
	struct mal_sample *last = controller.last_own;

	bind_to_0();
	step.arguments.socket = MAL_SOCKET_DIR "/we";
	assert_int_equal(mal_pool_set(&controller, "we:0-5:0-7 they:6-7:0-7", NULL), 0);
	controller.totals_own.windows = 1;
	for (unsigned int rank = 0; rank < RANKS; rank++)
		last[rank] = (struct mal_sample){.running = true, .elapsed_s = 1, .work_s = 0.1};
	answer = "6-7 \n2 0 9.0 0.0 6\n";
}

static void look(void)
{
	now += 500000000;
	mal_pool_update(&controller);
}

/* The other step gets our CPUs after our threads have left them, not before. */
static void passed_on_when_left(void **state)
{
	(void)state;
	open_pool();
	step.segment.ranks[2].binding = 1;
	look();
	look();
	assert_true(mal_cpumask_count(&controller.leaving.cpus));
	look();
	assert_string_equal(reported, "");
	step.segment.ranks[2].binding = 0;
	settle(0.1);
	look();
	assert_memory_equal(reported, "offer ", 6);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(killed_borrower_asks_no_more), CASE(free_cpus_are_counted_again),
		CASE(killed_while_it_leaves),	    CASE(killed_while_it_evicts),
		CASE(killed_while_it_grants),	    CASE(threads_leave_before_a_cpu_changes),
		CASE(leaves_when_nobody_binds),	    CASE(thread_bound_by_the_program_keeps_its_cpu),
		CASE(former_rank_leaves),	    CASE(cpu_being_left_is_offered_again),
		CASE(passed_on_when_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
