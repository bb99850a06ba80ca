/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * other_load.h: how much of the ranks' CPUs other processes use, or the host of a virtual machine.
 *
 * Invariant: What the ranks used does not count as others' (t/unit/test_others.c: counted).
 */
#ifndef MAL_CONTROLLER_LOAD_OTHER_LOAD_H
#define MAL_CONTROLLER_LOAD_OTHER_LOAD_H

#include <stdio.h>

#include "libmalleable/controller/state/controller.h"

/*
 * For how long processes, or the host, have used CPUS since the machine started, by STAT:
 * /proc/stat, proc_stat(5). Without interrupts, which may be of the ranks' own communication. 0 if
 * STAT is NULL or one of the CPUs is not in it.
 */
double mal_others_busy(FILE *stat, const struct mal_cpumask *cpus);

/* The ranks used RANKS_S in a window. True if the CPUs are to be read again at NOW_S. */
bool mal_others_add(struct mal_others *others, double ranks_s, double now_s);

/* At NOW_S, COUNT CPUs had been busy for BUSY_S; 0: not known, and nothing is counted. */
void mal_others_count(struct mal_others *others, double busy_s, unsigned int count, double now_s);

/* What the ranks used is not known since the last window: count anew from the next. */
void mal_others_skip(struct mal_others *others);

/* The part of the CPUs' time that others used, from 0 to 1; NAN if nothing was counted. */
double mal_others_part(const struct mal_others *others);

#endif
