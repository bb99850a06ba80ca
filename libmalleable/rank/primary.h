/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* primary.h: which thread is the primary one. */
#pragma once

#include <stdbool.h>

struct mal_rank;

/*
 * Make the calling thread the primary one if there is none, if that one has ended, or if it is the
 * process's first, has opened no region and sleeps: the program runs in the calling thread then, as
 * one with a large stack. Returns whether it did.
 */
bool mal_become_primary(struct mal_rank *rank);
