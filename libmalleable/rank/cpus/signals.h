/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * signals.h: threads that exist only because of us take no signals of the program's.
 *
 * A thread that the program's team would not have takes none but those that it causes itself. Where
 * a child process or the like takes over its mask, it has that of the primary thread in between.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

struct mal_rank;

/* The calling thread begins: whether it IS_EXTRA, one that exists only because of us. */
void mal_signals_begin(bool is_extra);

/* Whether the calling thread is such a one. */
bool mal_signals_are_hidden(void);

/* Block all signals but those that come of what the thread itself does. */
void mal_signals_block(sigset_t *before);

/*
 * What the primary thread blocks: that is the one that would be here without us. Safe between
 * vfork() and exec.
 */
void mal_signals_read(const struct mal_rank *rank, sigset_t *signals);

/* In such a thread: the primary thread's mask, until it hides them again. Elsewhere nothing. */
void mal_signals_show(const struct mal_rank *rank);
void mal_signals_hide(void);
