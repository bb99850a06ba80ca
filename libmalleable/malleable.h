/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* malleable.h: what a program may tell the balancer. Nothing here is needed: programs are balanced unchanged. */
#ifndef MALLEABLE_H
#define MALLEABLE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. */
#define MALLEABLE_API 1

/*
 * Mark the end of a phase: one round of computing and exchanging, such as a time step. Call it on every rank, outside
 * parallel regions, on the thread that opens them; after the exchange is best. The rank's CPUs may change here.
 * Without marks phases are found from MPI collectives and repeating regions. Does nothing outside a balanced step,
 * on other threads, and inside parallel regions. Costs some 10 ns.
 */
void malleable_phase(void);

/*
 * The same under the name that SABO gave it, for programs written for that library (its Sect. IV-D). There it
 * exchanges loads by MPI; here it does not wait for other ranks.
 */
void omp_balanced(void);

/* The number of CPUs that this rank may use now, borrowed ones included; 0 outside a balanced step. Thread safe. */
int malleable_cpus(void);

#ifdef __cplusplus
}
#endif

#endif
