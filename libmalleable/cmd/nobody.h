/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nobody.h: what users wrote is read in a child that has given up root.
 *
 * Its user is the system's user malleable where there is one, else nobody. Other
 * processes of that user may stop or kill it, which is said, but neither trace it nor change its
 * limits.
 */
#pragma once

#include <sys/types.h>

/*
 * As root, start a child without root and without our terminal, which ends with what RUN returns,
 * or with 1 if it cannot give up root, and is killed when we end. Returns its process, or -1.
 * Errors are said, as of `malleable COMMAND`.
 */
pid_t mal_nobody_start(const char *command, int (*run)(void *argument), void *argument);

/* Wait for CHILD, and return its exit status: 1, with a word, if it was stopped or killed. */
int mal_nobody_end(const char *command, pid_t child);
