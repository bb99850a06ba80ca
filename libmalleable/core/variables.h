/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * variables.h: environments as lists, without getenv() and its like, which other preloaded
 * libraries may replace. No lock: for a process that has just started, or a copy.
 */
#pragma once

#include <stddef.h>

/* The text after PREFIX in TEXT, NULL: TEXT does not start with it. Calls no function of libc's. */
char *mal_behind(char *text, const char *prefix);

/* The first entry of NAME at or behind VARIABLES; NULL: it is not set. Calls none either. */
char *const *mal_variable_at(char *const *variables, const char *name);

/* The value of NAME in VARIABLES; NULL: it is not set. Calls none either. */
char *mal_variable(char *const *variables, const char *name);

/* Remove NAME from VARIABLES. */
void mal_variable_remove(char **variables, const char *name);

/*
 * Bytes that a copy of VARIABLES takes, with EXTRA behind it; 0: too many for a stack, which may be
 * that of a thread of PTHREAD_STACK_MIN bytes.
 */
size_t mal_variables_room(char *const *variables, size_t extra);

/* Copy the list, not its texts, to COPY. Returns what is behind that. */
char *mal_variables_copy(char *const *variables, char **copy);
