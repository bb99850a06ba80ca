/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* set.c: malleable set: change CPUs, bounds and policy of a balanced step while it runs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/steps.h"

struct arguments {
	const char *step; /* may end in a dot and the rank */
	char request[MAL_CHANNEL_REQUEST - 64];
	size_t length;
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
	      "  --help, --version\n"
	      "\n"
	      "With policy external nothing else moves CPUs. If the policy lends, ranks lend\n"
	      "CPUs that are set for them, too.\n",
	      out);
}

static const struct mal_tool tool = {"malleable set", PACKAGE_VERSION, usage};

/* Append KEY=VALUE. Refuses values that the controller would split. */
static int append(struct arguments *arguments, const char *key, const char *value)
{
	size_t room = sizeof(arguments->request) - arguments->length;
	int used;

	for (const char *letter = value; letter && *letter; letter++)
		if (isspace((unsigned char)*letter) || !isprint((unsigned char)*letter))
			return mal_option_wrong(&tool, "--%s=%s: spaces are not allowed", key,
						value);
	used = snprintf(arguments->request + arguments->length, room, value ? " %s=%s" : " %s", key,
			value);
	if (used < 0 || (size_t)used >= room)
		return mal_option_wrong(&tool, "--%s is too long", key);
	arguments->length += (size_t)used;
	return 0;
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
		MAL_OPTIONS_END,
	};
	int option, given = 0;

	memset(arguments, 0, sizeof(*arguments));
	arguments->length = (size_t)snprintf(arguments->request, sizeof(arguments->request), "set");
	while ((option = mal_option(&tool, argc, argv, "", options)) != MAL_OPTION_END) {
		if (option == MAL_OPTION_ANSWERED || option == MAL_OPTION_WRONG)
			return option;
		if (append(arguments, mal_option_name(options, option), optarg) < 0)
			return MAL_OPTION_WRONG;
		given++;
	}
	if (optind + 1 != argc || !given)
		return mal_option_wrong(&tool, "give a step and an option");
	arguments->step = argv[optind];
	return 0;
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
	for (size_t i = 1; i < count; i++)
		if (strcmp(targets[i].name, targets[0].name) != 0) {
			fprintf(stderr,
				"malleable set: %s may be any of %zu steps: give a name such "
				"as %s, see malleable status\n",
				wanted, count, targets[0].name);
			return false;
		}
	return true;
}

struct order {
	const char *request, *step, *rank;
};

static int set(const struct mal_controller_process *controller, void *argument, FILE *out)
{
	const struct order *order = argument;
	char request[MAL_CHANNEL_REQUEST + 64];
	struct mal_error err;

	(void)out;
	snprintf(request, sizeof(request), "%s%s%.32s", order->request,
		 *order->rank ? " rank=" : "", order->rank);
	if (mal_step_request(controller, request, &err) == 0)
		return 0;
	fprintf(stderr, "malleable set: %s: %s\n", order->step, err.text);
	return 1;
}

/* Returns the exit status. */
static int set_all(const struct arguments *arguments, const struct target *targets, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		struct order order = {arguments->request, arguments->step, targets[i].rank};
		int result = mal_step_as_user(targets[i].controller, set, &order, stdout);

		if (result < 0)
			fprintf(stderr, "malleable set: no answer from %s\n",
				targets[i].controller->socket);
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
