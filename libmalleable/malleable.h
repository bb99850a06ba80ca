/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * malleable.h: what a program may tell the balancer. All of it is optional: programs are balanced
 * unchanged.
 */
#ifndef MALLEABLE_H
#define MALLEABLE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. */
#define MALLEABLE_API 1

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

#ifdef __cplusplus
}
#endif

#endif
