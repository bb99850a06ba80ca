/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* borrower_use.h: whether another rank, an unmanaged one, uses the CPUs that it has borrowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mal_rank;

/*
 * Rank NUMBER has a CPU of ours at tick NOW: whether it uses what it has borrowed, or that is not
 * known yet. Once it did not, for 20 ms, it may borrow no more for 1 s, or until its threads queue.
 * True of a rank whose teams we see, and where the program declares for how many CPUs it has work.
 * Looks up to once a millisecond, which takes 4 us for each thread of NUMBER, and a thirty-second
 * of the time at most. Who has the lock of the CPUs (lock.h).
 *
 * Source: the clock of the CPU time of NUMBER's process, and for how long its threads were ready
 * without a CPU (base/schedstat.h).
 */
bool mal_borrower_uses(const struct mal_rank *rank, unsigned int number, uint64_t now);

/* Whether rank NUMBER may borrow at tick NOW. Looks likewise, each 5 ms. */
bool mal_borrower_may(const struct mal_rank *rank, unsigned int number, uint64_t now);
