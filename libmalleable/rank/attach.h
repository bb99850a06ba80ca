/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* attach.h: a process becomes a rank of a balanced step, and leaves it. */
#ifndef MAL_RANK_ATTACH_H
#define MAL_RANK_ATTACH_H

#include <stdbool.h>

struct mal_rank;

/* Join the balanced step that the environment names, if any. Idempotent, thread safe. */
void mal_attach(void);

/*
 * Print "balance: TEXT" on standard error, the first time only, of what all ranks of the step have
 * in common: its first rank alone does. Thread safe.
 */
void mal_warn_for_all(const char *text);

/*
 * Make the calling thread the primary one if there is none, if that one has ended, or if it is the
 * process's first, has opened no region and sleeps: the program runs in the calling thread then, as
 * one with a large stack. Returns whether it did.
 */
bool mal_become_primary(struct mal_rank *rank);

#endif
