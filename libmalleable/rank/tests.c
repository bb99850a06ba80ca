/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests.c: loops of MPI_Test, MPI_Iprobe and the like. A rank that does little else in one is
 * waiting.
 *
 * The clock is read once in many tests, as reading it takes as long as a test. Such a loop may end
 * without any call: the program just computes again. So while CPUs are lent in one, a watching
 * thread follows the CPU time of the primary thread, and takes the CPUs back.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/futex.h"
#include "libmalleable/base/kept.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/state/state.h"
#include "libmalleable/rank/wait.h"

/* Tests between two looks at the clock: initially, and at most. */
#define TESTS_FIRST 64
#define TESTS_MAX 1024
/* A loop that takes less CPU time per test does little else. */
#define TEST_S 2e-6
/* Approximate interval between two looks of a waiting loop. */
#define LOOK_EVERY_S 20e-6
/*
 * Interval of the watching thread. A primary thread that computed for LEFT_AFTER_NS since its last
 * look has left the loop.
 */
#define WATCH_EVERY_NS 1000000
#define LEFT_AFTER_NS 1000000

/* Of the primary thread. Not in mal_rank: it does not begin with zeros. */
static struct {
	unsigned int in_a_row; /* since the last look */
	unsigned int look_at;
	uint64_t looked; /* ticks, 0: not yet */
	/* the tests before the last look took long; USED and SWITCHES were read then */
	bool slow;
	uint64_t used;
	long switches;
	uint64_t test; /* TEST_S in ticks */
	uint64_t look_every;
} tests = {.look_at = TESTS_FIRST};

/*
 * Shared by the primary thread and the watching one. Not in mal_rank, which the primary one writes
 * alone.
 */
static struct {
	/* a lock, held for microseconds by the thread that lends or takes back */
	_Atomic bool taken;
	_Atomic uint32_t armed; /* the loop to watch, an odd number; 0: none */
	_Atomic uint32_t looks;
	uint32_t loops; /* twice the number of loops watched so far; primary thread */
	bool started;
	clockid_t clock; /* of the primary thread's CPU time */
} watch;

static bool try_take(void)
{
	return !atomic_exchange_explicit(&watch.taken, true, memory_order_acquire);
}

static void drop(void)
{
	atomic_store_explicit(&watch.taken, false, memory_order_release);
}

static void take(void)
{
	while (!try_take())
		syscall(SYS_sched_yield);
}

/* Watch one loop. */
static void watch_loop(uint32_t loop)
{
	struct timespec every = {0, WATCH_EVERY_NS};
	uint32_t looks = atomic_load(&watch.looks) - 1;
	uint64_t begin = 0;

	while (atomic_load(&watch.armed) == loop) {
		uint64_t now = mal_clock_ns(watch.clock);

		if (looks != atomic_load(&watch.looks)) {
			looks = atomic_load(&watch.looks);
			begin = now;
		} else if (now - begin > LEFT_AFTER_NS && try_take()) {
			bool left = atomic_load(&watch.armed) == loop &&
				    looks == atomic_load(&watch.looks) && mal.active;

			if (left) {
				atomic_store(&watch.armed, 0);
				mal_wait_abandon();
			}
			drop();
		}
		nanosleep(&every, NULL);
	}
}

static void *watch_loops(void *nothing)
{
	for (;;) {
		uint32_t loop = atomic_load(&watch.armed);

		if (loop)
			watch_loop(loop);
		else
			mal_futex_wait(&watch.armed, 0, 1000000000);
	}
	return nothing;
}

/* CPUs are lent now. */
static void arm(void)
{
	if (!watch.started) {
		watch.started = true;
		pthread_getcpuclockid(pthread_self(), &watch.clock);
		mal_threads_start_own(watch_loops);
	}
	if (atomic_load_explicit(&watch.armed, memory_order_relaxed))
		return;
	watch.loops += 2;
	atomic_store(&watch.armed, watch.loops | 1);
	mal_futex_wake(&watch.armed, 1);
}

void mal_mpi_end_tests(void)
{
	tests.in_a_row = 0;
	tests.look_at = TESTS_FIRST;
	tests.looked = 0;
	tests.slow = false;
	if (!mal_self.testing)
		return;
	take();
	atomic_store(&watch.armed, 0);
	mal_self.testing = false;
	mal_call_end();
	drop();
}

/*
 * COUNT tests took TICKS, which is long: did the thread use little CPU time, or sleep in each test?
 */
static enum { UNKNOWN, IDLE, COMPUTES } judge_slow(unsigned int count, uint64_t ticks)
{
	struct rusage usage;
	uint64_t used, cpu;
	long switches;
	bool known = tests.slow;

	getrusage(RUSAGE_THREAD, &usage);
	used = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	cpu = mal_s_to_ticks((double)(used - tests.used) * 1e-6);
	switches = usage.ru_nvcsw - tests.switches;
	tests.slow = true;
	tests.used = used;
	tests.switches = usage.ru_nvcsw;
	if (!known)
		return UNKNOWN;
	if (cpu <= count * tests.test || (switches >= (long)(count + 1) / 2 && cpu <= ticks / 2))
		return IDLE;
	return COMPUTES;
}

static void choose_next_look(unsigned int count, uint64_t ticks)
{
	uint64_t next = ticks ? count * tests.look_every / ticks : TESTS_MAX;

	tests.look_at = next < 1 ? 1 : next > TESTS_MAX ? TESTS_MAX : (unsigned int)next;
}

/* The loop goes on, or becomes a wait. */
static void wait_on(void)
{
	take();
	atomic_fetch_add(&watch.looks, 1);
	if (mal_wait_is_abandoned()) {
		drop();
		mal_mpi_end_tests();
		return;
	}
	if (mal_self.testing) {
		mal_wait_poll();
	} else {
		mal_self.testing = true;
		mal_self.collective = false;
		mal_call_begin();
		mal_wait_begin();
	}
	if (mal.lending)
		arm();
	drop();
}

__attribute__((noinline)) static void look(void)
{
	unsigned int count = tests.in_a_row;
	uint64_t now = mal_ticks(), ticks = now - tests.looked;

	tests.in_a_row = 0;
	if (!tests.test) {
		tests.test = mal_s_to_ticks(TEST_S);
		tests.look_every = mal_s_to_ticks(LOOK_EVERY_S);
	}
	if (tests.looked && ticks > count * tests.test) {
		switch (judge_slow(count, ticks)) {
		case COMPUTES: mal_mpi_end_tests(); return;
		case UNKNOWN:
			if (!mal_self.testing)
				goto out;
			break;
		case IDLE: break;
		}
	} else {
		tests.slow = false;
	}
	if (tests.looked) {
		choose_next_look(count, ticks);
		wait_on();
		now = mal_ticks();
	}
out:
	tests.looked = now;
}

/* Not inlined, so that the caller has no registers to save. */
__attribute__((noinline)) static void look_unseen(void)
{
	struct mal_kept kept = mal_keep();

	look();
	mal_give_back(&kept);
}

void mal_mpi_tested(bool done)
{
	if (!mal_self.primary || !mal.active || mal.depth)
		return;
	if (done)
		mal_mpi_end_tests();
	else if (++tests.in_a_row >= tests.look_at)
		look_unseen();
}
