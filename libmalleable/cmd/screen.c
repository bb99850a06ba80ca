/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* screen.c: the terminal as a screen of lines, by ncurses. */
#include "libmalleable/cmd/screen.h"

#ifdef HAVE_NCURSES
#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

static void paint(char *lines, char bold)
{
	char *line;

	erase();
	for (int row = 0; row < LINES && (line = strsep(&lines, "\n")); row++) {
		if (line[0] == bold)
			attron(A_BOLD);
		mvaddnstr(row, 0, line + (line[0] != '\0'), COLS);
		attroff(A_BOLD);
	}
	refresh();
}

static int show(const struct mal_screen *screen, struct mal_error *err)
{
	char *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);
	int result = out ? screen->write(screen->argument, COLS, out, err) : -1;

	if (!out || fclose(out) == EOF)
		result = mal_fail_errno(err, "cannot write lines for the screen");
	if (result == 0)
		paint(lines, screen->bold);
	free(lines);
	return result < 0;
}

int mal_screen_watch(const struct mal_screen *screen, const volatile sig_atomic_t *ended,
		     struct mal_error *err)
{
	int result = 0, key = 0;

	setlocale(LC_CTYPE, "");
	if (!initscr()) {
		mal_fail(err, "unknown terminal type");
		return 2;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	timeout((int)(1000 * screen->interval_s));
	while (result == 0 && !*ended && key != 'q' && key != 'Q') {
		result = show(screen, err);
		key = result == 0 ? getch() : 0;
	}
	endwin();
	return result;
}
#else
int mal_screen_watch(const struct mal_screen *screen, const volatile sig_atomic_t *ended,
		     struct mal_error *err)
{
	(void)screen, (void)ended;
	mal_fail(err, "built without ncurses; malleable status --watch prints again and again");
	return 2;
}
#endif
