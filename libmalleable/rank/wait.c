/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait.c: a thread enters or leaves a blocking MPI call, or polls inside one. */
#include "libmalleable/rank/wait.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/rank/foreign.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/state.h"

static bool mpi_polls_yield;

void mal_mpi_init(bool polls_yield)
{
	mpi_polls_yield = polls_yield;
	mal_attach();
	if (!mal.active)
		return;
	mal_foreign_baseline();
	if (!mal_self.met)
		mal_become_primary();
}

void mal_mpi_enter(void)
{
	if (!mal.active || mal_self.mpi_depth++)
		return;
	if (mal_self.primary && !mal.depth) {
		mal_self.calling = true;
		mal_call_begin();
		if (!mpi_polls_yield)
			mal_wait_begin();
	} else if (mal_self.begin && !mal_self.cpu_time) {
		mal_self.mpi_begin = mal_ticks();
	}
}

void mal_mpi_leave(bool boundary)
{
	if (!mal_self.mpi_depth || --mal_self.mpi_depth || !mal.active)
		return;
	if (mal_self.calling) {
		mal_self.calling = false;
		mal_call_end();
		if (boundary)
			mal_phase_boundary(MAL_BOUNDARY_COLLECTIVE);
	} else if (mal_self.mpi_begin) {
		/* In a region: the wait was no work. */
		if (mal_self.begin)
			mal_self.begin += mal_ticks() - mal_self.mpi_begin;
		mal_self.mpi_begin = 0;
	}
}

/*
 * Open MPI calls this between polls once mpi_yield_when_idle is set, which our MPI library does. Unless the waiting
 * thread lends it must cost nothing: the program did not ask for yields.
 */
int sched_yield(void)
{
	if (mal_self.calling) {
		if (mal_self.waiting)
			mal_wait_poll();
		else
			mal_wait_begin();
		return 0;
	}
	if (mal_self.mpi_depth && mpi_polls_yield)
		return 0;
	return (int)syscall(SYS_sched_yield);
}
