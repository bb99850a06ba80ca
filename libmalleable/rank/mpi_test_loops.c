/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi_test_loops.c: loops of MPI_Test, MPI_Iprobe and the like.
 *
 * Invariant: a loop of tests that computes between them is no wait (t/unit/test_team.c:
 * tests_beside_work_are_no_wait; t/t2009-decisions.t).
 *
 * The clock is read once in many tests, as reading it takes as long as a test. The test behind some
 * looks is timed by itself: what the others take beyond that is work between them. Such a loop may
 * end without any call: the program just computes again. So while CPUs are lent in one, a watching
 * thread follows the CPU time of the primary thread, and takes the CPUs back.
 */
#include "libmalleable/rank/mpi_test_loops.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/fpstate.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/state/rank.h"

/*
 * Tests between two looks at the clock: initially, and at most. The first looks come sooner, each
 * after twice as many tests as the one before, and notice only whether the program pauses between
 * tests.
 */
#define TESTS_FIRST 64
#define TESTS_MAX 1024
#define TESTS_EARLY 2
#define PAUSE_S 50e-6
/* A loop that takes more CPU time per test does much else. */
#define TEST_S 2e-6
/*
 * So does one that spends more time between tests than this many times what it spends in them:
 * pieces of work may be as short as a test. A loop that polls for other things too, and reads the
 * clock, takes twice as long as its tests.
 */
#define BETWEEN 3
/* That is judged over so many looks. After one of TIMED_EVERY a test is timed. */
#define LOOKS 8
#define TIMED_EVERY 8
/* Approximate interval between two looks of a waiting loop. */
#define LOOK_EVERY_S 20e-6
/*
 * Interval of the watching thread. A primary thread that computed for LEFT_AFTER_NS since its last
 * look has left the loop.
 */
#define WATCH_EVERY_NS 1000000
#define LEFT_AFTER_NS 1000000

__thread signed char mal_mpi_in_test;

/* The loop of tests that the primary thread is in. */
static struct {
	unsigned int due;   /* tests from the last look to the next */
	unsigned int looks; /* at this loop, but for early ones */
	bool early;	    /* so far there was no pause */
	uint64_t begun;	    /* tick */
	bool timing;	    /* the next test, or this one, is timed by itself */
	uint64_t entered;   /* its tick; 0: not yet */
	/* ticks that a test takes if nothing disturbs; 0: none was timed yet */
	uint64_t inside;
	uint64_t yielded;	 /* ticks in sched_yield() since the last look */
	uint64_t tested, worked; /* ticks in tests and between them, of the last looks */
	uint64_t looked;	 /* tick, 0: not yet */
	/* the tests before the last look took long; USED and SWITCHES were read then */
	bool slow;
	uint64_t used;
	long switches;
	uint64_t test, pause; /* TEST_S, PAUSE_S in ticks */
	uint64_t look_every;
} tests;

static bool try_take(struct mal_rank *rank)
{
	return !atomic_exchange_explicit(&rank->watch_own.taken, true, memory_order_acquire);
}

static void drop(struct mal_rank *rank)
{
	atomic_store_explicit(&rank->watch_own.taken, false, memory_order_release);
}

static void take(struct mal_rank *rank)
{
	while (!try_take(rank))
		syscall(SYS_sched_yield);
}

/* Watch one loop. */
static void watch_loop(struct mal_rank *rank, uint32_t loop)
{
	struct timespec every = {0, WATCH_EVERY_NS};
	uint32_t looks = atomic_load(&mal.watch.looks) - 1;
	uint64_t begin = 0;

	while (atomic_load(&mal.watch.armed) == loop) {
		uint64_t now = mal_clock_ns(mal_thread_clock(rank->primary.tid));

		if (looks != atomic_load(&mal.watch.looks)) {
			looks = atomic_load(&mal.watch.looks);
			begin = now;
		} else if (now - begin > LEFT_AFTER_NS && try_take(rank)) {
			bool left = atomic_load(&mal.watch.armed) == loop &&
				    looks == atomic_load(&mal.watch.looks) && rank->active;

			if (left) {
				atomic_store(&mal.watch_own.armed, 0);
				mal_wait_abandon(rank);
			}
			drop(rank);
		}
		nanosleep(&every, NULL);
	}
}

static void *watch_loops(void *nothing)
{
	for (;;) {
		uint32_t loop = atomic_load(&mal.watch.armed);

		if (loop)
			watch_loop(&mal, loop);
		else
			mal_futex_wait(&mal.watch_own.armed, 0, 1000000000);
	}
	return nothing;
}

/* CPUs are lent now. */
static void arm(struct mal_rank *rank)
{
	if (!rank->watch.started) {
		rank->watch_own.started = true;
		mal_threads_start_own(watch_loops);
	}
	if (atomic_load_explicit(&rank->watch.armed, memory_order_relaxed))
		return;
	rank->watch_own.loops += 2;
	atomic_store(&rank->watch_own.armed, rank->watch.loops | 1);
	mal_futex_wake(&rank->watch_own.armed, 1);
}

void mal_mpi_end_tests(void)
{
	mal_self.tests_left = TESTS_EARLY;
	tests.looked = 0;
	tests.timing = false;
	if (!mal_self.testing)
		return;
	take(&mal);
	atomic_store(&mal.watch_own.armed, 0);
	mal_self.testing = false;
	mal_self.waiting = true; /* also where a call of MPI was left by a jump */
	mal_call_end();
	drop(&mal);
}

bool mal_mpi_tests_take(bool wait)
{
	if (wait) {
		mal_mpi_end_tests();
		return false;
	}
	mal_self.calling = MAL_CALLS_IN_TESTS;
	mal_self.waiting = false;
	return true;
}

/* Count TICKS, in which COUNT tests were made. Returns whether the loop computes between them. */
static bool computes(uint64_t count, uint64_t ticks)
{
	uint64_t tested = count * tests.inside + tests.yielded;

	if (tested > ticks || !tests.inside)
		tested = ticks;
	tests.tested += tested - tests.tested / LOOKS;
	tests.worked += ticks - tested - tests.worked / LOOKS;
	return tests.worked > BETWEEN * tests.tested;
}

/*
 * COUNT tests took TICKS, which is long: did the thread use little CPU time, or sleep in each test?
 */
static enum { UNKNOWN, WAITS, COMPUTES } judge_slow(uint64_t count, uint64_t ticks)
{
	struct rusage usage;
	uint64_t used, cpu;
	uint64_t switches;
	bool known = tests.slow;

	getrusage(RUSAGE_THREAD, &usage);
	used = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	cpu = mal_s_to_ticks((double)(used - tests.used) * 1e-6);
	switches = (uint64_t)(usage.ru_nvcsw - tests.switches);
	tests.slow = true;
	tests.used = used;
	tests.switches = usage.ru_nvcsw;
	if (!known)
		return UNKNOWN;
	if (switches >= (count + 1) / 2 && cpu <= ticks / 2)
		return WAITS;
	return cpu > count * tests.test || computes(count, cpu) ? COMPUTES : WAITS;
}

static int judge(uint64_t count, uint64_t ticks)
{
	if (ticks > count * tests.test)
		return judge_slow(count, ticks);
	tests.slow = false;
	return computes(count, ticks) ? COMPUTES : WAITS;
}

static void choose_next_look(uint64_t count, uint64_t ticks)
{
	uint64_t next = ticks ? count * tests.look_every / ticks : TESTS_MAX;

	tests.due = next < 1 ? 1 : next > TESTS_MAX ? TESTS_MAX : (unsigned int)next;
}

/* The loop goes on, or becomes a wait. */
static void wait_on(struct mal_rank *rank)
{
	take(rank);
	atomic_fetch_add(&mal.watch_own.looks, 1);
	if (mal_wait_is_abandoned(rank)) {
		drop(rank);
		mal_mpi_end_tests();
		return;
	}
	if (mal_self.testing) {
		mal_wait_poll();
	} else {
		mal_self.testing = true;
		mal_self.collective = false;
		mal_call_begin();
		mal_wait_begin(mal_ticks() - tests.begun);
	}
	if (rank->lend.lending)
		arm(rank);
	drop(rank);
}

static void begin_loop(void)
{
	tests.test = mal_s_to_ticks(TEST_S);
	tests.look_every = mal_s_to_ticks(LOOK_EVERY_S);
	tests.pause = mal_s_to_ticks(PAUSE_S);
	tests.begun = mal_ticks();
	tests.early = true;
	tests.due = 1;
	tests.slow = false;
	tests.looks = 0;
	tests.tested = tests.worked = 0;
}

void mal_mpi_test_begins(void)
{
	mal_mpi_in_test = 1;
	if (tests.timing && !mal.region.depth)
		tests.entered = mal_ticks();
}

void mal_mpi_yielded(uint64_t ticks)
{
	tests.yielded += ticks;
}

/*
 * The test was timed, if a wrapper that times is around it. What shares the CPU makes some take
 * longer, none shorter: longer ones count little by little.
 */
static void learn_test(void)
{
	uint64_t took = mal_ticks() - tests.entered, max = tests.inside + tests.inside / 8 + 1;

	if (tests.entered)
		tests.inside = tests.inside && took > max ? max : took;
	tests.timing = false;
	mal_self.tests_left = (long)tests.due - 1;
}

static void look_again(void)
{
	tests.looked = mal_ticks();
	tests.yielded = 0;
	mal_self.tests_left = tests.due;
	if (tests.early || tests.looks++ % TIMED_EVERY)
		return;
	tests.timing = true;
	tests.entered = 0;
	mal_mpi_in_test = -1;
	mal_self.tests_left = 1;
}

__attribute__((noinline)) static void look(struct mal_rank *rank, uint64_t count)
{
	uint64_t ticks = mal_ticks() - tests.looked;
	int what;

	if (!tests.looked) {
		begin_loop();
		look_again();
		return;
	}
	if (tests.early && ticks < count * tests.pause) {
		tests.due *= 2;
		tests.early = tests.due < TESTS_FIRST;
		look_again();
		return;
	}
	tests.early = false;
	what = judge(count, ticks);
	if (what == COMPUTES) {
		mal_mpi_end_tests();
		return;
	}
	if (what == WAITS || mal_self.testing) {
		choose_next_look(count, ticks);
		wait_on(rank);
	}
	look_again();
}

/* Not inlined, so that the caller has no registers to save. */
__attribute__((noinline)) static void look_saving_fp(struct mal_rank *rank)
{
	uint64_t count = (uint64_t)(tests.due - mal_self.tests_left);
	struct mal_fpstate saved;

	mal_self.tests_left = TESTS_EARLY;
	if (!mal_self.primary || !rank->active || rank->region.depth || mal_self.declared)
		return;
	if (tests.timing) {
		learn_test();
		return;
	}
	saved = mal_fpstate_save();
	look(rank, count);
	mal_fpstate_restore(&saved);
}

void mal_mpi_tested(bool done)
{
	if (!done) {
		if (--mal_self.tests_left <= 0)
			look_saving_fp(&mal);
	} else if (mal_self.primary && mal.active && !mal.region.depth) {
		mal_mpi_end_tests();
	}
}
