/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * killed.c: two ranks with one CPU each, in a step without MPI: killed DIRECTORY victim CALL makes
 * that call of malleable.h again and again, as a lender or a borrower; killed DIRECTORY survivor
 * CALL is the other one, kills it in the middle, and prints what it has then.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/malleable.h"

static const char *directory;

static const char *name(const char *file)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s/%s", directory, file);
	return text;
}

static int is_there(const char *file)
{
	return access(name(file), F_OK) == 0;
}

/* The process number of the victim, in a file that is whole at once. */
static void say_pid(const char *file)
{
	FILE *out = fopen(name("new"), "w");
	char from[4096];

	fprintf(out, "%d\n", (int)getpid());
	fclose(out);
	strcpy(from, name("new"));
	rename(from, name(file));
}

static pid_t read_pid(const char *file)
{
	FILE *in = fopen(name(file), "r");
	int pid = 0;

	if (!in || fscanf(in, "%d", &pid) != 1)
		exit(1);
	fclose(in);
	return pid;
}

static void hear(int cpus, void *argument)
{
	(void)cpus;
	(void)argument;
}

/* The calls of one that borrows. */
static void borrow_once(const char *call)
{
	malleable_borrow(2);
	if (strcmp(call, "return") == 0)
		malleable_return(0);
	else if (strcmp(call, "limit") == 0)
		malleable_limit(1);
	else if (strcmp(call, "disable") == 0)
		malleable_disable();
	else if (strcmp(call, "await") == 0)
		malleable_await_change(malleable_changes(), 1);
	else if (strcmp(call, "poll") == 0)
		malleable_poll();
	if (strcmp(call, "limit") == 0)
		malleable_limit(0);
	if (strcmp(call, "disable") == 0)
		malleable_enable();
}

static void be_victim(const char *call)
{
	int lends = strcmp(call, "wait") == 0 || strcmp(call, "waits") == 0, had = 0;

	malleable_on_change(hear, NULL);
	malleable_cpus();
	say_pid("came");
	while (!is_there("partner"))
		usleep(1000);
	if (lends)
		say_pid("ready");
	for (unsigned int i = 0;; i++) {
		if (!lends) {
			borrow_once(call);
			had += malleable_borrow(2) == 2;
			if (had == 1)
				say_pid("ready");
			continue;
		}
		malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
		usleep(strcmp(call, "wait") == 0 ? 1000000 : 100 * (i % 10));
		malleable_waiting_end();
	}
}

static int has(int cpu)
{
	int cpus[8], count = malleable_cpu_list(cpus, 8);
	cpu_set_t may;

	if (sched_getaffinity(0, sizeof(may), &may) < 0 || !CPU_ISSET(cpu, &may))
		return 0;
	while (count-- > 0)
		if (cpus[count] == cpu)
			return 1;
	return 0;
}

static void kill_victim(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	usleep((useconds_t)(now.tv_nsec / 1000 % 3000));
	kill(read_pid("ready"), SIGKILL);
	alarm(0);
}

static int be_survivor(const char *call)
{
	int lends = strcmp(call, "wait") != 0 && strcmp(call, "waits") != 0, own;

	while (!is_there("came"))
		usleep(1000);
	if (malleable_cpus_owned() != 1 || malleable_cpu_list(&own, 1) != 1)
		return 1;
	fclose(fopen(name("partner"), "w"));
	if (lends) {
		malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
		while (!is_there("ready"))
			usleep(100);
		kill_victim();
		malleable_waiting_end();
	} else {
		while (malleable_borrow(2) < 2 || !is_there("ready"))
			sched_yield();
		kill_victim();
	}
	/* What the dead one had becomes ours, or nobody's. */
	while (!has(own) || malleable_cpus() != malleable_cpus_owned()) {
		malleable_phase();
		malleable_return(0);
		usleep(1000);
	}
	printf("%s: has %d of %d\n", call, malleable_cpus(), malleable_cpus_owned());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	directory = argv[1];
	/* Without a controller nobody borrows or is killed; what comes after that has to end. */
	alarm(10);
	if (strcmp(argv[2], "victim") == 0)
		be_victim(argv[3]);
	return be_survivor(argv[3]);
}
