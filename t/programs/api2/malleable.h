/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * malleable.h: what a program may tell the balancer. All of it is optional: programs are balanced
 * unchanged.
 */
#ifndef MALLEABLE_H
#define MALLEABLE_H

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. */
#define MALLEABLE_API 2

/*
 * What functions return below 0; nothing has changed then. Outside a balanced step all of them do
 * nothing and return 0. None is for signal handlers.
 */
enum malleable_error {
	MALLEABLE_E_INVALID = -1, /* an argument is out of range */
	MALLEABLE_E_THREAD = -2,  /* not the primary thread outside parallel regions and MPI */
	MALLEABLE_E_REFUSED = -3, /* regions of the rank borrow by themselves (OMPT) */
	MALLEABLE_E_FULL = -4,	  /* there is no room for more */
	MALLEABLE_E_NESTING = -5, /* an end without a begin */
};

/*
 * Mark the end of a phase: one round of computing and exchanging, such as a time step. Call it on
 * every rank, on the thread that opens parallel regions and outside them, best after the exchange.
 * The rank's CPUs may change here. Without marks, and where they come no more, phases are found
 * from MPI collectives, repeating regions and other MPI calls. Does nothing outside a balanced
 * step, on other threads, and inside parallel regions. Takes about 10 ns.
 */
void malleable_phase(void);

/*
 * The same under SABO's name, for programs written for that library (its Sect. IV-D). There the
 * call exchanges loads by MPI; here it does not wait for other ranks.
 */
void omp_balanced(void);

/*
 * The number of CPUs that this rank may use now, including borrowed ones; 0 outside a balanced
 * step. Right from the first call on, which makes the process a rank. Size work by it in front of a
 * parallel region: a region that calls it is bound, that is, keeps its team. Thread safe.
 */
int malleable_cpus(void);

/* The number of CPUs that this rank owns, those that it lends included. Thread safe. */
int malleable_cpus_owned(void);

/*
 * Write the numbers of the CPUs that the rank may use now into CPUS, MAX at most: its own, then
 * borrowed ones, each in ascending order. Returns how many there are, which may be more than MAX.
 * Thread safe.
 */
int malleable_cpu_list(int *cpus, int max);

/*
 * A number that differs after others have changed the rank's CPUs, or its plan: for the idle loop
 * of a scheduler. It costs two loads. Thread safe.
 */
unsigned int malleable_changes(void);

/*
 * Between begin and end the calling thread waits outside MPI: for a file, a socket, a device, a
 * child. After 150 us its rank lends its CPUs, if no other of its threads runs; they are back at
 * the end, without the borrower's help. HOW: it sleeps in the kernel (MALLEABLE_WAIT_BLOCKS), or it
 * polls and keeps its CPU (MALLEABLE_WAIT_POLLS). MPI calls in between are part of the wait; a
 * parallel region ends it, and so does longjmp(). An exception does not: end it in a destructor.
 * Pairs nest: only the outermost counts. The report has the time as time in MPI. On the primary
 * thread (that opens regions and calls MPI) outside regions.
 *
 * begin returns how many CPUs the rank lends if the wait is long; 0 also where it may lend none.
 */
enum malleable_wait { MALLEABLE_WAIT_BLOCKS, MALLEABLE_WAIT_POLLS };
int malleable_waiting_begin(int how);
int malleable_waiting_end(void);

/*
 * The rank has work for MOST CPUs in all, its own included, from now on: it takes free ones at
 * once, the nearest first, and others as ranks wait (see malleable_changes()). 0 or 1: no more than
 * its own, but what it has borrowed stays. All threads of the process may run on all of its CPUs;
 * they leave one that its owner takes back without their help, and a blocking call of MPI returns
 * all. For ranks without OpenMP, or whose runtime has no OMPT (MALLEABLE_E_REFUSED). On the primary
 * thread outside regions, MPI and waits. Returns malleable_cpus().
 */
#define MALLEABLE_ALL INT_MAX
int malleable_borrow(int most);

/*
 * The rank needs KEEP CPUs at most from now on: return borrowed ones beyond that, the last borrowed
 * first. 0: all of them; its own stay. Otherwise as malleable_borrow().
 */
int malleable_return(int keep);

/*
 * FUNCTION is called with the number of CPUs that the rank may use (malleable_cpus()) and ARGUMENT
 * when that number has changed: in malleable_phase(), _poll(), _borrow(), _return() and
 * _waiting_end(), on the thread that calls these, never in a parallel region, a signal or a thread
 * of the library. It may call all functions here. Up to 8 functions (MALLEABLE_E_FULL), in their
 * order; the pair is known once. The first call is in the first of these functions after. On the
 * primary thread outside regions.
 */
typedef void malleable_change_function(int cpus, void *argument);
int malleable_on_change(malleable_change_function *function, void *argument);
int malleable_on_change_remove(malleable_change_function *function, void *argument);

/* Call these functions if the number has changed. Returns malleable_cpus(). */
int malleable_poll(void);

#ifdef __cplusplus
}
#endif

#endif
