/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* screen.h: the terminal as a screen of lines, for malleable top; by ncurses, where it is there. */
#ifndef MAL_CMD_SCREEN_H
#define MAL_CMD_SCREEN_H

#include <signal.h>
#include <stdio.h>

#include "libmalleable/base/error.h"

struct mal_screen {
	/* Write lines for COLUMNS to OUT. The first character of each is not shown. */
	int (*write)(const void *argument, int columns, FILE *out, struct mal_error *err);
	const void *argument;
	char bold; /* lines that begin with it are bold */
	double interval_s;
};

/*
 * Show what SCREEN writes again and again, until q, a signal that sets *ENDED, or an error. Returns
 * 0; 1 with ERR; or 2 with ERR: there can be no screen.
 */
int mal_screen_watch(const struct mal_screen *screen, const volatile sig_atomic_t *ended,
		     struct mal_error *err);

#endif
