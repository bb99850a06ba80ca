/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * set.c: malleable set: change CPUs, bounds and policy of a balanced step while it runs.
 *
 * Invariant: what a step cannot do is refused, and changes nothing (t/t3004-control.t).
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/steps.h"

/* How long --wait waits unless it is told, and at most. */
#define WAIT_S 60
#define WAIT_MAX_S 86400
/* CPUs come at the ends of phases: it looks so often. */
#define LOOK_EVERY_NS 10000000

struct arguments {
	const char *step; /* may end in a dot and the rank */
	char request[MAL_CHANNEL_REQUEST - 64];
	size_t length;
	const char *file; /* with an order in each line; NULL: none */
	unsigned int wait_s;
};

static void usage(FILE *out)
{
	fputs("Usage: malleable set STEP[.RANK] OPTION...\n"
	      "\n"
	      "Changes your balanced step on this node from the next phase on. STEP is its\n"
	      "name in malleable status: JOB.STEP, or NAME.PID of mpirun and malleable run,\n"
	      "without PID where only one has that NAME. RANK is the rank's number on the\n"
	      "node, as malleable status shows it; default: all ranks.\n"
	      "\n"
	      "  --cpus=LIST    give the rank these CPUs, such as 0-3,8 (one rank only)\n"
	      "  --count=N      give it N CPUs\n"
	      "  --min=N        give it N at least\n"
	      "  --max=N        give it N at most\n"
	      "  --free         remove these orders: the policy decides\n"
	      "  --policy=P     change the step's policy, as in srun --balance; orders for\n"
	      "                 ranks stay\n"
	      "  --from=FILE    orders for several ranks, all of which hold or none: a line for\n"
	      "                 each, with the rank's number and options; -: standard input\n"
	      "  --wait[=S]     until the CPUs have changed hands, S seconds at most (60)\n"
	      "  --help, --version\n"
	      "\n"
	      "With policy external nothing else moves CPUs. If the policy lends, ranks lend\n"
	      "CPUs that are set for them, too.\n",
	      out);
}

static const struct mal_tool tool = {"malleable set", PACKAGE_VERSION, usage};

static int append_words(struct arguments *arguments, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Append to the request. Returns -1 if it is too long then. */
static int append_words(struct arguments *arguments, const char *format, ...)
{
	size_t room = sizeof(arguments->request) - arguments->length;
	va_list args;
	int used;

	va_start(args, format);
	used = vsnprintf(arguments->request + arguments->length, room, format, args);
	va_end(args);
	if (used < 0 || (size_t)used >= room)
		return -1;
	arguments->length += (size_t)used;
	return 0;
}

/* Append KEY=VALUE. Refuses values that the controller would split. */
static int append(struct arguments *arguments, const char *key, const char *value)
{
	for (const char *letter = value; letter && *letter; letter++)
		if (isspace((unsigned char)*letter) || !isprint((unsigned char)*letter))
			return mal_option_wrong(&tool, "--%s=%s: spaces are not allowed", key,
						value);
	if (append_words(arguments, value ? " %s=%s" : " %s", key, value) < 0)
		return mal_option_wrong(&tool, "--%s is too long", key);
	return 0;
}

/* The order in LINE, such as "3 --count=2". Returns -1 if it is none, or too long. */
static int read_order(struct arguments *arguments, char *line)
{
	bool first = strcmp(arguments->request, "set") == 0;
	char *save = NULL, *word = strtok_r(line, " \t\n", &save);
	unsigned int rank;
	int result;

	if (!word || *word == '#')
		return 0;
	if (!mal_number_parse(word, 0, INT_MAX, &rank))
		return -1;
	result = append_words(arguments, "%s rank=%u", first ? "" : " ;", rank);
	while (result == 0 && (word = strtok_r(NULL, " \t\n", &save))) {
		if (strncmp(word, "--", 2) != 0 || !isalpha((unsigned char)word[2]))
			return -1;
		result = append_words(arguments, " %s", word + 2);
	}
	return result;
}

static int read_orders(struct arguments *arguments)
{
	FILE *file = strcmp(arguments->file, "-") == 0 ? stdin : fopen(arguments->file, "re");
	char *line = NULL;
	size_t size = 0;
	unsigned int number = 0;
	int result = 0;

	if (!file)
		return mal_option_wrong(&tool, "--from=%s: %s", arguments->file, strerror(errno));
	while (result == 0 && getline(&line, &size, file) >= 0) {
		number++;
		if (read_order(arguments, line) < 0)
			result = mal_option_wrong(&tool,
						  "--from=%s: line %u: needs a rank and options, "
						  "such as 3 --count=2",
						  arguments->file, number);
	}
	if (result == 0 && strcmp(arguments->request, "set") == 0)
		result = mal_option_wrong(&tool, "--from=%s has no orders", arguments->file);
	free(line);
	if (file != stdin)
		fclose(file);
	return result;
}

static int parse_option(struct arguments *arguments, const struct option *options, int option)
{
	arguments->file = option == 'F' ? optarg : arguments->file;
	if (option == 'F')
		return 0;
	if (option != 'w')
		return append(arguments, mal_option_name(options, option), optarg);
	arguments->wait_s = WAIT_S;
	if (!optarg || mal_number_parse(optarg, 1, WAIT_MAX_S, &arguments->wait_s))
		return 0;
	return mal_option_wrong(&tool, "--wait=%s: must be a number from 1 to %d", optarg,
				WAIT_MAX_S);
}

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"cpus", required_argument, NULL, 'c'},
		{"count", required_argument, NULL, 'n'},
		{"min", required_argument, NULL, 'm'},
		{"max", required_argument, NULL, 'M'},
		{"policy", required_argument, NULL, 'p'},
		{"free", no_argument, NULL, 'f'},
		{"from", required_argument, NULL, 'F'},
		{"wait", optional_argument, NULL, 'w'},
		MAL_OPTIONS_END,
	};
	bool alone;
	int option;

	memset(arguments, 0, sizeof(*arguments));
	arguments->length = (size_t)snprintf(arguments->request, sizeof(arguments->request), "set");
	while ((option = mal_option(&tool, argc, argv, "", options)) != MAL_OPTION_END) {
		if (option == MAL_OPTION_ANSWERED || option == MAL_OPTION_WRONG)
			return option;
		if (parse_option(arguments, options, option) < 0)
			return MAL_OPTION_WRONG;
	}
	alone = strcmp(arguments->request, "set") == 0;
	if (arguments->file && !alone)
		return mal_option_wrong(&tool, "--from has all orders: give no other");
	if (optind + 1 != argc || (alone && !arguments->file))
		return mal_option_wrong(&tool, "give a step and an option");
	arguments->step = argv[optind];
	return arguments->file ? read_orders(arguments) : 0;
}

/* A step that the user's word may mean. */
struct target {
	const struct mal_controller_process *controller;
	char name[MAL_STEP_NAME];
	const char *rank; /* in the word; empty: all */
};

/*
 * The rank in WANTED, which is the LENGTH first letters of a step's NAME, a dot and a number.
 * Empty: the step itself; NULL: another step.
 */
static const char *find_rank(const char *wanted, const char *name, size_t length)
{
	if (strncmp(wanted, name, length) != 0)
		return NULL;
	if (!wanted[length])
		return "";
	if (wanted[length] != '.' || !wanted[length + 1] ||
	    wanted[length + 1 + strspn(wanted + length + 1, "0123456789")])
		return NULL;
	return wanted + length + 1;
}

/*
 * Find the steps that WANTED names, into TARGETS: those of which it has the whole name, or if there
 * are none, those of which it has all but the PID. Returns how many.
 */
static size_t find_targets(const struct mal_steps *steps, const char *wanted,
			   struct target *targets)
{
	size_t count = 0;
	bool whole = false;
	struct mal_error err;

	for (size_t i = 0; i < steps->count; i++) {
		struct target found = {.controller = &steps->controllers[i]};
		const char *rank;

		if (mal_step_name(found.controller, found.name, &err) < 0) {
			fprintf(stderr, "malleable set: no answer from %s\n",
				found.controller->socket);
			continue;
		}
		rank = find_rank(wanted, found.name, strlen(found.name));
		if (rank && !whole)
			count = 0;
		whole |= rank != NULL;
		if (!whole && mal_step_has_pid(found.controller))
			rank = find_rank(wanted, found.name,
					 (size_t)(strrchr(found.name, '.') - found.name));
		found.rank = rank;
		if (rank)
			targets[count++] = found;
	}
	return count;
}

/* An order is for one step. Returns whether it is, and else says which there are. */
static bool is_one(const struct target *targets, size_t count, const char *wanted)
{
	size_t different = 1;

	for (size_t i = 1; i < count; i++)
		different += strcmp(targets[i].name, targets[i - 1].name) != 0;
	if (different == 1)
		return true;
	fprintf(stderr, "malleable set: %s may be any of %zu steps:", wanted, different);
	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(targets[i].name, targets[i - 1].name) != 0)
			fprintf(stderr, " %s", targets[i].name);
	fputs("\n", stderr);
	return false;
}

struct order {
	const struct arguments *arguments;
	const char *rank;
};

/* How many CPUs have not come yet to the ranks of STATUS that are to have them. */
static double coming(const json_t *status)
{
	const json_t *rank;
	double sum = 0;
	size_t i;

	json_array_foreach(json_object_get(status, "ranks"), i, rank) sum +=
		mal_step_number(rank, "coming");
	return sum;
}

/* Returns the exit status: whether the CPUs have changed hands in time. */
static int await(const struct mal_controller_process *controller, const struct arguments *arguments)
{
	long end_ms = mal_now_ms() + 1000L * arguments->wait_s;
	struct mal_error err;
	double left = 1;

	for (;;) {
		json_t *status = mal_step_status(controller, &err);

		if (!status) {
			fprintf(stderr, "malleable set: %s: %s\n", arguments->step, err.text);
			return 1;
		}
		left = coming(status);
		json_decref(status);
		if (left <= 0)
			return 0;
		if (mal_now_ms() >= end_ms)
			break;
		nanosleep(&(struct timespec){0, LOOK_EVERY_NS}, NULL);
	}
	fprintf(stderr, "malleable set: %s: %.0f CPU%s not come after %u s; the order stays\n",
		arguments->step, left, left > 1 ? "s have" : " has", arguments->wait_s);
	return 1;
}

static int set(const struct mal_controller_process *controller, void *argument, FILE *out)
{
	const struct order *order = argument;
	char request[MAL_CHANNEL_REQUEST + 64];
	struct mal_error err;

	(void)out;
	snprintf(request, sizeof(request), "%s%s%.32s", order->arguments->request,
		 *order->rank ? " rank=" : "", order->rank);
	if (mal_step_request(controller, request, &err) < 0) {
		fprintf(stderr, "malleable set: %s: %s\n", order->arguments->step, err.text);
		return 1;
	}
	return order->arguments->wait_s ? await(controller, order->arguments) : 0;
}

/* Returns the exit status. */
static int set_all(const struct arguments *arguments, const struct target *targets, size_t count)
{
	int status = 0;

	if (arguments->file && *targets->rank) {
		mal_option_wrong(&tool, "--from: give the step without a rank");
		return 2;
	}
	for (size_t i = 0; i < count; i++) {
		struct order order = {arguments, targets[i].rank};
		struct mal_controller_process controller = *targets[i].controller;
		int result;

		controller.deadline_ms += 1000L * arguments->wait_s;
		result = mal_step_as_user(&controller, set, &order, stdout);
		if (result < 0)
			fprintf(stderr, "malleable set: no answer from %s\n", controller.socket);
		status |= result != 0;
	}
	return status;
}

static int find_none(const struct mal_steps *steps, const char *wanted)
{
	if (steps->others)
		fprintf(stderr,
			"malleable set: no balanced step %s of yours on this node; %zu belong to "
			"other users\n",
			wanted, steps->others);
	else
		fprintf(stderr,
			"malleable set: no balanced step %s on this node, see malleable status\n",
			wanted);
	return 1;
}

int mal_cmd_set(int argc, char **argv)
{
	struct target *targets;
	struct arguments arguments;
	struct mal_steps steps;
	struct mal_error err;
	size_t count;
	int result = parse_arguments(argc, argv, &arguments);

	if (result)
		return result > 0 ? 0 : 2;
	if (mal_steps_find(&steps, &err) < 0) {
		fprintf(stderr, "malleable set: %s\n", err.text);
		return 1;
	}
	targets = calloc(steps.count + 1, sizeof(*targets));
	count = targets ? find_targets(&steps, arguments.step, targets) : 0;
	if (!count)
		result = find_none(&steps, arguments.step);
	else if (is_one(targets, count, arguments.step))
		result = set_all(&arguments, targets, count);
	else
		result = 1;
	free(targets);
	mal_steps_clear(&steps);
	return result;
}
