/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unseen_wait.c: lend in a wait between whose polls the MPI library calls nothing of ours. */
#include "libmalleable/rank/unseen_wait.h"

#include <sys/prctl.h>
#include <time.h>

#include "libmalleable/base/futex.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/state/state.h"

/* How long the helper sleeps between two looks: initially, and at most. */
#define LOOK_FIRST_NS 150000u
#define LOOK_MAX_NS 1000000u
/* Behind the last call it dozes: a call that follows sooner wakes it only if waits were long. */
#define DOZE_NS 8000000u
#define SLEEP_NS 1000000000u
/* So many calls behind a long wait any may be one. */
#define EAGER 64

/* What the low bits of `wait` are. The others number the calls. */
enum { NOT, WAITS, BUSY, STATES = 4 };

/* Not in mal_rank, which one thread writes at a time: all of it while a wait is BUSY the helper. */
static struct {
	_Atomic uint32_t
		wait; /* BUSY: the helper acts for the primary thread, which waits for that */
	_Atomic uint32_t rest; /* a futex: what the helper does while there is no call */
	uint32_t calls;	       /* primary thread, as all below */
	unsigned int eager;    /* calls behind a long wait that are left */
	bool tried;	       /* to start the helper */
	bool started;
} helper;

enum { AWAKE, DOZES, SLEEPS };

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Look at the wait of call NOW. Returns whether that has lasted long enough to lend. */
static bool look(uint32_t now)
{
	bool is_long;

	if (now % STATES != WAITS ||
	    !atomic_compare_exchange_strong(&helper.wait, &now, now - WAITS + BUSY))
		return false;
	is_long = mal_wait_look();
	atomic_store(&helper.wait, now);
	return is_long;
}

/* Until the primary thread has made no call between two looks. Returns what the last one found. */
static uint32_t watch(void)
{
	uint32_t before, now = atomic_load(&helper.wait);
	uint64_t pause = LOOK_FIRST_NS;

	do {
		before = now;
		sleep_ns(pause);
		now = atomic_load(&helper.wait);
		pause = look(now) ? LOOK_FIRST_NS : 2 * pause;
		if (pause > LOOK_MAX_NS)
			pause = LOOK_MAX_NS;
	} while (now != before || now % STATES == WAITS);
	return now;
}

/* Until it makes calls again, of which LAST was the last. */
static void rest(uint32_t last)
{
	atomic_store(&helper.rest, DOZES);
	if (atomic_load(&helper.wait) == last)
		mal_futex_wait(&helper.rest, DOZES, DOZE_NS);
	atomic_store(&helper.rest, SLEEPS);
	while (atomic_load(&helper.wait) == last)
		mal_futex_wait(&helper.rest, SLEEPS, SLEEP_NS);
	atomic_store(&helper.rest, AWAKE);
}

static void *help(void *nothing)
{
	/* Waits in which nothing may be lent are not handed over. */
	mal_self.collective = true;
	prctl(PR_SET_TIMERSLACK, 1);
	mal_bind_new_thread();
	for (;;)
		rest(watch());
	return nothing;
}

/* The wait was long. A thread that cannot be made now is not asked for again. */
static void start(void)
{
	struct mal_kept kept = mal_keep();

	helper.tried = true;
	helper.started = mal_threads_start_own(help);
	mal_give_back(&kept);
}

/* What the helper reads first is what was written before: it sees the call, or we see it rest. */
static void hand_over(void)
{
	uint32_t rest;

	helper.calls += STATES;
	atomic_store(&helper.wait, helper.calls + WAITS);
	rest = atomic_load(&helper.rest);
	if (rest == AWAKE || (rest == DOZES && !helper.eager))
		return;
	atomic_store(&helper.rest, AWAKE);
	mal_futex_wake(&helper.rest, 1);
}

void mal_unseen_begin(void)
{
	/* A poll that is seen finds no wait, and so mal_unseen_withdraw(). */
	mal_self.waiting = false;
	mal_self.calling = MAL_CALLS_UNSEEN;
	if (helper.started && (mal_self.collective || !mal_rule(MAL_RULE_COLLECTIVES)))
		hand_over();
}

void mal_unseen_withdraw(void)
{
	uint32_t now;

	if (mal_self.calling != MAL_CALLS_UNSEEN)
		return;
	mal_self.calling = MAL_CALLS;
	mal_self.waiting = true;
	while (atomic_load(&helper.wait) != helper.calls) {
		now = helper.calls + WAITS;
		if (!atomic_compare_exchange_strong(&helper.wait, &now, helper.calls))
			syscall(SYS_sched_yield);
	}
}

void mal_unseen_end(void)
{
	uint64_t begin = mal.last_leave;

	mal_unseen_withdraw();
	mal_self.calling = MAL_CALLS_NOT;
	mal_call_end();
	if (mal.left_mpi - begin > mal.lend.after) {
		helper.eager = EAGER;
		if (!helper.tried && mal.own_count > 1 && mal_rule(MAL_RULE_LEND))
			start();
	} else if (helper.eager) {
		helper.eager--;
	}
}
