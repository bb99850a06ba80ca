/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* attach.h: a process becomes a rank of a balanced step, and leaves it. */
#pragma once

/* Join the balanced step that the environment names, if any. Idempotent, thread safe. */
void mal_attach(void);

/*
 * Print "balance: TEXT" on standard error, the first time only, of what all ranks of the step have
 * in common: its first rank alone does. Thread safe.
 */
void mal_warn_for_all(const char *text);

/* In a rank: another OMPT tool, which has the address TOOL, goes first. Tells the user. */
void mal_attach_behind(const void *tool);
