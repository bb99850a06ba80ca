/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * asleep.h: lend the rank's CPUs while all threads of the process sleep, and one of them that is
 * not the primary thread has declared that it waits.
 *
 * The helper (wait_helper.h) looks whether they sleep, as for threads that nobody told us of. The
 * CPUs are back when such a thread ends its wait, and when the primary thread begins a region or a
 * call of MPI; where another one computes the helper notices that within a millisecond or two.
 */
#pragma once

#include <stdint.h>

struct mal_rank;

/* Any thread but the primary one, in pairs: it waits. It is not the first wait that lends. */
void mal_asleep_begin(struct mal_rank *rank);
void mal_asleep_end(struct mal_rank *rank);

/* The helper: look after these waits. */
void mal_asleep_look(struct mal_rank *rank);

/* In how many ns it has to look again; 0: it has something to see; UINT64_MAX: nobody waits. */
uint64_t mal_asleep_pause(const struct mal_rank *rank);
