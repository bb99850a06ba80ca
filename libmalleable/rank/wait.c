/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.c: a thread enters or leaves a blocking MPI call, or polls inside one.
 *
 * Invariant: calls nest: a wait begins and ends once (t/unit/test_team.c: calls).
 */
#include "libmalleable/rank/wait.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/core/env.h"
#include "libmalleable/core/first.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/pmix/summary.h"
#include "libmalleable/rank/primary.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/wait_helper.h"

/* Not in mal_rank: of the MPI library, in processes that are no ranks too. */
static enum mal_mpi_polling polling;
__thread signed char mal_mpi_in_test;

bool mal_mpi_is_inside(void)
{
	return mal.active || mal_inside();
}

bool mal_mpi_may_tell(void)
{
	return mal_is_first(environ) && !getenv(MAL_ENV_QUIET);
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
	if (mal.unmanaged && mal_gomp_is_kept())
		atomic_store(&mal.slot->reason, MAL_REASON_CROWDED);
	if (!mal_self.met)
		mal_become_primary(&mal);
	mal_summary_begin();
}

void mal_mpi_finalize(void (*progress)(void))
{
	mal_mpi_enter(true);
	mal_summary_end(progress, mal_mpi_poll);
}

/*
 * Stacks grow downwards: a nested call is below its caller. Frames further apart are on different
 * stacks.
 */
#define SAME_STACK (8u << 20)

/* Leave a call. Returns whether it was one of the primary thread outside regions. */
static inline bool leave(struct mal_rank *rank)
{
	if (!mal_self.mpi_depth || --mal_self.mpi_depth || !rank->active)
		return false;
	if (mal_self.calling == MAL_CALLS) {
		mal_self.calling = MAL_CALLS_NOT;
		mal_call_end();
		return true;
	}
	if (mal_self.calling) {
		if (mal_self.calling == MAL_CALLS_UNSEEN) {
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
}

void mal_mpi_enter(bool collective)
{
	if (!mal.active)
		return;
	if (mal_self.mpi_depth)
		mal_mpi_look_back(__builtin_frame_address(0));
	if (mal_self.mpi_depth++)
		return;
	mal_self.mpi_frame = (uintptr_t)__builtin_frame_address(0);
	if (mal_self.testing && mal_mpi_tests_take(collective || polling == MAL_MPI_POLLS_UNSEEN))
		return;
	if (mal_self.primary && !mal.region.depth) {
		mal_self.calling = MAL_CALLS;
		mal_self.collective = collective;
		mal_call_begin();
		if (polling == MAL_MPI_POLLS_UNSEEN) {
			mal_wait_begin();
			mal_wait_helper_begin(&mal);
		}
	} else if (mal_self.begin && !(mal_self.special & MAL_BY_CPU_TIME)) {
		mal_self.mpi_begin = mal_ticks();
	}
}

void mal_mpi_leave(bool boundary)
{
	if (leave(&mal))
		mal_phase_boundary(boundary ? MAL_BOUNDARY_COLLECTIVE : MAL_BOUNDARY_CALL);
}

/* The report says why it knows of no phases: the primary thread neither waits nor computes. */
__attribute__((noinline)) static void note_waiting(const struct mal_rank *rank)
{
	if (!rank->active || atomic_load(&rank->slot->strays) & MAL_STRAYS_WAIT)
		return;
	atomic_fetch_or(&rank->slot->strays, MAL_STRAYS_WAIT);
}

/* The first poll that is seen in an unseen wait, or in a call of a loop of tests. */
__attribute__((noinline)) static void poll_first(void)
{
	if (mal_self.calling == MAL_CALLS_UNSEEN) {
		mal_wait_helper_withdraw(&mal);
		mal_wait_poll();
		return;
	}
	mal_mpi_end_tests();
	mal_self.calling = MAL_CALLS;
	mal_call_begin();
	mal_wait_begin();
}

void mal_mpi_poll(void)
{
	if (!mal_self.calling) {
		if (mal_self.mpi_depth && !mal_self.primary && !mal.region.begin)
			note_waiting(&mal);
		return;
	}
	if (mal_self.waiting) {
		mal_wait_poll();
		return;
	}
	if (mal_self.calling == MAL_CALLS)
		mal_wait_begin();
	else
		poll_first();
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
	if (inside && polling == MAL_MPI_POLLS_YIELD)
		return 0;
	begin = mal_ticks();
	result = (int)syscall(SYS_sched_yield);
	if (!inside && mal_self.primary)
		mal_mpi_yielded(mal_ticks() - begin);
	return result;
}
