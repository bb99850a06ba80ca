/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* screen.h: the terminal as a screen of lines, for malleable top; by ncurses, where it is there. */
#ifndef MAL_CMD_SCREEN_H
#define MAL_CMD_SCREEN_H

#include <stdio.h>

#include "libmalleable/base/error.h"

int mal_screen_open(struct mal_error *err);
void mal_screen_close(void);
int mal_screen_columns(void);

/* Show LINES, each line without its first character; those that begin with BOLD are bold. */
void mal_screen_paint(FILE *lines, char bold);

/* The next key, or a negative number after MS milliseconds. */
int mal_screen_key(int ms);

#endif
