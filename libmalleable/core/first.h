/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* first.h: which rank prints what is the same in all ranks of a step. */
#pragma once

#include <stdbool.h>

/* The text after PREFIX in TEXT, NULL if TEXT does not start with it. Calls nothing either. */
char *mal_behind(char *text, const char *prefix);

/*
 * Whether VARIABLES, an environment, which may be NULL, are those of a step's first rank, or of a
 * program that no launcher started. Calls no function of libc's: rank/program/sanitizer.c may not.
 */
bool mal_is_first(char *const *variables);
