/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * offered.h: a wait outside MPI that the program declares: its rank lends its CPUs meanwhile.
 *
 * On the primary thread it is for the rank a call of MPI in which no poll is seen: the helper lends
 * (wait_helper.h), and calls of MPI in it are part of it. A parallel region ends it, and longjmp()
 * out of it. On any other thread the rank lends while all threads sleep (asleep.h).
 *
 * Outside regions and calls of MPI.
 */
#pragma once

#include <stdbool.h>

struct mal_rank;

/*
 * The thread is about to wait: it BLOCKS in the kernel, or polls on its CPU, which the rank keeps.
 * Pairs nest. Returns how many CPUs the rank lends if the wait is long.
 */
int mal_offer_begin(struct mal_rank *rank, bool blocks);

/* The CPUs are back. Returns false if there was no begin. */
bool mal_offer_end(void);
