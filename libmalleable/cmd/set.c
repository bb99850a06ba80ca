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

enum { DONE = 0, REFUSED = 1, OTHER_STEP = 3 };

static void usage(FILE *out)
{
	fputs("Usage: malleable set JOB.STEP[.RANK] OPTION...\n"
	      "\n"
	      "Changes your balanced step on this node from the next phase on. RANK is\n"
	      "the rank's number on the node, as malleable status shows it; default: all\n"
	      "ranks.\n"
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

/*
 * The rank in WANTED, which is the step NAME, a dot and a number. Empty: the step itself; NULL:
 * another step.
 */
static const char *find_rank(const char *wanted, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(wanted, name, length) != 0)
		return NULL;
	if (!wanted[length])
		return "";
	if (wanted[length] != '.' || !wanted[length + 1] ||
	    wanted[length + 1 + strspn(wanted + length + 1, "0123456789")])
		return NULL;
	return wanted + length + 1;
}

static int set(const struct mal_controller_process *controller, void *argument, FILE *out)
{
	const struct arguments *arguments = argument;
	struct mal_error err = {""};
	json_t *status = mal_step_status(controller, &err);
	const char *name = json_string_value(json_object_get(status, "step"));
	const char *rank = name ? find_rank(arguments->step, name) : NULL;
	char request[MAL_CHANNEL_REQUEST + 64];

	(void)out;
	json_decref(status);
	if (!rank)
		return OTHER_STEP;
	snprintf(request, sizeof(request), "%s%s%.32s", arguments->request, *rank ? " rank=" : "",
		 rank);
	if (mal_step_request(controller, request, &err) == 0)
		return DONE;
	fprintf(stderr, "malleable set: %s: %s\n", arguments->step, err.text);
	return REFUSED;
}

int mal_cmd_set(int argc, char **argv)
{
	struct arguments arguments;
	struct mal_steps steps;
	struct mal_error err;
	int result = parse_arguments(argc, argv, &arguments), found = OTHER_STEP;

	if (result)
		return result > 0 ? 0 : 2;
	if (mal_steps_find(&steps, &err) < 0) {
		fprintf(stderr, "malleable set: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < steps.count; i++) {
		result = mal_step_as_user(&steps.controllers[i], set, &arguments, stdout);
		if (result < 0)
			fprintf(stderr, "malleable set: no answer from %s\n",
				steps.controllers[i].socket);
		found = result < 0 || result == OTHER_STEP || found == REFUSED ? found : result;
	}
	if (found == OTHER_STEP && steps.others)
		fprintf(stderr,
			"malleable set: no balanced step %s of yours on this node; %zu belong to "
			"other users\n",
			arguments.step, steps.others);
	else if (found == OTHER_STEP)
		fprintf(stderr,
			"malleable set: no balanced step %s on this node, see malleable status\n",
			arguments.step);
	mal_steps_clear(&steps);
	return found == DONE ? 0 : 1;
}
