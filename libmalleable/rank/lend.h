/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lend.h: lend the rank's CPUs while its primary thread waits in MPI outside any region.
 *
 * The waiting thread stays SCHED_OTHER: with SCHED_IDLE it would not get the CPU for up to 1.4 s at
 * a time while a borrower computes there (measured, Linux 6.18), and miss messages for as long.
 * Instead it sleeps between two polls of MPI, LEND_NAP_NS at most, and only while a borrower uses
 * its CPU. Open MPI calls sched_yield() between polls, which we interpose (wait.c).
 *
 * While CPUs are lent and taken back the lock of the rank's CPUs is held (cpus/lock.h). All
 * functions: primary thread only, where not said otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mal_rank;

/* Before the helper looks at any wait: the times of all. */
void mal_wait_open(struct mal_rank *rank);

/* Whether the rank may lend, and others would borrow. */
bool mal_lend_concerns_others(const struct mal_rank *rank);

/*
 * All threads of the process sleep (asleep.h): lend its CPUs, or what is free of them to ranks that
 * ask now; and take all back. Any thread; the first with the lock of the CPUs.
 */
void mal_lend_asleep(struct mal_rank *rank, uint64_t now);
void mal_lend_wake(struct mal_rank *rank);

/* Before a blocking call: give back borrowed CPUs. */
void mal_call_begin(void);

/*
 * The call did not return at once: a wait began AGO ticks ago. No clock is read before; time in MPI
 * calls that do not wait counts as serial time.
 */
void mal_wait_begin(uint64_t ago);

/*
 * Between two polls of a wait: after a while lend CPUs to ranks that ask for some, and sleep while
 * a borrower uses ours.
 */
void mal_wait_poll(void);

/*
 * The same where polls are not seen: called by another thread on behalf of the primary one, which
 * polls and does nothing else, and needs its CPU for that. A wait that the primary thread has not
 * begun begins at tick SINCE. Returns whether it is long enough.
 */
bool mal_wait_poll_for(struct mal_rank *rank, uint64_t since);

/*
 * Take the CPUs back because the primary thread computes again although its wait has not ended.
 * Called by another thread, while the primary one is in no function of this file.
 */
void mal_wait_abandon(struct mal_rank *rank);
/* Whether the current wait was abandoned. */
bool mal_wait_is_abandoned(const struct mal_rank *rank);

/* After the call, and the wait if there was one: take all lent CPUs back. */
void mal_call_end(void);
