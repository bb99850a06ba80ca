/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * set.c: malleable set: change CPUs, bounds and policy of a balanced step while it runs.
 *
 * Invariant: what a step cannot do is refused, and changes nothing (t/t3004-control.t).
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/as_user.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/control/target.h"
#include "libmalleable/malleable_control.h"

/* How long --wait waits unless it is told, and at most. */
#define WAIT_S 60
#define WAIT_MAX_S 86400
/* All words of a command line. */
#define ORDERS_MAX 1984

struct arguments {
	const char *step; /* may end in a dot and the rank */
	char words[ORDERS_MAX];
	size_t length;
	char *orders; /* those of a file; NULL: none */
	unsigned int wait_s;
};

static const char usage[] =
	"STEP[.RANK] OPTION...\n"
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
	"CPUs that are set for them, too.\n";

static const struct mal_tool tool = {.name = "malleable set", .usage = usage};

/* Append KEY=VALUE. Refuses values that the controller would split. */
static void append(struct arguments *arguments, const char *key, const char *value)
{
	size_t room = sizeof(arguments->words) - arguments->length;
	int used;

	for (const char *letter = value; letter && *letter; letter++)
		if (isspace((unsigned char)*letter) || !isprint((unsigned char)*letter))
			mal_option_wrong(&tool, "--%s=%s: spaces are not allowed", key, value);
	used = snprintf(arguments->words + arguments->length, room, value ? "%s=%s " : "%s ", key,
			value);
	if ((size_t)used >= room)
		mal_option_wrong(&tool, "--%s is too long", key);
	arguments->length += (size_t)used;
}

/* All of the file NAME, which the caller frees. */
static char *read_file(const char *name)
{
	FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
	char *text = strdup("");
	size_t size = 1;

	if (!file || (getdelim(&text, &size, '\0', file) < 0 && ferror(file)))
		mal_option_wrong(&tool, "--from=%s: %s", name, strerror(errno));
	if (file != stdin)
		fclose(file);
	return text;
}

static void take(struct arguments *arguments, const struct option *options, int option)
{
	if (option == 'F') {
		free(arguments->orders);
		arguments->orders = read_file(optarg);
	} else if (option == 'w') {
		arguments->wait_s = WAIT_S;
		if (optarg && !mal_number_parse(optarg, 1, WAIT_MAX_S, &arguments->wait_s))
			mal_option_wrong(&tool, "--wait=%s: must be a number from 1 to %d", optarg,
					 WAIT_MAX_S);
	} else {
		append(arguments, mal_option_name(options, option), optarg);
	}
}

static void parse_arguments(int argc, char **argv, struct arguments *arguments)
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
	int option;

	memset(arguments, 0, sizeof(*arguments));
	while ((option = mal_option(&tool, argc, argv, false, options)) != MAL_OPTION_END)
		take(arguments, options, option);
	if (arguments->orders && arguments->length)
		mal_option_wrong(&tool, "--from has all orders: give no other");
	if (optind + 1 != argc || (!arguments->length && !arguments->orders))
		mal_option_wrong(&tool, "give a step and an option");
	arguments->step = argv[optind];
}

/* The steps that ARGUMENTS->step means. */
struct order {
	const struct arguments *arguments;
	int count;
	struct mal_target *targets, *now;
};

/* Returns the exit status: whether the CPUs have changed hands in time. */
static int await(malleable_control *control, const struct arguments *arguments)
{
	int result = malleable_control_await(control, (int)(1000 * arguments->wait_s));

	if (result > 0)
		return 0;
	fprintf(stderr, "malleable set: %s: %s", arguments->step,
		malleable_control_message(control));
	if (result == 0)
		fprintf(stderr, " after %u s; the order stays", arguments->wait_s);
	fputc('\n', stderr);
	return 1;
}

/* Give the order to the step that is asked now. Returns the exit status. */
static int set(void *argument, FILE *out)
{
	const struct order *order = argument;
	const struct arguments *arguments = order->arguments;
	char words[sizeof(arguments->words) + 64];
	malleable_control *control;
	int result = malleable_control_open(order->now->controller->socket, &control), status;

	(void)out;
	snprintf(words, sizeof(words), "%.32s %s", *order->now->rank ? order->now->rank : "all",
		 arguments->words);
	if (result == 0)
		result = malleable_control_set_many(control,
						    arguments->orders ? arguments->orders : words);
	status = result == MALLEABLE_CONTROL_INVALID ? 2 : result < 0;
	if (result < 0)
		fprintf(stderr, "malleable set: %s: %s\n", arguments->step,
			malleable_control_message(control));
	else if (arguments->wait_s)
		status = await(control, arguments);
	malleable_control_close(control);
	return status;
}

/* Returns the exit status. */
static int set_all(struct order *order, long deadline_ms)
{
	int status = 0;

	for (int i = 0; i < order->count; i++) {
		int result;

		order->now = &order->targets[i];
		result = mal_as_user(order->now->controller->uid, order->now->controller->gid,
				     deadline_ms + 1000L * order->arguments->wait_s, set, order,
				     stdout);
		if (result < 0)
			fprintf(stderr, "malleable set: no answer from %s\n",
				order->now->controller->socket);
		status = result < 0 ? 1 : result > status ? result : status;
	}
	return status;
}

/* Returns the exit status. */
static int set_named(const struct arguments *arguments)
{
	struct order order = {.arguments = arguments};
	long deadline_ms = mal_as_user_deadline();
	struct mal_steps steps;
	struct mal_error err;
	int status = 1;

	if (mal_steps_find(&steps, &err) == 0)
		order.count = mal_targets_find(&steps, arguments->step, &order.targets, &err);
	if (order.count > 0 && arguments->orders && *order.targets->rank)
		mal_option_wrong(&tool, "--from: give the step without a rank");
	if (order.count > 0)
		status = set_all(&order, deadline_ms);
	else
		fprintf(stderr, "malleable set: %s\n", err.text);
	free(order.targets);
	mal_steps_clear(&steps);
	return status;
}

int mal_cmd_set(int argc, char **argv)
{
	struct arguments arguments;
	int result;

	parse_arguments(argc, argv, &arguments);
	result = set_named(&arguments);
	free(arguments.orders);
	return result;
}
