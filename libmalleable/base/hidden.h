/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hidden.h: words for a program that others must not read: each user reads each command line, in
 * /proc/PID/cmdline. They are in memory that the program gets as a descriptor.
 *
 * Invariant: names of a user's job and files are in no command line (t/t4502-files.t).
 */
#pragma once

/* On a command line, with the number of the descriptor: the words stand for these two. */
#define MAL_HIDDEN_OPTION "--hidden-fd"

/* A descriptor with WORDS, which NULL ends; close-on-exec. -1: errno is set. */
int mal_hidden_make(const char *const *words);

/*
 * At the start of a program: if its command line ends with MAL_HIDDEN_OPTION, have ARGV with the
 * words in its place, in memory that stays. What is no such descriptor changes nothing.
 */
void mal_hidden_take(int *argc, char ***argv);
