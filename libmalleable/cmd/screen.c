/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* screen.c: the terminal as a screen of lines, by ncurses. */
#include "libmalleable/cmd/screen.h"

#ifdef HAVE_NCURSES
#include <locale.h>
#include <ncurses.h>
#include <string.h>

#define LINE_SIZE 512

int mal_screen_open(struct mal_error *err)
{
	setlocale(LC_CTYPE, "");
	if (!initscr())
		return mal_fail(err, "unknown terminal type");
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	return 0;
}

void mal_screen_close(void)
{
	endwin();
}

int mal_screen_columns(void)
{
	return COLS;
}

void mal_screen_paint(FILE *lines, char bold)
{
	char line[LINE_SIZE];
	int row = 0;

	erase();
	while (row < LINES && fgets(line, sizeof(line), lines)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == bold)
			attron(A_BOLD);
		mvaddnstr(row++, 0, line + (line[0] != '\0'), COLS);
		attroff(A_BOLD);
	}
	refresh();
}

int mal_screen_key(int ms)
{
	timeout(ms);
	return getch();
}
#else
int mal_screen_open(struct mal_error *err)
{
	return mal_fail(err,
			"built without ncurses; malleable status --watch prints again and again");
}

void mal_screen_close(void)
{
}

int mal_screen_columns(void)
{
	return 0;
}

void mal_screen_paint(FILE *lines, char bold)
{
	(void)lines;
	(void)bold;
}

int mal_screen_key(int ms)
{
	(void)ms;
	return -1;
}
#endif
