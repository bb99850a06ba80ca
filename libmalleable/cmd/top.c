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

#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/as_user.h"
#include "libmalleable/cmd/cmd.h"

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
	int columns;
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
	double own = mal_step_number(rank, "count"), lent = mal_step_number(rank, "lent"),
	       load = mal_step_number(rank, "load");
	double here = own > lent ? own - lent : 0, busy = here * (load < 1 ? load : 1);
	char bar[BAR_MAX + 1];
	int at;

	memset(bar, ' ', sizeof(bar));
	at = draw(bar, 0, width, busy, max, '#');
	at = draw(bar, at, width, here - busy, max, '.');
	at = draw(bar, at, width, lent, max, '-');
	draw(bar, at, width, mal_step_number(rank, "borrowed"), max, '+');
	fprintf(out, "%c%5.0f %5.0f %5.0f %5.0f  %.*s %4.0f %%\n", BODY,
		mal_step_number(rank, "rank"), own, lent, mal_step_number(rank, "borrowed"), width,
		bar, 100 * load);
}

static void print_step(FILE *out, const json_t *status, int columns)
{
	const json_t *ranks = json_object_get(status, "ranks"), *rank;
	double measured = mal_step_number(status, "measured_s"), max = 1;
	bool observed = strcmp(mal_step_text(status, "policy"), "observe") == 0;
	double plans = mal_step_number(status, "plans");
	char gain[32] = "1.00 x";
	int width = columns - COLUMNS_OF_NUMBERS;
	size_t i;

	width = width < BAR_MIN ? BAR_MIN : width > BAR_MAX ? BAR_MAX : width;
	/* Balancing did nothing where it only looks on. */
	if (json_is_string(json_object_get(status, "no_estimate")))
		snprintf(gain, sizeof(gain), "not known");
	else if (measured > 0 && !observed)
		snprintf(gain, sizeof(gain), "%.2f x",
			 mal_step_number(status, "unbalanced_s") / measured);
	json_array_foreach(ranks, i, rank)
	{
		double cpus = mal_step_number(rank, "count") + mal_step_number(rank, "borrowed");

		max = cpus > max ? cpus : max;
	}
	fprintf(out, "%c%s  %s  %zu rank%s  %.0f s  gain %s  %.0f plan%s\n", HEAD,
		mal_step_text(status, "step"), mal_step_text(status, "policy"),
		json_array_size(ranks), mal_plural(json_array_size(ranks)),
		mal_step_number(status, "running_s"), gain, plans, plans == 1 ? "" : "s");
	fprintf(out, "%c%5s %5s %5s %5s  %-*s %6s\n", BODY, "rank", "CPUs", "lent", "borr.", width,
		"", "load");
	json_array_foreach(ranks, i, rank) if (json_is_true(json_object_get(rank, "running")))
		print_rank(out, rank, width, max);
}

static int show(const struct mal_controller_process *controller, void *argument, FILE *out)
{
	const struct view *view = argument;
	json_t *status = mal_step_status(controller, NULL);
	const char *name = mal_step_text(status, "step");

	if (status && mal_step_matches(name, view->arguments->wanted))
		print_step(out, status, view->columns);
	json_decref(status);
	return 0;
}

/* Write what all controllers report as lines to OUT. */
static int collect(const struct arguments *arguments, int columns, FILE *out, struct mal_error *err)
{
	struct view view = {arguments, columns};
	struct mal_steps steps;

	if (mal_steps_find(&steps, err) < 0)
		return -1;
	for (size_t i = 0; i < steps.count; i++)
		mal_step_as_user(&steps.controllers[i], show, &view, out);
	if (!steps.count)
		fprintf(out, "%cno balanced step%s on this node\n", BODY,
			steps.others ? " of yours" : "");
	mal_steps_clear(&steps);
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
