/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top.c: malleable top: show the balanced steps on this node live.
 *
 * Invariant: the terminal is left as it was (t/t3004-control.t).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_NCURSES
#include <locale.h>
#include <ncurses.h>
#endif

#include "libmalleable/base/error.h"
#include "libmalleable/base/json_number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/as_user.h"
#include "libmalleable/cmd/ask.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/malleable_control.h"

/* Columns beside the bar. */
#define COLUMNS_OF_NUMBERS 34
#define BAR_MIN 8
#define BAR_MAX 128
/* The first character of a line says whether it is bold. */
#define HEAD '='
#define BODY ' '

struct arguments {
	const char *wanted;
	double interval;
};

struct view {
	const struct arguments *arguments;
	int columns, steps;
	long deadline_ms;
	const char *socket;
	FILE *out;
};

static volatile sig_atomic_t ended;

static void usage(FILE *out)
{
	fputs("Usage: malleable top [--interval=SECONDS] [JOB.STEP]\n"
	      "\n"
	      "Shows your balanced steps on this node as they run: a bar for each rank, # for\n"
	      "CPUs at work, . for idle ones, - for lent ones, + for borrowed ones. q quits.\n",
	      out);
}

static const struct mal_tool tool = {"malleable top", PACKAGE_VERSION, usage};

/* Draw COUNT CPUs as letters, scaled so that MAX CPUs fill WIDTH. */
static int draw(char *bar, int at, int width, double count, double max, char letter)
{
	double length = max <= width ? count : count * width / max;
	/* A controller may report any number, and a product may be NaN. */
	int letters = !(length < width) ? width : length > 0 ? (int)(length + 0.5) : 0;

	while (letters-- > 0 && at < width)
		bar[at++] = letter;
	return at;
}

static void print_rank(FILE *out, const json_t *rank, int width, double max)
{
	double own = mal_json_number_of(rank, "count"), lent = mal_json_number_of(rank, "lent"),
	       load = mal_json_number_of(rank, "load");
	double here = own > lent ? own - lent : 0, busy = here * (load < 1 ? load : 1);
	char bar[BAR_MAX + 1];
	int at;

	memset(bar, ' ', sizeof(bar));
	at = draw(bar, 0, width, busy, max, '#');
	at = draw(bar, at, width, here - busy, max, '.');
	at = draw(bar, at, width, lent, max, '-');
	draw(bar, at, width, mal_json_number_of(rank, "borrowed"), max, '+');
	fprintf(out, "%c%5.0f %5.0f %5.0f %5.0f  %.*s %4.0f %%\n", BODY,
		mal_json_number_of(rank, "rank"), own, lent, mal_json_number_of(rank, "borrowed"),
		width, bar, 100 * load);
}

static void print_step(FILE *out, const json_t *status, int columns)
{
	const json_t *ranks = json_object_get(status, "ranks"), *rank;
	double measured = mal_json_number_of(status, "measured_s"), max = 1;
	bool observed = strcmp(mal_json_text_of(status, "policy"), "observe") == 0;
	double plans = mal_json_number_of(status, "plans");
	char gain[32] = "1.00 x";
	int width = columns - COLUMNS_OF_NUMBERS;
	size_t i;

	width = width < BAR_MIN ? BAR_MIN : width > BAR_MAX ? BAR_MAX : width;
	/* Balancing did nothing where it only looks on. */
	if (json_is_string(json_object_get(status, "no_estimate")))
		snprintf(gain, sizeof(gain), "not known");
	else if (measured > 0 && !observed)
		snprintf(gain, sizeof(gain), "%.2f x",
			 mal_json_number_of(status, "unbalanced_s") / measured);
	json_array_foreach(ranks, i, rank)
	{
		double cpus =
			mal_json_number_of(rank, "count") + mal_json_number_of(rank, "borrowed");

		max = cpus > max ? cpus : max;
	}
	fprintf(out, "%c%s  %s  %zu rank%s  %.0f s  gain %s  %.0f plan%s\n", HEAD,
		mal_json_text_of(status, "step"), mal_json_text_of(status, "policy"),
		json_array_size(ranks), mal_plural(json_array_size(ranks)),
		mal_json_number_of(status, "running_s"), gain, plans, plans == 1 ? "" : "s");
	fprintf(out, "%c%5s %5s %5s %5s  %-*s %6s\n", BODY, "rank", "CPUs", "lent", "borr.", width,
		"", "load");
	json_array_foreach(ranks, i, rank) if (json_is_true(json_object_get(rank, "running")))
		print_rank(out, rank, width, max);
}

static int show(void *argument, FILE *out)
{
	const struct view *view = argument;
	int result;
	json_t *status = mal_ask_status(view->socket, &result);

	if (status)
		print_step(out, status, view->columns);
	json_decref(status);
	return 0;
}

static int show_found(const struct malleable_control_step *step, void *argument)
{
	struct view *view = argument;

	view->steps++;
	view->socket = step->socket;
	if (step->name && mal_ask_matches(step->name, view->arguments->wanted))
		mal_as_user(step->uid, step->gid, view->deadline_ms, show, view, view->out);
	return 0;
}

/* Write what all controllers report as lines to OUT. */
static int collect(const struct arguments *arguments, int columns, FILE *out, struct mal_error *err)
{
	struct view view = {arguments, columns, 0, mal_as_user_deadline(), NULL, out};

	if (malleable_control_steps(show_found, &view) < 0)
		return mal_fail(err, "%s", malleable_control_message(NULL));
	if (!view.steps)
		fprintf(out, "%cno balanced step%s on this node\n", BODY,
			malleable_control_hidden(NULL, 0) > 0 ? " of yours" : "");
	return 0;
}

#ifdef HAVE_NCURSES
static void paint(char *lines)
{
	char *line;

	erase();
	for (int row = 0; row < LINES && (line = strsep(&lines, "\n")); row++) {
		if (line[0] == HEAD)
			attron(A_BOLD);
		mvaddnstr(row, 0, line + (line[0] != '\0'), COLS);
		attroff(A_BOLD);
	}
	refresh();
}

static int paint_steps(const struct arguments *arguments, struct mal_error *err)
{
	char *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);
	int result = out ? collect(arguments, COLS, out, err) : -1;

	if (!out || fclose(out) == EOF)
		result = mal_fail_errno(err, "cannot write lines for the screen");
	if (result == 0)
		paint(lines);
	free(lines);
	return result < 0;
}

/*
 * Show the steps again and again, until q, a signal, or an error. Returns 0; 1 with ERR; or 2 with
 * ERR: there can be no screen.
 */
static int watch_screen(const struct arguments *arguments, struct mal_error *err)
{
	int result = 0, key = 0;

	setlocale(LC_CTYPE, "");
	/* A user's home, which root may have kept (su), has descriptions of terminals too. */
	if (geteuid() == 0)
		unsetenv("HOME");
	if (!initscr()) {
		mal_fail(err, "unknown terminal type");
		return 2;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	timeout((int)(1000 * arguments->interval));
	while (result == 0 && !ended && key != 'q' && key != 'Q') {
		result = paint_steps(arguments, err);
		key = result == 0 ? getch() : 0;
	}
	endwin();
	return result;
}
#else
static int watch_screen(const struct arguments *arguments, struct mal_error *err)
{
	(void)arguments, (void)collect;
	mal_fail(err, "built without ncurses; malleable status --watch prints again and again");
	return 2;
}
#endif

static void end(int number_of_signal)
{
	(void)number_of_signal;
	ended = 1;
}

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"interval", required_argument, NULL, 'i'},
		MAL_OPTIONS_END,
	};
	int option;
	char *rest;

	*arguments = (struct arguments){NULL, 1};
	while ((option = mal_option(&tool, argc, argv, "", options)) != MAL_OPTION_END) {
		switch (option) {
		case 'i':
			arguments->interval = strtod(optarg, &rest);
			if (rest == optarg || *rest ||
			    !(arguments->interval >= 0.1 && arguments->interval <= 3600))
				return mal_option_wrong(
					&tool, "--interval=%s: not 0.1 to 3600 seconds", optarg);
			break;
		default: return option;
		}
	}
	if (optind + 1 < argc)
		return mal_option_wrong(&tool, "give one step");
	arguments->wanted = argv[optind];
	return 0;
}

int mal_cmd_top(int argc, char **argv)
{
	struct arguments arguments;
	struct mal_error err;
	int result = parse_arguments(argc, argv, &arguments);

	if (result)
		return result > 0 ? 0 : 2;
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)) {
		fputs("malleable top: not a terminal; malleable status prints once\n", stderr);
		return 2;
	}
	signal(SIGTERM, end);
	signal(SIGINT, end);
	signal(SIGHUP, end);
	result = watch_screen(&arguments, &err);
	if (result)
		fprintf(stderr, "malleable top: %s\n", err.text);
	return result;
}
