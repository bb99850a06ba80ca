/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* events.c: malleable events: what happens in a step, as it happens. */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/json_number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/malleable_control.h"

static const char usage[] =
	"[--json] STEP\n"
	"\n"
	"Prints what happens in your balanced step on this node until it has ended: CPUs\n"
	"that change their owner, ranks that come and end, plans and policies. STEP as in\n"
	"malleable set.\n"
	"\n"
	"  --json     as JSON: an object on each line\n"
	"  --help, --version\n";

static const struct mal_tool tool = {.name = "malleable events", .usage = usage};

/* Who has a CPU: the rank KEY of EVENT. */
static const char *owner(const json_t *event, const char *key, char *text, size_t size)
{
	const json_t *rank = json_object_get(event, key);

	if (json_is_integer(rank))
		snprintf(text, size, "rank %lld", (long long)json_integer_value(rank));
	else
		snprintf(text, size, "nobody");
	return text;
}

/* One event as a sentence. */
static void print_event(const json_t *event)
{
	const char *kind = mal_json_text_of(event, "event");
	char from[32], to[32];

	if (strcmp(kind, "lost") == 0) {
		printf("%.0f events were lost\n", mal_json_number_of(event, "count"));
		return;
	}
	printf("%10.3f s: ", mal_json_number_of(event, "at_s"));
	if (strcmp(kind, "moved") == 0)
		printf("CPU %.0f went from %s to %s\n", mal_json_number_of(event, "cpu"),
		       owner(event, "from", from, sizeof(from)),
		       owner(event, "to", to, sizeof(to)));
	else if (strcmp(kind, "rank") == 0)
		printf("rank %.0f %s\n", mal_json_number_of(event, "rank"),
		       json_is_true(json_object_get(event, "running")) ? "came" : "ended");
	else if (strcmp(kind, "policy") == 0)
		printf("policy %s\n", mal_json_text_of(event, "policy"));
	else
		printf("plan %.0f%s\n", mal_json_number_of(event, "plan"),
		       strcmp(kind, "settled") == 0 ? ": all CPUs have arrived" : "");
}

/* Returns 0 at the step's end, 1 if nobody reads what is printed. */
static int print_events(FILE *events, bool json)
{
	char *line = NULL;
	size_t size = 0;

	while (!ferror(stdout) && getline(&line, &size, events) > 0) {
		json_t *event = json_loads(line, 0, NULL);

		if (json && event)
			json_dumpf(event, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		if (json && event)
			putchar('\n');
		else if (json_is_object(event))
			print_event(event);
		json_decref(event);
		fflush(stdout);
	}
	free(line);
	return ferror(stdout) != 0;
}

int mal_cmd_events(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, MAL_OPTIONS_END};
	malleable_control *control;
	bool json = false;
	FILE *events;
	int fd, status;

	while (mal_option(&tool, argc, argv, false, options) != MAL_OPTION_END)
		json = true;
	if (optind + 1 != argc)
		mal_option_wrong(&tool, "give a step");
	if (malleable_control_open(argv[optind], &control) < 0) {
		fprintf(stderr, "malleable events: %s\n", malleable_control_message(NULL));
		return 1;
	}
	fd = malleable_control_events(control);
	events = fd < 0 ? NULL : fdopen(fd, "r");
	if (!events)
		fprintf(stderr, "malleable events: %s: %s\n", argv[optind],
			malleable_control_message(control));
	status = events ? print_events(events, json) : 1;
	if (events)
		fclose(events);
	malleable_control_close(control);
	return status;
}
