/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control.c: the calls of malleable_control.h by name, on a step (-: the own one): prints what a
 * call returned, what it wrote, and its message.
 */
#include <malleable_control.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int print_step(const struct malleable_control_step *step, void *argument)
{
	(void)argument;
	printf("%s of %u\n", step->name, step->uid);
	return 0;
}

/* Print events until the step ends, or UNTIL is among them. */
static int print_events(malleable_control *control, const char *until)
{
	int fd = malleable_control_events(control);
	FILE *events = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512];

	if (events)
		puts("reads");
	fflush(stdout);
	while (events && fgets(line, sizeof(line), events)) {
		fputs(line, stdout);
		fflush(stdout);
		if (until && strstr(line, until))
			break;
	}
	if (events)
		fclose(events);
	return fd < 0 ? fd : 0;
}

/* Orders end with this process, which ends with its standard input. */
static int hold(malleable_control *control, int rank, int count)
{
	int result = malleable_control_hold(control);

	if (result == 0)
		result = malleable_control_set_count(control, rank, count, count);
	if (result == 0)
		result = malleable_control_await(control, 60000);
	printf("held\n");
	fflush(stdout);
	while (result > 0 && getchar() != EOF)
		continue;
	return result;
}

/* Without a descriptor that could be opened. */
static int starve(malleable_control *control)
{
	const struct rlimit few = {3, 3};
	char *text;

	setrlimit(RLIMIT_NOFILE, &few);
	printf("%d ", malleable_control_steps(print_step, NULL));
	return malleable_control_status(control, &text);
}

static int print_region(malleable_control *control, const char *name)
{
	struct malleable_control_times times = {.size = sizeof(times)};
	int result = malleable_control_region(control, name, &times);

	if (result == 0)
		printf("%llu runs of %d, %d %d %d ", times.runs, times.ranks, times.elapsed_s > 0,
		       times.parallel > 0, times.mpi > 0);
	return result;
}

static int call(malleable_control *control, const char *name, const char *a, const char *b)
{
	char *text = NULL, list[64] = "";
	int result;

	if (strcmp(name, "status") == 0)
		result = malleable_control_status(control, &text);
	else if (strcmp(name, "cpus") == 0)
		result = malleable_control_cpus(control, atoi(a), list, sizeof(list));
	else if (strcmp(name, "region") == 0)
		result = print_region(control, a);
	else if (strcmp(name, "set_cpus") == 0)
		result = malleable_control_set_cpus(control, atoi(a), b);
	else if (strcmp(name, "set_count") == 0)
		result = malleable_control_set_count(control, atoi(a), atoi(b), atoi(b));
	else if (strcmp(name, "free") == 0)
		result = malleable_control_free_orders(control, atoi(a));
	else if (strcmp(name, "policy") == 0)
		result = malleable_control_set_policy(control, a);
	else if (strcmp(name, "many") == 0)
		result = malleable_control_set_many(control, a);
	else if (strcmp(name, "await") == 0)
		result = malleable_control_await(control, atoi(a));
	else if (strcmp(name, "starved") == 0)
		result = starve(control);
	else if (strcmp(name, "events") == 0)
		result = print_events(control, *a ? a : NULL);
	else
		result = hold(control, atoi(a), atoi(b));
	if (text)
		puts(text);
	malleable_control_free(text);
	printf("%d%s%s", result, *list ? " " : "", list);
	return result;
}

/* The steps here, or how many are left out and why. */
static int list(bool hidden)
{
	char why[256] = "";
	int result = hidden ? malleable_control_hidden(why, sizeof(why))
			    : malleable_control_steps(print_step, NULL);

	printf("%d%s%s\n", result, *why ? ": " : "", why);
	return result < 0;
}

int main(int argc, char **argv)
{
	malleable_control *control = NULL;
	int result;

	if (argc < 3)
		return list(argc > 1 && strcmp(argv[1], "hidden") == 0);
	result = malleable_control_open(strcmp(argv[2], "-") ? argv[2] : NULL, &control);
	if (result < 0)
		printf("%d", result);
	else
		result = call(control, argv[1], argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "");
	printf(": %s\n", malleable_control_message(control));
	malleable_control_close(control);
	return result < 0;
}
