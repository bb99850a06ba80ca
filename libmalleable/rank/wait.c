/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait.c: a thread enters or leaves a blocking MPI call, or polls inside one. */
#include "libmalleable/rank/wait.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/rank/events.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/loose.h"
#include "libmalleable/rank/nodes.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/state.h"
#include "libmalleable/rank/threads.h"

/* A loop that looks so many times in a row, never longer than that apart, waits. */
#define TESTS_IN_A_ROW 64
#define TESTS_APART_S 20e-6

static enum mal_mpi_polling polling;
static struct {
	unsigned int in_a_row;
	uint64_t last;
	uint64_t apart;
} tests; /* of the primary thread */

void mal_mpi_init(enum mal_mpi_polling how)
{
	polling = how;
	mal_attach();
	if (!mal.active)
		return;
	mal_threads_ignore();
	mal_loose_open();
	if (!mal_self.met)
		mal_become_primary();
	mal_nodes_begin();
	mal_events_begin();
}

void mal_mpi_finalize(void (*progress)(void))
{
	mal_mpi_enter(true);
	mal_nodes_end(progress);
	mal_events_end();
}

void mal_mpi_end_tests(void)
{
	tests.in_a_row = 0;
	if (!mal_self.testing)
		return;
	mal_self.testing = false;
	mal_call_end();
}

void mal_mpi_enter(bool collective)
{
	if (!mal.active || mal_self.mpi_depth++)
		return;
	if (mal_self.testing)
		mal_mpi_end_tests();
	if (mal_self.primary && !mal.depth) {
		mal_self.calling = true;
		mal_self.collective = collective;
		mal_call_begin();
		if (polling == MAL_MPI_POLLS_UNSEEN)
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

void mal_mpi_poll(void)
{
	if (!mal_self.calling)
		return;
	if (mal_self.waiting)
		mal_wait_poll();
	else
		mal_wait_begin();
}

void mal_mpi_tested(bool done)
{
	uint64_t now;

	if (!mal_self.primary || !mal.active || mal.depth)
		return;
	if (done) {
		mal_mpi_end_tests();
		return;
	}
	if (++tests.in_a_row < TESTS_IN_A_ROW)
		return;
	now = mal_ticks();
	if (!tests.apart)
		tests.apart = mal_s_to_ticks(TESTS_APART_S);
	if (tests.in_a_row > TESTS_IN_A_ROW && now - tests.last > tests.apart) {
		mal_mpi_end_tests();
	} else if (mal_self.testing) {
		mal_wait_poll();
		now = mal_ticks();
	} else {
		mal_self.testing = true;
		mal_self.collective = false;
		mal_call_begin();
		mal_wait_begin();
	}
	tests.last = now;
}

/*
 * Open MPI calls this between polls once mpi_yield_when_idle is set, which our MPI library does. Unless the waiting
 * thread lends it must cost nothing: the program did not ask for yields.
 */
int sched_yield(void)
{
	mal_mpi_poll();
	if (mal_self.mpi_depth && polling == MAL_MPI_POLLS_YIELD)
		return 0;
	return (int)syscall(SYS_sched_yield);
}
