/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.c: a thread enters or leaves a blocking MPI call, or polls inside one.
 *
 * Invariant: calls nest: a wait begins and ends once (t/unit/test_team.c: calls_nest;
 * t/t2007-calls.t).
 */
#include "libmalleable/rank/wait.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/launcher_table.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/outside.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/pmix/summary.h"
#include "libmalleable/rank/primary.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/wait_helper.h"

/* Not in mal_rank: of the MPI library, in processes that are no ranks too. */
static enum mal_mpi_polling polling;

bool mal_mpi_is_inside(void)
{
	return mal.active || mal_inside();
}

bool mal_mpi_may_tell(void)
{
	return mal_is_first(environ) && !getenv(MAL_ENV_QUIET);
}

/*
 * Stacks grow downwards: a nested call is below its caller. Frames further apart are on different
 * stacks.
 */
#define SAME_STACK (8u << 20)

/*
 * A wait that ends within this part of mal_rank.lend.after, some microseconds, is short: reading
 * the clock would take a good part of its time.
 */
#define SHORT 32
#define POLLS_MAX 1024
/* About so many short waits are worth one that is timed, which counts for all of them. */
#define TIMED_EVERY 32

static void count_polls(struct mal_rank *rank, unsigned int polls)
{
	mal_self.polls_left = rank->polls_own.counted = polls;
}

/*
 * The last polls took TICKS. Slow ones are looked at soon. Where another thread had the CPU that
 * says little of how long a wait had lasted at its first look.
 */
static void learn_polls(struct mal_rank *rank, uint64_t ticks)
{
	unsigned int counted = rank->polls.counted, max = 2 * rank->polls.due;
	uint64_t due = counted * (rank->lend.after / SHORT) / (ticks + 1), known;

	max = max > POLLS_MAX ? POLLS_MAX : max < 2 ? 2 : max;
	rank->polls_own.due = due > max ? max : due ? (unsigned int)due : 1;
	if (rank->polls.first > 1)
		rank->polls_own.first = rank->polls.due;
	ticks = 16 * ticks / counted;
	known = rank->polls.sixteen ? rank->polls.sixteen : ticks;
	ticks = ticks > 2 * known ? 2 * known : ticks;
	rank->polls_own.sixteen = known - known / 8 + ticks / 8;
}

/* A wait began at the call's poll FIRST ago, which is the current one if that is below 2. */
static void begin_wait(struct mal_rank *rank, unsigned int first)
{
	rank->polls_own.timed = first < 2;
	mal_wait_begin(first < 2 ? 0 : (first - 1) * rank->polls.sixteen / 16);
	count_polls(rank, rank->polls.due > 1 ? rank->polls.due - rank->polls.timed : 1);
}

/* A poll of a wait at which the clock is looked at. */
static void look(struct mal_rank *rank)
{
	uint64_t before = rank->lend.last_poll;

	mal_wait_poll();
	rank->polls_own.timed = false;
	if (rank->polls.counted)
		learn_polls(rank, rank->lend.last_poll - before);
	count_polls(rank, rank->polls.due);
	/* It may have slept, and does so again at the next poll. */
	if (rank->lend.next_look == rank->lend.last_poll + rank->lend.look_every)
		mal_self.polls_left = rank->polls_own.counted = 0;
}

uint64_t mal_mpi_owe(struct mal_rank *rank, uint64_t ticks)
{
	uint64_t max = rank->slot->count.serial - rank->phase.serial, pay;

	rank->polls_own.owed += ticks;
	pay = rank->polls.owed < max ? rank->polls.owed : max;
	rank->polls_own.owed -= pay;
	mal_count(&rank->slot->count.serial, -pay);
	mal_count(&rank->slot->count.mpi, pay);
	return pay;
}

unsigned int mal_mpi_draw(unsigned int *seed, unsigned int every)
{
	*seed = *seed * 1103515245u + 12345u;
	return 1 + (*seed >> 16) % (2 * every - 1);
}

/*
 * The short wait that began at tick BEGIN was timed: the others took as long in all.
 */
__attribute__((noinline)) static void weigh(struct mal_rank *rank, uint64_t begin)
{
	rank->polls_own.timed = false;
	rank->polls_own.counted -= mal_self.polls_left - 1;
	learn_polls(rank, rank->primary.last_leave - begin);
	mal_unmanaged_polled(
		rank, mal_mpi_owe(rank, rank->polls.untimed * (rank->primary.last_leave - begin)));
	rank->polls_own.untimed = 0;
	rank->polls_own.until = mal_mpi_draw(&rank->polls_own.seed, TIMED_EVERY);
	rank->polls_own.first = rank->polls.due;
}

/* Apart: calls that do not wait save no register for it. */
__attribute__((noinline)) static void end_wait(struct mal_rank *rank)
{
	uint64_t begin = rank->primary.last_leave;

	mal_call_end();
	if (rank->polls.timed)
		weigh(rank, begin);
	mal_self.polls_left = 0;
}

/* The end of a call in which polls are seen. */
static inline void end_call(struct mal_rank *rank)
{
	mal_self.calling = MAL_CALLS_NOT;
	if (mal_self.waiting) {
		end_wait(rank);
		return;
	}
	if (mal_self.polls_left == rank->polls.first)
		mal_self.tests_left--;
	else if (++rank->polls_own.untimed >= rank->polls.until)
		rank->polls_own.first = 1;
	mal_self.polls_left = 0;
	mal_call_end();
}

/* Leave a call. Returns whether it was one of the primary thread outside regions. */
static inline bool leave(struct mal_rank *rank)
{
	if (!mal_self.mpi_depth || --mal_self.mpi_depth || !rank->active)
		return false;
	if (mal_self.calling == MAL_CALLS) {
		end_call(rank);
		return true;
	}
	if (mal_self.calling) {
		if (mal_self.calling == MAL_CALLS_POLLS_HIDDEN) {
			mal_wait_helper_end(rank);
			return true;
		}
		mal_self.calling = MAL_CALLS_NOT;
		mal_self.waiting = mal_self.testing;
		mal_self.tests_left--;
		return false;
	}
	if (mal_self.mpi_begin) {
		/* Inside a region: do not count the wait as work. */
		if (mal_self.begin)
			mal_self.begin += mal_ticks() - mal_self.mpi_begin;
		mal_self.mpi_begin = 0;
	}
	return false;
}

void mal_mpi_look_back(const void *frame)
{
	if ((uintptr_t)frame - mal_self.mpi_frame < SAME_STACK)
		mal_mpi_unwound();
}

void mal_mpi_unwound(void)
{
	if (!mal_self.mpi_depth)
		return;
	mal_self.mpi_depth = 1;
	leave(&mal);
	mal_self.declared = 0;
}

/* The report says why it knows of no phases. */
static void note_inside(const struct mal_rank *rank)
{
	if (!(atomic_load_explicit(&rank->slot->foreign_threads, memory_order_relaxed) &
	      MAL_FOREIGN_INSIDE))
		atomic_fetch_or(&rank->slot->foreign_threads, MAL_FOREIGN_INSIDE);
}

/* A call of the primary thread outside regions. */
static inline void begin_call(bool collective, unsigned int polls)
{
	mal_self.calling = MAL_CALLS;
	mal_self.collective = collective;
	mal_self.polls_left = polls;
	mal_call_begin();
}

void mal_mpi_begin_hidden(struct mal_rank *rank, bool collective, bool blocks)
{
	mal_wait_helper_blocks(rank, blocks);
	begin_call(collective, 0);
	mal_wait_begin(0);
	mal_wait_helper_begin(rank);
}

/* Any call but the usual one. */
__attribute__((noinline)) static void enter_unusual(bool collective, uintptr_t frame)
{
	if (mal_self.mpi_depth)
		mal_mpi_look_back((const void *)frame);
	if (mal_self.mpi_depth++)
		return;
	mal_self.mpi_frame = frame;
	if (mal_self.testing && mal_mpi_tests_take(collective || polling == MAL_MPI_POLLS_HIDDEN))
		return;
	if (mal_self.primary && !mal.region.depth) {
		if (polling == MAL_MPI_POLLS_HIDDEN)
			mal_mpi_begin_hidden(&mal, collective, false);
		else
			begin_call(collective, mal.polls.first);
	} else {
		if (mal.region.depth)
			note_inside(&mal);
		if (mal_self.begin && !(mal_self.special & MAL_BY_CPU_TIME))
			mal_self.mpi_begin = mal_ticks();
	}
}

/* Without a stack protector, as it is in every call. */
__attribute__((no_stack_protector)) void mal_mpi_enter(bool collective)
{
	/* In place of the frame's address, for which a register would be saved. */
	char here;

	if (!mal.active)
		return;
	if (mal_self.mpi_depth | mal_self.testing | mal.region.depth || !mal_self.primary ||
	    polling == MAL_MPI_POLLS_HIDDEN) {
		enter_unusual(collective, (uintptr_t)&here);
		return;
	}
	mal_self.mpi_depth = 1;
	mal_self.mpi_frame = (uintptr_t)&here;
	begin_call(collective, mal.polls.first);
}

/* Any call but one of the primary thread that did not wait. */
__attribute__((noinline)) static void leave_unusual(enum mal_boundary_kind kind)
{
	if (leave(&mal))
		mal_phase_boundary(kind);
}

void mal_mpi_leave(bool boundary)
{
	enum mal_boundary_kind kind = boundary ? MAL_BOUNDARY_COLLECTIVE : MAL_BOUNDARY_CALL;

	if (!mal.active || mal_self.mpi_depth != 1 || mal_self.calling != MAL_CALLS ||
	    mal_self.waiting) {
		leave_unusual(kind);
		return;
	}
	mal_self.mpi_depth = 0;
	end_call(&mal);
	mal_phase_boundary(kind);
}

#define MEASURED 64

/* How long a call takes us in which nothing happens. */
static void measure_calls(struct mal_rank *rank)
{
	uint64_t begin = mal_ticks();

	for (unsigned int i = 0; i < MEASURED; i++) {
		mal_mpi_enter(false);
		leave(rank);
	}
	rank->polls_own.call = (mal_ticks() - begin) / MEASURED;
}

void mal_mpi_init(enum mal_mpi_polling how)
{
	polling = how;
	mal_attach();
	if (!mal.active)
		return;
	atomic_store_explicit(&mal.slot->uses_mpi, true, memory_order_relaxed);
	mal_threads_ignore(&mal);
	mal_unmanaged_open(&mal);
	if (mal.unmanaged && mal_gomp_kept())
		atomic_store(&mal.slot->reason, mal_gomp_kept());
	if (!mal_self.considered_primary)
		mal_become_primary(&mal);
	measure_calls(&mal);
	mal_summary_begin();
}

void mal_mpi_finalize(void (*progress)(void))
{
	mal_mpi_enter(true);
	if (mal.active)
		mal_phase_count_calls(&mal);
	mal_summary_end(progress, mal_mpi_poll);
	if (mal.active)
		atomic_store(&mal.slot->finalized, mal_ticks());
}

/* Whether all ranks are here, as their launcher has it. */
static bool are_all_here(const struct mal_rank *rank)
{
	unsigned int size;

	return !getenv(MAL_ENV_NODES) &&
	       (!mal_launcher_number(environ, MAL_LAUNCHER_SIZE, UINT_MAX, &size) ||
		size == rank->rank_count);
}

/* When the last rank came to MPI_Finalize, between BEGIN and END; END if that is not known. */
static uint64_t last_came(const struct mal_rank *rank, uint64_t begin, uint64_t end)
{
	uint64_t last = begin;

	if (!are_all_here(rank))
		return end;
	for (unsigned int number = 0; number < rank->rank_count; number++) {
		uint64_t came = atomic_load(&rank->segment.ranks[number].finalized);

		if (!came || came > end)
			return end;
		last = came > last ? came : last;
	}
	return last;
}

void mal_mpi_finalized(void)
{
	struct mal_rank *rank = &mal;
	uint64_t begin = rank->primary.last_leave, unmade;

	if (!leave(rank))
		return;
	unmade = rank->primary.last_leave - last_came(rank, begin, rank->primary.last_leave);
	mal_count(&rank->slot->count.mpi, -unmade);
	mal_outside_unmake(rank, unmade);
	mal_phase_boundary(MAL_BOUNDARY_CALL);
}

/* The report says why it knows of no phases: the primary thread neither waits nor computes. */
__attribute__((noinline)) static void note_waiting(const struct mal_rank *rank)
{
	if (!rank->active || atomic_load(&rank->slot->foreign_threads) & MAL_FOREIGN_WAIT)
		return;
	atomic_fetch_or(&rank->slot->foreign_threads, MAL_FOREIGN_WAIT);
}

/* The first poll that is seen in an unseen wait, or in a call of a loop of tests. */
__attribute__((noinline)) static void poll_first(void)
{
	if (mal_self.calling == MAL_CALLS_POLLS_HIDDEN) {
		mal_wait_helper_withdraw(&mal);
		if (!mal_self.waiting)
			mal_wait_begin(0);
		mal.polls_own.counted = 0;
		look(&mal);
		return;
	}
	mal_mpi_end_tests();
	mal_self.calling = MAL_CALLS;
	mal_call_begin();
	begin_wait(&mal, 1);
}

/* A poll at which more is done than to count it. */
__attribute__((noinline)) static void poll_now(void)
{
	if (!mal_self.calling) {
		if (mal_self.mpi_depth && !mal_self.primary && !mal.region.begin)
			note_waiting(&mal);
		return;
	}
	if (mal_self.waiting)
		look(&mal);
	else if (mal_self.calling == MAL_CALLS)
		begin_wait(&mal, mal.polls.first);
	else
		poll_first();
}

void mal_mpi_poll(void)
{
	if (mal_self.polls_left > 1)
		mal_self.polls_left--;
	else
		poll_now();
}

/*
 * Open MPI calls this between polls when mpi_yield_when_idle is set, which our MPI library does.
 * Skip the system call where the user did not ask to yield.
 */
int sched_yield(void)
{
	bool inside = mal_self.mpi_depth || mal_mpi_in_test > 0;
	uint64_t begin;
	int result;

	mal_mpi_poll();
	if (inside)
		return polling == MAL_MPI_POLLS_YIELD ? 0 : (int)syscall(SYS_sched_yield);
	begin = mal_ticks();
	result = (int)syscall(SYS_sched_yield);
	if (mal_self.primary)
		mal_mpi_yielded(mal_ticks() - begin);
	return result;
}
