/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_wait_helper.c: waits of an MPI library whose polls are not seen, in which another thread
 * lends.
 *
 * The rank library's wait.c, wait_helper.c, lend.c, cpus.c and bind.c run here as rank 0 of two,
 * with four CPUs each. The helper runs on a stack of its own, and has its turn where the primary
 * thread gives way; and the other way round, at each such moment if `seed` is set. Rank 1 is in a
 * region with twice as many threads as CPUs.
 */
#include "t/unit/rank_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <ucontext.h>

#include "libmalleable/core/env.h"
#include "libmalleable/malleable.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/lock.h"
#include "libmalleable/rank/cpus/sibling_threads.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/wait.h"
#include "libmalleable/rank/wait_helper.h"

#define RANKS 2u
#define CPUS 4u
#define THREADS 8u
#define SEEDS 200u
#define CALLS 60u
#define HELPER (TIDS - 1) /* its tid */

static struct {
	ucontext_t primary, helper;
	void *(*function)(void *);
	char stack[256 << 10];
	struct mal_thread self;
	bool runs;	   /* now */
	unsigned int seed; /* 0: it runs until it sleeps, and only where the test lets it */
	unsigned int starts;
} other;

static unsigned int any(unsigned int below)
{
	other.seed = other.seed * 1103515245u + 12345u;
	return (other.seed >> 16) % below;
}

static void run_helper(void)
{
	struct mal_thread self = mal_self;

	mal_self = other.self;
	test_kernel.caller = HELPER;
	other.runs = true;
	swapcontext(&other.primary, &other.helper);
	test_kernel.caller = self.tid;
	other.self = mal_self;
	mal_self = self;
}

static void change_places(void)
{
	static unsigned int naps;
	bool slept = naps != test_kernel.naps;

	naps = test_kernel.naps;
	if (!other.starts || (other.seed ? any(2) : !other.runs || !slept))
		return;
	if (other.runs) {
		other.runs = false;
		swapcontext(&other.helper, &other.primary);
	} else if (other.seed) {
		run_helper();
	}
}

static void begin_helper(void)
{
	other.function(NULL);
}

bool mal_threads_start_own(void *(*function)(void *))
{
	other.function = function;
	assert_int_equal(other.starts++, 0);
	assert_int_equal(getcontext(&other.helper), 0);
	other.helper.uc_stack.ss_sp = other.stack;
	other.helper.uc_stack.ss_size = sizeof(other.stack);
	makecontext(&other.helper, begin_helper, 0);
	return true;
}

static int set_up(void **state)
{
	(void)state;
	open_ranks(RANKS, CPUS, THREADS);
	for (unsigned int rank = 0; rank < RANKS; rank++) {
		mal.segment.ranks[rank].team = rank ? THREADS : CPUS;
		for (unsigned int i = 0; i < mal.segment.ranks[rank].team; i++) {
			put_thread(rank, i, CPUS * rank + i % CPUS);
			thread_of(rank, i)->home = CPUS * rank + i % CPUS;
		}
	}
	mal.slot->changes = 1;
	assert_true(mal_cpus_refresh(&mal));
	mal.team_own.size = CPUS;
	mal.primary_own.tid = tid_of(0, 0);
	mal_self.primary = mal_self.considered_primary = true;
	mal_mpi_init(MAL_MPI_POLLS_HIDDEN);
	give_way = change_places;
	other.seed = other.starts = 0;
	other.self = (struct mal_thread){0};
	open_region(1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

static void all_is_back(void)
{
	assert_false(mal.lend.lending);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal(cpu_state(cpu).user, 0);
		assert_false(cpu_state(cpu).lent);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(where_is(1, i) / CPUS, 1);
	assert_int_equal(mal.slot->waiting_since, 0);
	assert_int_equal(mal.slot->count.lends, mal.slot->count.reclaims);
}

static unsigned int lent(void)
{
	unsigned int count = 0;

	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		count += cpu_state(cpu).user == 1;
	return count;
}

/* The helper has so many turns. */
static void turns(unsigned int count)
{
	while (other.starts && count--)
		run_helper();
}

/* A wait of MS milliseconds. */
static void wait_ms(unsigned int ms)
{
	mal_mpi_enter(false);
	for (; ms; ms--) {
		turn_clock(MS);
		turns(1);
	}
	mal_mpi_leave(false);
	all_is_back();
}

/* It starts after a long wait. */
static void start_helper(void)
{
	wait_ms(2);
	assert_int_equal(other.starts, 1);
	assert_int_equal(mal.slot->count.lends, 0);
}

static void polls_that_are_seen(void **state)
{
	(void)state;
	mal_mpi_enter(false);
	for (unsigned int i = 0; i < 20; i++) {
		turn_clock(MS);
		mal_mpi_poll();
	}
	assert_int_equal(lent(), CPUS);
	mal_mpi_leave(false);
	all_is_back();
	assert_int_equal(other.starts, 0);
}

/* Polls of 100 ns each. */
static void poll_for(unsigned int polls)
{
	mal_mpi_enter(false);
	for (; polls; polls--) {
		turn_clock(100);
		mal_mpi_poll();
	}
	mal_mpi_leave(false);
}

/*
 * Waits that end within some microseconds read no clock but where they are timed, and count as what
 * they are: half of the time here. That of a long wait is known as well as before.
 */
static void short_waits_read_no_clock(void **state)
{
	uint64_t begin, mpi, serial, reads;

	(void)state;
	mal_mpi_init(MAL_MPI_POLLS_YIELD);
	for (unsigned int i = 0; i < 20; i++)
		poll_for(1000);
	begin = mal_ticks();
	mal.primary_own.last_leave = begin;
	mpi = mal.slot->count.mpi;
	serial = mal.slot->count.serial;
	mal.phase_own.serial = serial;
	test_clock.step = 1;
	for (unsigned int i = 0; i < 10000; i++) {
		turn_clock(1000);
		poll_for(11);
	}
	reads = test_clock.now - begin - 10000 * 2100;
	assert_in_range(reads, 100, 2000);
	poll_for(1);
	begin = mal.primary.last_leave - begin;
	mpi = mal.slot->count.mpi - mpi;
	serial = mal.slot->count.serial - serial;
	assert_int_equal(mpi + serial, begin);
	assert_in_range(mpi, 9 * MS, 11 * MS);
	/* One of 140 us. */
	test_clock.step = 0;
	poll_for(1000);
	mpi = mal.slot->count.mpi;
	mal.polls_own.untimed = 0;
	mal.polls_own.first = mal.polls.due;
	poll_for(1400);
	assert_in_range(mal.slot->count.mpi - mpi, 139 * US, 140 * US);
}

/* Ten polls in MPI_Finalize, 1 ms each, of which the rank counts so many. */
static uint64_t finalize(void)
{
	uint64_t before, came = mal.segment.ranks[1].finalized;

	mal.primary_own.last_leave = mal_ticks();
	before = mal.slot->count.mpi;
	mal_mpi_finalize(NULL);
	if (came)
		mal.segment.ranks[1].finalized = mal_ticks() + (came - 100) * MS;
	for (unsigned int i = 0; i < 10; i++) {
		mal_mpi_poll();
		turn_clock(MS);
	}
	mal_mpi_finalized();
	assert_int_equal(mal_self.mpi_depth, 0);
	mal.segment.ranks[1].finalized = came;
	return mal.slot->count.mpi - before;
}

/* The end of MPI itself is no wait for others, where it is known when the last of them came. */
static void ends_of_mpi_are_no_wait(void **state)
{
	uint64_t known;

	(void)state;
	mal.segment.header->rules &= ~MAL_RULE_LEND;
	mal_mpi_init(MAL_MPI_POLLS_YIELD);
	/* As if the last look had been at all of it but the end. */
	known = mal.slot->count.mpi - mal.outside.last.mpi;
	assert_int_equal(finalize(), 10 * MS);
	mal.segment.ranks[1].finalized = 100 + 4;
	assert_int_equal(finalize(), 4 * MS);
	assert_int_equal(mal.slot->count.mpi - mal.outside.last.mpi, known + 20 * MS);
	mal.segment.ranks[1].finalized = 100 + 10;
	assert_int_equal(finalize(), 10 * MS);
	/* What it cannot have said changes nothing. */
	mal.segment.ranks[1].finalized = 100 + 11;
	assert_int_equal(finalize(), 10 * MS);
	mal.segment.ranks[1].finalized = 100 - 50;
	assert_int_equal(finalize(), 0);
	/* Others are elsewhere. */
	setenv("OMPI_COMM_WORLD_SIZE", "3", true);
	assert_int_equal(finalize(), 10 * MS);
	setenv("OMPI_COMM_WORLD_SIZE", "2", true);
	assert_int_equal(finalize(), 0);
	unsetenv("OMPI_COMM_WORLD_SIZE");
	setenv(MAL_ENV_NODES, "2", true);
	assert_int_equal(finalize(), 10 * MS);
	unsetenv(MAL_ENV_NODES);
}

static void short_waits_start_no_helper(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		mal_mpi_enter(false);
		turn_clock(100 * US);
		mal_mpi_leave(false);
	}
	assert_int_equal(other.starts, 0);
}

static void nothing_to_lend(void **state)
{
	(void)state;
	mal.segment.header->rules &= ~MAL_RULE_LEND;
	wait_ms(2);
	mal.segment.header->rules |= MAL_RULE_LEND;
	mal.cpus_own.owned_count = 1;
	wait_ms(2);
	assert_int_equal(other.starts, 0);
}

static void long_waits_lend(void **state)
{
	(void)state;
	start_helper();
	for (unsigned int i = 1; i < 5; i++) {
		mal_mpi_enter(false);
		turns(1);
		turn_clock(100 * US);
		turns(1);
		turn_clock(10 * MS);
		turns(1);
		assert_int_equal(lent(), CPUS - 1);
		assert_int_equal(cpu_state(0).user, 0);
		assert_false(cpu_state(0).lent);
		mal_mpi_leave(false);
		all_is_back();
		assert_int_equal(mal.slot->count.grants, i * (CPUS - 1));
	}
}

/* Where lending pays only after a long time, the helper is there when that is over. */
static void waits_that_pay_late_lend_in_time(void **state)
{
	uint64_t begin;

	(void)state;
	start_helper();
	mal.lend_own.usual_cost = 10 * MS;
	mal_mpi_enter(false);
	begin = test_clock.now;
	for (unsigned int i = 0; i < 1000 && !lent(); i++)
		turns(1);
	assert_int_equal(lent(), CPUS - 1);
	/* Eight times the cost, and one sleep more. */
	assert_in_range(test_clock.now - begin, 80 * MS, 82 * MS);
	mal_mpi_leave(false);
	all_is_back();
}

/* What the thread is not bound to it may run on: it is where the kernel says. */
unsigned int mal_thread_cpu(int32_t tid)
{
	assert_int_equal(tid, mal.primary.tid);
	return 2;
}

static void thread_that_is_not_bound(void **state)
{
	(void)state;
	start_helper();
	thread_of(0, 0)->bound_cpu = MAL_NO_CPU;
	mal_mpi_enter(false);
	turn_clock(10 * MS);
	turns(3);
	assert_int_equal(lent(), CPUS - 1);
	assert_int_equal(cpu_state(2).user, 0);
	mal_mpi_leave(false);
	all_is_back();
}

/* A call behind a pause wakes the helper, and then it has to look by itself. */
static void many_short_calls(void **state)
{
	(void)state;
	start_helper();
	turn_clock(100 * MS);
	turns(20);
	test_kernel.wakes = 0;
	for (unsigned int i = 0; i < 100; i++) {
		mal_mpi_enter(false);
		turn_clock(10 * US);
		mal_mpi_leave(false);
		turns(i % 2);
	}
	/* It sleeps again, and no call that follows soon wakes it until one has waited long. */
	turns(20);
	mal.primary_own.left_mpi = mal_ticks();
	mal_mpi_enter(false);
	mal_mpi_leave(false);
	assert_int_equal(test_kernel.wakes, 1);
	assert_int_equal(mal.slot->count.lends, 0);
	wait_ms(10);
	assert_true(mal.slot->count.lends > 0);
}

/* Calls so far apart may wait long, however short those before were. */
static void calls_far_apart(void **state)
{
	(void)state;
	start_helper();
	for (unsigned int i = 0; i < 100; i++) {
		mal_mpi_enter(false);
		mal_mpi_leave(false);
		turn_clock(20 * MS);
		turns(20);
	}
	test_kernel.wakes = 0;
	mal_mpi_enter(false);
	assert_int_equal(test_kernel.wakes, 1);
	turn_clock(10 * MS);
	turns(2);
	assert_int_equal(lent(), CPUS - 1);
	mal_mpi_leave(false);
	all_is_back();
}

/* Calls that are closer do not wake it: it looks for them before one can be far from the last. */
static void calls_not_so_far_apart(void **state)
{
	uint64_t rested = 0;

	(void)state;
	start_helper();
	for (unsigned int i = 0; i < 100; i++) {
		mal_mpi_enter(false);
		mal_mpi_leave(false);
		turns(20);
	}
	mal_mpi_enter(false);
	mal_mpi_leave(false);
	while (mal.helper.rest == 0) {
		rested = test_clock.now;
		turns(1);
	}
	assert_true(test_clock.now - rested < 10 * MS);
	mal.primary_own.left_mpi = mal_ticks();
	test_kernel.wakes = 0;
	mal_mpi_enter(false);
	assert_int_equal(test_kernel.wakes, 0);
	turn_clock(10 * MS);
	turns(2);
	assert_int_equal(lent(), CPUS - 1);
	mal_mpi_leave(false);
	all_is_back();
}

/* It sleeps behind the last call. */
static void behind_a_long_wait(void **state)
{
	(void)state;
	start_helper();
	wait_ms(10);
	turns(20);
	test_kernel.wakes = 0;
	mal_mpi_enter(false);
	assert_int_equal(test_kernel.wakes, 1);
	mal_mpi_leave(false);
}

static void collective_calls_alone(void **state)
{
	(void)state;
	start_helper();
	mal.segment.header->rules |= MAL_RULE_COLLECTIVES;
	wait_ms(10);
	assert_int_equal(mal.slot->count.lends, 0);
	mal_mpi_enter(true);
	turn_clock(10 * MS);
	turns(5);
	assert_int_equal(lent(), CPUS - 1);
	mal_mpi_leave(false);
	all_is_back();
}

/* What is lent stays lent, and the primary thread lends its own CPU too. */
static void poll_that_is_seen_late(void **state)
{
	(void)state;
	start_helper();
	mal_mpi_enter(false);
	turn_clock(10 * MS);
	turns(5);
	assert_int_equal(lent(), CPUS - 1);
	for (unsigned int i = 0; i < 5; i++) {
		turn_clock(MS);
		mal_mpi_poll();
		turns(1);
	}
	assert_int_equal(lent(), CPUS);
	mal_mpi_leave(false);
	all_is_back();
}

static void never(void)
{
	fail();
}

/* The primary thread forked in a call while the helper was at work: the child has no helper. */
static void forked_child_has_no_helper(void **state)
{
	(void)state;
	start_helper();
	mal_mpi_enter(false);
	mal.helper_own.wait++;
	mal.active = false;
	give_way = never;
	mal_mpi_poll();
}

/* In a forked child, and at the end. */
static void inactive_ranks_have_no_helper(void **state)
{
	(void)state;
	start_helper();
	mal_mpi_enter(false);
	mal.active = false;
	turn_clock(10 * MS);
	turns(5);
	assert_int_equal(lent(), 0);
	mal.active = true;
	mal_mpi_leave(false);
	all_is_back();
}

/* A long wait that the program declares: the helper lends COUNT CPUs. */
static void declare(int how, unsigned int count)
{
	assert_int_equal(malleable_waiting_begin(how), count);
	turn_clock(100 * US);
	turns(1);
	assert_int_equal(lent(), 0);
	turn_clock(10 * MS);
	turns(3);
	assert_int_equal(lent(), count);
}

/* The helper lends from the first declared wait on, the thread's own CPU too if that blocks. */
static void declared_waits(void **state)
{
	(void)state;
	declare(MALLEABLE_WAIT_BLOCKS, CPUS);
	mal_mpi_enter(true);
	mal_mpi_poll();
	mal_mpi_leave(true);
	assert_int_equal(malleable_waiting_begin(MALLEABLE_WAIT_POLLS), CPUS);
	assert_int_equal(malleable_waiting_end(), 0);
	assert_int_equal(lent(), CPUS);
	assert_int_equal(malleable_borrow(CPUS), MALLEABLE_E_THREAD);
	assert_int_equal(malleable_waiting_end(), 0);
	all_is_back();
	assert_int_equal(malleable_waiting_end(), MALLEABLE_E_NESTING);
	declare(MALLEABLE_WAIT_POLLS, CPUS - 1);
	assert_int_equal(malleable_waiting_end(), 0);
	all_is_back();
	/* Left by a jump, or by a region. */
	declare(MALLEABLE_WAIT_BLOCKS, CPUS);
	mal_mpi_unwound();
	all_is_back();
	declare(MALLEABLE_WAIT_BLOCKS, CPUS);
	assert_int_equal(malleable_waiting_end(), 0);
	/* A call of MPI keeps the CPU on which it polls, as before. */
	mal_mpi_enter(false);
	turn_clock(10 * MS);
	turns(3);
	assert_int_equal(lent(), CPUS - 1);
	mal_mpi_leave(false);
	all_is_back();
	assert_int_equal(malleable_waiting_begin(7), MALLEABLE_E_INVALID);
	mal.region_own.depth = 1;
	assert_int_equal(malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS), MALLEABLE_E_THREAD);
	mal.active = false;
	assert_int_equal(malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS), 0);
}

/* One that begins before the controller does lends once that has begun, though no wait follows. */
static void waits_before_the_controller(void **state)
{
	uint32_t rules = mal.segment.header->rules;

	(void)state;
	mal.segment.header->rules = 0;
	assert_int_equal(malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS), CPUS);
	turn_clock(10 * MS);
	turns(3);
	assert_int_equal(lent(), 0);
	mal.segment.header->rules = rules;
	turn_clock(10 * MS);
	turns(3);
	assert_int_equal(lent(), CPUS);
	assert_int_equal(malleable_waiting_end(), 0);
	all_is_back();
}

/*
 * Short declared waits read no clock but where they are timed, and count as what they are: half of
 * the time here. A long one among them lends all the same, and counts from when the helper saw it.
 */
static void short_declared_waits(void **state)
{
	uint64_t begin, mpi, reads, offered;

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
		malleable_waiting_end();
	}
	begin = mal_ticks();
	mal.primary_own.last_leave = begin;
	mpi = mal.slot->count.mpi;
	offered = mal.declared.ticks;
	mal.phase_own.serial = mal.slot->count.serial;
	mal.polls_own.owed = 0;
	test_clock.step = 1;
	for (unsigned int i = 0; i < 10000; i++) {
		turn_clock(10 * US);
		malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
		turn_clock(10 * US);
		malleable_waiting_end();
	}
	reads = mal_ticks() - begin - 200 * MS;
	test_clock.step = 0;
	assert_in_range(reads, 100, 1000);
	assert_in_range(mal.slot->count.mpi - mpi, 90 * MS, 110 * MS);
	assert_in_range(mal.declared.ticks - offered, 90 * MS, 110 * MS);
	turns(20);
	mpi = mal.slot->count.mpi;
	mal.declared_own.left = 1;
	declare(MALLEABLE_WAIT_BLOCKS, CPUS);
	turn_clock(10 * MS);
	assert_int_equal(malleable_waiting_end(), 0);
	all_is_back();
	assert_in_range(mal.slot->count.mpi - mpi, 19 * MS, 25 * MS);
	assert_in_range(mal.declared.ticks - offered, 109 * MS, 135 * MS);
	/* A poll that is seen is one of a wait. */
	turns(20);
	mal.helper_own.eager = 0;
	mal.declared_own.left = 1;
	malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
	mal_mpi_poll();
	assert_int_not_equal(mal.slot->waiting_since, 0);
	malleable_waiting_end();
	all_is_back();
}

/* A short wait, and how long the helper sleeps after its next look. */
static uint64_t sleep_of_helper(void)
{
	uint64_t begin;

	malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
	turn_clock(10 * US);
	malleable_waiting_end();
	begin = mal_ticks();
	turns(1);
	return mal_ticks() - begin;
}

/* Short waits for some time. */
static void pass(uint64_t ns)
{
	for (uint64_t begin = mal_ticks(); mal_ticks() - begin < ns;)
		sleep_of_helper();
}

/* Where all waits are short the helper looks often only where CPUs could be lent. */
static void looks_are_rare_where_nobody_borrows(void **state)
{
	(void)state;
	start_helper();
	pass(3000 * MS);
	assert_int_equal(sleep_of_helper(), MS);
	mal_borrower_set(&mal.segment, 1, false);
	pass(50 * MS);
	assert_int_equal(sleep_of_helper(), 8 * MS);
	mal_borrower_set(&mal.segment, 1, true);
	sleep_of_helper();
	assert_int_equal(sleep_of_helper(), MS);
	/* Other threads' waits, too, are to be noticed in time. */
	mal_borrower_set(&mal.segment, 1, false);
	pass(50 * MS);
	assert_int_equal(sleep_of_helper(), 8 * MS);
	mal.asleep_own.waits += MAL_ASLEEP_BEGIN;
	sleep_of_helper();
	assert_in_range(sleep_of_helper(), 0, MS);
	mal.asleep_own.waits += MAL_ASLEEP_END;
	/* Behind a long one others may come. */
	pass(50 * MS);
	assert_int_equal(sleep_of_helper(), 8 * MS);
	malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
	turns(9);
	malleable_waiting_end();
	all_is_back();
	pass(50 * MS);
	assert_int_equal(sleep_of_helper(), MS);
	pass(1000 * MS);
	assert_in_range(sleep_of_helper(), 3 * MS, 6 * MS);
}

static bool others_run;

bool mal_all_sleep(const struct mal_rank *rank)
{
	(void)rank;
	return !others_run;
}

bool mal_others_compute(const struct mal_rank *rank, uint64_t ns)
{
	(void)rank;
	(void)ns;
	return others_run;
}

/* Another thread has its turn: its number, and what it is in. */
static struct {
	struct mal_thread self;
	pid_t tid;
} beside[2] = {{.tid = HELPER - 1}, {.tid = HELPER - 2}};

static void change_thread(unsigned int number)
{
	struct mal_thread self = mal_self;
	pid_t tid = test_kernel.caller;

	mal_self = beside[number].self;
	test_kernel.caller = beside[number].tid;
	beside[number].self = self;
	beside[number].tid = tid;
}

static int begin_beside(unsigned int number, int how)
{
	int result;

	change_thread(number);
	result = malleable_waiting_begin(how);
	change_thread(number);
	return result;
}

static int end_beside(unsigned int number)
{
	int result;

	change_thread(number);
	result = malleable_waiting_end();
	change_thread(number);
	return result;
}

/* Another thread has declared a wait, and the helper lends after a while. */
static void let_helper_lend(void)
{
	turn_clock(100 * US);
	turns(1);
	assert_int_equal(lent(), 0);
	turn_clock(10 * MS);
	turns(4);
	assert_int_equal(lent(), CPUS);
}

/* While all threads sleep; which of them has declared a wait does not matter, if it sleeps. */
static void other_threads_wait(void **state)
{
	static jmp_buf back;

	(void)state;
	memset(&beside[0].self, 0, sizeof(beside[0].self));
	memset(&beside[1].self, 0, sizeof(beside[1].self));
	assert_int_equal(end_beside(0), MALLEABLE_E_NESTING);
	assert_int_equal(begin_beside(0, MALLEABLE_WAIT_POLLS), 0);
	assert_int_equal(other.starts, 0);
	assert_int_equal(end_beside(0), 0);
	assert_int_equal(begin_beside(0, MALLEABLE_WAIT_BLOCKS), CPUS);
	assert_int_equal(other.starts, 1);
	let_helper_lend();
	/* Waits nest, and several threads wait. */
	assert_int_equal(begin_beside(0, MALLEABLE_WAIT_POLLS), CPUS);
	assert_int_equal(end_beside(0), 0);
	assert_int_equal(lent(), CPUS);
	assert_int_equal(begin_beside(1, MALLEABLE_WAIT_BLOCKS), CPUS);
	assert_int_equal(end_beside(0), 0);
	all_is_back();
	let_helper_lend();
	/* The primary thread goes on: in MPI, or to a region. */
	mal_mpi_enter(false);
	assert_int_equal(lent(), 0);
	mal_mpi_leave(false);
	all_is_back();
	turn_clock(20 * MS);
	turns(5);
	assert_int_equal(lent(), CPUS);
	assert_int_not_equal(mal.cpus.prepared_changes, mal.slot->changes);
	assert_true(mal_cpus_refresh(&mal));
	all_is_back();
	/* What another thread does is seen, and what it did long ago forgotten. */
	turn_clock(40 * MS);
	turns(5);
	assert_int_equal(lent(), CPUS);
	others_run = true;
	turn_clock(2 * MS);
	turns(2);
	all_is_back();
	turn_clock(100 * MS);
	turns(5);
	all_is_back();
	others_run = false;
	turn_clock(1000 * MS);
	turns(5);
	assert_int_equal(lent(), CPUS);
	/* It jumps out of that; or forks. */
	change_thread(1);
	if (setjmp(back) == 0)
		longjmp(back, 1);
	all_is_back();
	assert_int_equal(mal_self.declared, 0);
	assert_int_equal(malleable_waiting_end(), MALLEABLE_E_NESTING);
	change_thread(1);
	assert_int_equal(begin_beside(0, MALLEABLE_WAIT_BLOCKS), CPUS);
	let_helper_lend();
	mal.active = false;
	assert_int_equal(end_beside(0), 0);
	change_thread(0);
	if (setjmp(back) == 0)
		longjmp(back, 1);
	change_thread(0);
	assert_int_equal(lent(), CPUS);
}

static pthread_barrier_t meeting;
static unsigned int resigned;

void mal_threads_end_primary(void)
{
	assert_int_equal(mal_self.declared, 0);
	resigned++;
}

/* A thread that is what SELF tells ends in a wait in a wait. */
static void *end_in_waits(void *self)
{
	if (self)
		mal_self = *(struct mal_thread *)self;
	assert_int_equal(malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS), CPUS);
	assert_int_equal(malleable_waiting_begin(MALLEABLE_WAIT_POLLS), CPUS);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	return NULL;
}

/* Whichever thread it is, and whoever made it. */
static void threads_end_in_waits(void **state)
{
	struct mal_thread primary = mal_self;
	pthread_t thread;

	(void)state;
	pthread_barrier_init(&meeting, NULL, 2);
	resigned = 0;
	for (unsigned int is_primary = 0; is_primary < 2; is_primary++) {
		if (is_primary)
			mal_self = (struct mal_thread){0};
		pthread_create(&thread, NULL, end_in_waits, is_primary ? &primary : NULL);
		pthread_barrier_wait(&meeting);
		let_helper_lend();
		pthread_barrier_wait(&meeting);
		pthread_join(thread, NULL);
		all_is_back();
		assert_int_equal(mal.asleep.waits % MAL_ASLEEP_BEGUN, 0);
		assert_int_equal(mal.helper.wait % MAL_WAIT_STATES, MAL_WAIT_NOT);
		assert_int_equal(resigned, is_primary + 1);
	}
	pthread_barrier_destroy(&meeting);
}

/* While balancing is disabled the rank takes no CPU that others give it; then it does. */
static void given_while_disabled(void **state)
{
	(void)state;
	assert_int_equal(malleable_disable(), 0);
	assert_true(mal_word_move(&mal.segment.cpus[CPUS].word, 1, 0));
	mal.slot->changes++;
	mal_mpi_enter(false);
	mal_mpi_leave(false);
	assert_int_equal(mal.cpus.owned_count, CPUS);
	assert_int_equal(malleable_cpus(), CPUS);
	assert_int_equal(malleable_enable(), 0);
	assert_int_equal(mal.cpus.owned_count, CPUS + 1);
	/* The next region takes it for a change, too. */
	assert_int_not_equal(mal.cpus.seen_changes, mal.slot->changes);
	assert_int_equal(malleable_cpus(), CPUS + 1);
}

/* Nothing is lent for them where the primary thread is in a region or lends itself. */
static void primary_thread_has_its_own(void **state)
{
	(void)state;
	memset(&beside[0].self, 0, sizeof(beside[0].self));
	assert_int_equal(begin_beside(0, MALLEABLE_WAIT_BLOCKS), CPUS);
	mal.region_own.depth = 1;
	turns(5);
	turn_clock(10 * MS);
	turns(5);
	assert_int_equal(lent(), 0);
	mal.region_own.depth = 0;
	/* Its own lending keeps the CPU on which it polls. */
	mal_mpi_enter(false);
	turn_clock(100 * MS);
	turns(5);
	assert_int_equal(lent(), CPUS - 1);
	assert_int_equal(end_beside(0), 0);
	assert_int_equal(lent(), CPUS - 1);
	mal_mpi_leave(false);
	all_is_back();
}

static pid_t holder;

static void drop_lock(void)
{
	assert_int_equal(mal.lock.holder, holder);
	mal.lock_own.holder = 0;
}

/* A thread waits for the one that has the lock of the CPUs, unless that left it by a jump. */
static void jumps_leave_the_lock(void **state)
{
	static jmp_buf back;
	bool locked;

	(void)state;
	holder = mal.lock_own.holder = HELPER;
	give_way = drop_lock;
	test_kernel.yields = 0;
	locked = mal_cpus_lock(&mal);
	assert_true(locked);
	assert_int_equal(test_kernel.yields, 1);
	assert_false(mal_cpus_lock(&mal));
	mal_cpus_unlock(&mal, false);
	assert_int_equal(mal.lock.holder, mal_self.tid);
	if (setjmp(back) == 0)
		longjmp(back, 1);
	assert_int_equal(mal.lock.holder, 0);
	mal.lock_own.holder = HELPER;
	if (setjmp(back) == 0)
		longjmp(back, 1);
	assert_int_equal(mal.lock.holder, HELPER);
	mal.lock_own.holder = 0;
	give_way = NULL;
}

/* A thread that nobody knows, the primary one, or the helper does anything at any moment. */
static void any_thread_at_any_moment(void **state)
{
	uint64_t grants = 0;

	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		tear_down(state);
		set_up(state);
		other.seed = seed;
		memset(&beside[0].self, 0, sizeof(beside[0].self));
		memset(&beside[1].self, 0, sizeof(beside[1].self));
		for (unsigned int i = 0; i < CALLS; i++) {
			unsigned int number = any(2);
			bool both = !any(3), enters = !any(3);

			begin_beside(number, MALLEABLE_WAIT_BLOCKS);
			if (both)
				begin_beside(!number, MALLEABLE_WAIT_BLOCKS);
			for (unsigned int steps = any(20); steps; steps--) {
				turn_clock(any(200) * US);
				others_run = !any(9);
				change_places();
			}
			if (enters)
				mal_mpi_enter(false);
			for (unsigned int steps = any(9); steps; steps--) {
				turn_clock(any(200) * US);
				change_places();
			}
			end_beside(number);
			change_places();
			if (enters)
				mal_mpi_leave(false);
			if (both)
				end_beside(!number);
			all_is_back();
		}
		grants += mal.slot->count.grants;
		other.seed = 0;
	}
	others_run = false;
	assert_true(grants > SEEDS);
}

/* The primary thread returns, polls, jumps out or opens a region while the helper does anything. */
static void at_any_moment(void **state)
{
	uint64_t grants = 0;

	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		tear_down(state);
		set_up(state);
		other.seed = seed;
		for (unsigned int i = 0; i < CALLS; i++) {
			bool declared = !any(3);

			/* It looks like a short wait. */
			mal.declared_own.left = any(2);
			if (declared)
				malleable_waiting_begin((int)any(2));
			else
				mal_mpi_enter(any(2));
			for (unsigned int steps = any(20); steps; steps--) {
				turn_clock(any(200) * US);
				change_places();
			}
			switch (any(8)) {
			case 0: mal_mpi_poll(); break;
			case 1: mal_wait_helper_withdraw(&mal); break;
			case 2: mal_mpi_unwound(); break;
			default: break;
			}
			change_places();
			if (declared)
				malleable_waiting_end();
			else
				mal_mpi_leave(false);
			all_is_back();
			change_places();
		}
		grants += mal.slot->count.grants;
		/* The other way round the test would end on the helper's stack. */
		other.seed = 0;
	}
	assert_true(grants > SEEDS);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(polls_that_are_seen),
		CASE(short_waits_read_no_clock),
		CASE(ends_of_mpi_are_no_wait),
		CASE(short_waits_start_no_helper),
		CASE(nothing_to_lend),
		CASE(long_waits_lend),
		CASE(waits_that_pay_late_lend_in_time),
		CASE(thread_that_is_not_bound),
		CASE(many_short_calls),
		CASE(calls_far_apart),
		CASE(calls_not_so_far_apart),
		CASE(behind_a_long_wait),
		CASE(collective_calls_alone),
		CASE(poll_that_is_seen_late),
		CASE(forked_child_has_no_helper),
		CASE(inactive_ranks_have_no_helper),
		CASE(declared_waits),
		CASE(waits_before_the_controller),
		CASE(at_any_moment),
		CASE(short_declared_waits),
		CASE(looks_are_rare_where_nobody_borrows),
		CASE(other_threads_wait),
		CASE(threads_end_in_waits),
		CASE(given_while_disabled),
		CASE(primary_thread_has_its_own),
		CASE(jumps_leave_the_lock),
		CASE(any_thread_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
