/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * status.c: malleable status and top: show the balanced steps on this node, or a job's on all its
 * nodes.
 *
 * Invariant: each balanced step of the node is shown (t/t3004-control.t).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/json_number.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/as_user.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/nodes.h"
#include "libmalleable/control/steps.h"
#include "libmalleable/core/step_word.h"
#include "libmalleable/malleable_control.h"

/* How often --watch looks, in seconds. */
#define WATCH_S 2
#define WATCH_MAX_S 3600
/* Columns of a bar, or of the list of a rank's CPUs. */
#define BAR 24

struct arguments {
	const char *wanted;		      /* NULL: all */
	int json, ranks, regions, bars, here; /* options: 0 or another number */
	unsigned int watch_s;		      /* 0: once */
};

/* What has been printed so far, and what is asked now. */
struct output {
	const struct arguments *arguments;
	bool any;
	long deadline_ms;
	const struct mal_controller_process *controller;
};

enum { PRINTED = 0, OTHER_STEP = 1, NO_ANSWER = 2 };

static const char usage[] =
	"[OPTIONS] [JOB|STEP]\n"
	"\n"
	"Shows your balanced steps on this node: which rank has which CPUs, and what\n"
	"balancing has gained. With a job, on all its nodes, through srun. Steps are\n"
	"named JOB.STEP, those of mpirun and of malleable run NAME.PID. Root sees the\n"
	"steps of all users.\n"
	"\n"
	"  --ranks    show the ranks of each step (default if a step is given)\n"
	"  --regions  show the named regions of each step: time, efficiencies\n"
	"  --bars     of each rank a bar, not the list of its CPUs: # for those at work,\n"
	"             . for idle ones, - for lent ones, + for borrowed ones\n"
	"  --here     on this node only, also with a job\n"
	"  --json     as JSON: a list of objects, one for each step\n"
	"  --watch[=SECONDS]\n"
	"             repeat every 2, or SECONDS, seconds until the job or step has ended\n"
	"  --help, --version\n"
	"\n"
	"malleable top shows a bar for each rank on this node, every second.\n"
	"The exit status is 1 if there is no such step.\n";

static struct mal_tool tool = {.name = "malleable status", .usage = usage};

static void print_percent(FILE *out, const json_t *object, const char *key)
{
	char text[32];

	fprintf(out, " %6s", mal_number_format(100 * mal_json_known(object, key), 0, " %", text));
}

/* Draw COUNT CPUs as letters, scaled so that MAX CPUs fill a bar. Returns where they end. */
static char *draw(char *at, const char *end, double count, double max, char letter)
{
	double length = max <= BAR ? count : count * BAR / max;
	/* A controller may report any number, and a product may be NaN. */
	int letters = !(length < BAR) ? BAR : length > 0 ? (int)(length + 0.5) : 0;

	while (letters-- > 0 && at < end)
		*at++ = letter;
	return at;
}

/* RANK's CPUs in BAR, of BAR + 1 bytes. */
static const char *draw_rank(char *bar, const json_t *rank, double max)
{
	double lent = mal_json_number_of(rank, "lent"), load = mal_json_number_of(rank, "load");
	double here = fmax(mal_json_number_of(rank, "count") - lent, 0),
	       busy = here * (load < 1 ? load : 1);
	char *at = draw(bar, bar + BAR, busy, max, '#');

	at = draw(at, bar + BAR, here - busy, max, '.');
	at = draw(at, bar + BAR, lent, max, '-');
	*draw(at, bar + BAR, mal_json_number_of(rank, "borrowed"), max, '+') = '\0';
	return bar;
}

/* The most CPUs that one of the ranks in LIST has. */
static double find_max(const json_t *list)
{
	double max = 1;
	const json_t *rank;
	size_t i;

	json_array_foreach(list, i, rank) max =
		fmax(max, mal_json_number_of(rank, "count") + mal_json_number_of(rank, "borrowed"));
	return max;
}

/* With a bar for up to MAX CPUs, or, MAX 0, the list of its CPUs. */
static void print_rank(FILE *out, const json_t *rank, double max)
{
	const json_t *order = json_object_get(rank, "order");
	char bar[BAR + 1];

	fprintf(out, "  %6.0f %5.0f %-*s", mal_json_number_of(rank, "rank"),
		mal_json_number_of(rank, "count"), BAR,
		max > 0 ? draw_rank(bar, rank, max) : mal_json_text_of(rank, "cpus"));
	print_percent(out, rank, "load");
	print_percent(out, rank, "mpi");
	fprintf(out, " %5.0f %8.0f  ", mal_json_number_of(rank, "lent"),
		mal_json_number_of(rank, "borrowed"));
	if (!json_is_true(json_object_get(rank, "running")))
		fputs("ended", out);
	else
		fputs(json_is_true(json_object_get(rank, "waiting")) ? "waits" : "computes", out);
	if (json_is_true(json_object_get(order, "exact")))
		fputs(", CPUs set", out);
	if (mal_json_number_of(order, "min") > 0)
		fprintf(out, ", at least %.0f", mal_json_number_of(order, "min"));
	if (mal_json_number_of(order, "max") > 0)
		fprintf(out, ", at most %.0f", mal_json_number_of(order, "max"));
	if (mal_json_number_of(rank, "coming") > 0)
		fprintf(out, ", gets %.0f more", mal_json_number_of(rank, "coming"));
	fputc('\n', out);
}

static void print_region(FILE *out, const json_t *region)
{
	const json_t *part = json_object_get(region, "efficiency");

	fprintf(out, "  %-32.63s %10.0f %5.0f %10.3f", mal_json_text_of(region, "name"),
		mal_json_number_of(region, "runs"), mal_json_number_of(region, "ranks"),
		mal_json_number_of(region, "elapsed_s"));
	print_percent(out, part, "parallel");
	print_percent(out, json_object_get(part, "mpi"), "parallel");
	print_percent(out, json_object_get(part, "openmp"), "parallel");
	print_percent(out, region, "load_balance_before");
	fputc('\n', out);
}

static void print_regions(FILE *out, const json_t *list)
{
	const json_t *region;
	size_t i;

	if (!json_array_size(list)) {
		fputs("  no named region has run\n", out);
		return;
	}
	fprintf(out, "  %-32s %10s %5s %10s %6s %6s %6s %6s\n", "region", "runs", "ranks",
		"seconds", "effic.", "MPI", "OpenMP", "loads");
	json_array_foreach(list, i, region) print_region(out, region);
}

static void print_head(FILE *out)
{
	fprintf(out, "%-18s %-12s %-9s %5s %-12s %9s %8s %10s\n", "STEP", "NODE", "POLICY", "RANKS",
		"CPUS", "RUNNING", "GAIN", "ATTAINED");
}

static void print_step(FILE *out, const json_t *status, const struct arguments *arguments)
{
	const json_t *list = json_object_get(status, "ranks"), *rank;
	double measured = mal_json_number_of(status, "measured_s"),
	       gain = mal_json_known(status, "unbalanced_s") / measured,
	       reported_s = mal_json_number_of(status, "running_s"), max;
	/* The user's controller may report any number. */
	long running = reported_s > 0 && reported_s < 1e12 ? (long)reported_s : 0;
	char texts[2][32];
	size_t i;

	fprintf(out, "%-18s %-12s %-9s %5zu %-12s %5ld:%02ld:%02ld",
		mal_json_text_of(status, "step"), mal_json_text_of(status, "node"),
		mal_json_text_of(status, "policy"), json_array_size(list),
		mal_json_text_of(status, "cpus"), running / 3600, running / 60 % 60, running % 60);
	/* Balancing did nothing where it only looks on. */
	if (!(measured > 0) || strcmp(mal_json_text_of(status, "policy"), "observe") == 0)
		gain = NAN;
	fprintf(out, " %8s %10s\n", mal_number_format(gain, 2, " x", texts[0]),
		mal_number_format(mal_json_known(status, "share_of_attainable"), 2, "", texts[1]));
	if (json_is_string(json_object_get(status, "rejected")))
		fprintf(out, "  the policy was rejected: %.250s\n",
			mal_json_text_of(status, "rejected"));
	if (json_is_string(json_object_get(status, "no_estimate")))
		fprintf(out, "  no estimate: %.100s\n", mal_json_text_of(status, "no_estimate"));
	if (arguments->regions)
		print_regions(out, json_object_get(status, "regions"));
	if (!arguments->ranks)
		return;
	fprintf(out, "  %6s %5s %-*s %6s %6s %5s %8s\n", "rank", "count", BAR, "CPUs", "load",
		"MPI", "lent", "borrowed");
	max = arguments->bars ? find_max(list) : 0;
	json_array_foreach(list, i, rank) print_rank(out, rank, max);
}

/* Whether the step NAME is wanted: by JOB, JOB.STEP, or NAME.PID with or without PID. */
static bool is_wanted(const char *name, const char *wanted)
{
	static const char digits[] = "0123456789";
	size_t length;

	if (!wanted || strcmp(name, wanted) == 0)
		return true;
	length = strlen(wanted);
	return strncmp(name, wanted, length) == 0 && name[length] == '.' &&
	       (strspn(wanted, digits) == length ||
		!name[length + 1 + strspn(name + length + 1, digits)]);
}

static int show(void *argument, FILE *out)
{
	const struct output *output = argument;
	const struct arguments *arguments = output->arguments;
	json_t *status = mal_step_status(output->controller, NULL);

	/* No answer: either the step has just ended, or its controller hangs. */
	if (!status)
		return mal_step_no_answer(output->controller) == MALLEABLE_CONTROL_TIMEOUT
			       ? NO_ANSWER
			       : OTHER_STEP;
	if (!is_wanted(mal_json_text_of(status, "step"), arguments->wanted)) {
		json_decref(status);
		return OTHER_STEP;
	}
	if (arguments->json) {
		fputs(output->any ? ",\n" : "", out);
		json_dumpf(status, out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
	} else {
		if (!output->any)
			print_head(out);
		print_step(out, status, arguments);
	}
	json_decref(status);
	return PRINTED;
}

/* On all nodes of the job. Returns the exit status, or -1: there is no srun. */
static int show_on_nodes(const struct arguments *arguments)
{
	const char *words[8] = {"status", "--here"};
	struct mal_error err;
	char job[24];
	int count = 2, result;

	snprintf(job, sizeof(job), "%.*s", (int)strspn(arguments->wanted, "0123456789"),
		 arguments->wanted);
	if (arguments->json)
		words[count++] = "--json";
	if (arguments->ranks)
		words[count++] = "--ranks";
	if (arguments->regions)
		words[count++] = "--regions";
	if (arguments->bars)
		words[count++] = "--bars";
	words[count++] = arguments->wanted;
	result = mal_nodes_run(job, words, &err);
	if (result == -1)
		fprintf(stderr, "malleable status: %s\n", err.text);
	return result == -2 ? -1 : result == 0 ? 0 : 1;
}

static void parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	const struct option options[] = {
		{"ranks", no_argument, &arguments->ranks, 'r'},
		{"regions", no_argument, &arguments->regions, 'R'},
		{"bars", no_argument, &arguments->bars, 'b'},
		{"here", no_argument, &arguments->here, 'l'},
		{"json", no_argument, &arguments->json, 'j'},
		{"watch", optional_argument, NULL, 'w'},
		MAL_OPTIONS_END,
	};
	int option;

	while ((option = mal_option(&tool, argc, argv, false, options)) != MAL_OPTION_END) {
		if (option != 'w')
			continue;
		arguments->watch_s = WATCH_S;
		if (optarg && !mal_number_parse(optarg, 1, WATCH_MAX_S, &arguments->watch_s))
			mal_option_wrong(&tool, "--watch=%s: not a number from 1 to %d", optarg,
					 WATCH_MAX_S);
	}
	if (optind + 1 < argc)
		mal_option_wrong(&tool, "give one job or step");
	arguments->wanted = argv[optind];
	if (arguments->bars || (arguments->wanted && strchr(arguments->wanted, '.')))
		arguments->ranks = true;
}

static int nothing_found(const struct arguments *arguments, size_t others)
{
	if (arguments->wanted)
		fprintf(stderr, "malleable status: no balanced step %s of yours on this node\n",
			arguments->wanted);
	else if (others)
		fprintf(stderr,
			"malleable status: no balanced step of yours on this node; %zu belong to "
			"other users\n",
			others);
	else
		fputs("malleable status: no balanced step on this node\n", stderr);
	return 1;
}

static void show_found(struct output *output, const struct mal_controller_process *controller)
{
	char name[MAL_STEP_NAME];
	int shown = OTHER_STEP;

	output->controller = controller;
	/* One that has to be asked for its name is asked by show() alone. */
	if (mal_step_has_pid(controller->socket) || (mal_step_name(controller, name, NULL) == 0 &&
						     is_wanted(name, output->arguments->wanted)))
		shown = mal_as_user(controller->uid, controller->gid, output->deadline_ms, show,
				    output, stdout);
	output->any |= shown == PRINTED;
	if (shown < 0 || shown == NO_ANSWER)
		fprintf(stderr, "malleable status: no answer from %s\n", controller->socket);
}

/* Of this node. Returns the exit status. */
static int show_here(const struct arguments *arguments)
{
	struct output output = {.arguments = arguments, .deadline_ms = mal_as_user_deadline()};
	struct mal_steps steps;
	struct mal_error err;
	size_t others;

	if (mal_steps_find(&steps, &err) < 0) {
		fprintf(stderr, "malleable status: %s\n", err.text);
		return 1;
	}
	if (*steps.hidden.text)
		fprintf(stderr,
			"malleable status: %s: steps of mpirun and of malleable run are not "
			"shown\n",
			steps.hidden.text);
	if (arguments->json)
		fputs("[", stdout);
	for (size_t i = 0; i < steps.count; i++)
		show_found(&output, &steps.controllers[i]);
	if (arguments->json)
		fputs("]\n", stdout);
	others = steps.others;
	mal_steps_clear(&steps);
	return output.any ? 0 : nothing_found(arguments, others);
}

static int show_once(const struct arguments *arguments)
{
	int result = -1;

	if (arguments->wanted && !arguments->here)
		result = show_on_nodes(arguments);
	return result < 0 ? show_here(arguments) : result;
}

/* Again and again, until a signal, or until the job or step that is wanted is gone. */
static int watch(const struct arguments *arguments)
{
	bool seen = false;

	for (;;) {
		int result;

		if (isatty(STDOUT_FILENO))
			fputs("\033[H\033[2J", stdout);
		result = show_once(arguments);
		fflush(stdout);
		seen |= result == 0;
		if (ferror(stdout) || (result != 0 && arguments->wanted))
			return seen ? 0 : result;
		sleep(arguments->watch_s);
	}
}

/* ARGUMENTS: what is usual. */
static int show_steps(int argc, char **argv, struct arguments arguments)
{
	parse_arguments(argc, argv, &arguments);
	if (arguments.wanted && arguments.wanted[strspn(arguments.wanted, "0123456789.")] != '\0')
		arguments.here = true;
	return arguments.watch_s ? watch(&arguments) : show_once(&arguments);
}

int mal_cmd_status(int argc, char **argv)
{
	return show_steps(argc, argv, (struct arguments){0});
}

int mal_cmd_top(int argc, char **argv)
{
	tool.name = "malleable top";
	return show_steps(
		argc, argv,
		(struct arguments){.here = true, .ranks = true, .bars = true, .watch_s = 1});
}
