/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lend.h: the primary thread waits in MPI outside any region: its rank's CPUs are for the others meanwhile.
 *
 * SCHED_IDLE for the waiting thread would leave it without the CPU for up to 1.4 s at a time once a borrower
 * computes there (measured, Linux 6.18), so a message from a third rank would go unseen. The thread sleeps instead,
 * LEND_NAP_NS at most, between two polls of MPI, and only while a borrower is on its CPU; Open MPI calls
 * sched_yield() between polls, which is where that happens (wait.c).
 */
#ifndef MAL_RANK_LEND_H
#define MAL_RANK_LEND_H

/* Before the blocking call: give back what is borrowed. */
void mal_call_begin(void);

/*
 * The call did not return at once: a wait begins. Until then no clock is read, and what an MPI call takes without waiting
 * counts as serial time of the program.
 */
void mal_wait_begin(void);

/* Between two polls of MPI in a wait: lend after a while, give CPUs to whoever needs them, sleep while ours is used. */
void mal_wait_poll(void);

/* After the call, and the wait if there was one: take everything back. */
void mal_call_end(void);

#endif
