/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scale.c: the segment and the policies at the size of the largest nodes: 256 ranks on 1024 CPUs.
 *
 * Prints how long a rank's sample takes to write, a round of all samples to read, a decision with
 * its mapping, and a CPU's hand-over from one process to another that waits for it. Medians;
 * needs nothing but a built tree.
 */
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/rank/state/period.h"
#include "policies/decide/decision.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"

#define ROUNDS 201
#define PERIOD_EVENTS 2000

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void say(const char *what, double *values, int count, double unit, const char *unit_name)
{
	qsort(values, (size_t)count, sizeof(values[0]), by_value);
	printf("%-44s %10.2f %s median, %10.2f most\n", what, values[count / 2] / unit, unit_name,
	       values[count - 1] / unit);
}

static double since(uint64_t begin)
{
	return mal_ticks_to_s(mal_ticks() - begin);
}

static void samples(struct mal_segment *segment)
{
	double write[ROUNDS], read[ROUNDS];
	struct mal_snapshot snapshot = {.round = 1};

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = mal_ticks();

		for (unsigned int rank = 0; rank < segment->rank_count; rank++) {
			snapshot.tick = begin + rank;
			mal_snapshot_write(&segment->ranks[rank], &snapshot);
		}
		write[round] = since(begin) / segment->rank_count;
		begin = mal_ticks();
		for (unsigned int rank = 0; rank < segment->rank_count; rank++)
			if (!mal_snapshot_read(&segment->ranks[rank], &snapshot))
				abort();
		read[round] = since(begin);
	}
	say("a rank's sample, written", write, ROUNDS, 1e-9, "ns");
	say("a round of all samples, read", read, ROUNDS, 1e-6, "us");
	printf("%-44s %10.0f samples per second\n", "that is",
	       segment->rank_count / read[ROUNDS / 2]);
}

struct node {
	struct mal_topology topology;
	struct mal_view view;
	struct mal_sample *samples;
	unsigned int *l3, *numa, *package, *owner, *next, *count;
};

/*
 * RANKS ranks on CPUS CPUs, four sockets, L3 groups of 8, random loads that change from round to
 * round.
 */
static void make_node(struct node *node, unsigned int ranks, unsigned int cpus)
{
	node->samples = calloc(ranks, sizeof(*node->samples));
	node->count = calloc(ranks, sizeof(*node->count));
	node->l3 = calloc(5 * (size_t)cpus, sizeof(*node->l3));
	if (!node->samples || !node->count || !node->l3)
		abort();
	node->numa = node->l3 + cpus;
	node->package = node->numa + cpus;
	node->owner = node->package + cpus;
	node->next = node->owner + cpus;
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		node->l3[cpu] = cpu / 8;
		node->numa[cpu] = 4 * cpu / cpus;
		node->package[cpu] = 4 * cpu / cpus;
		node->owner[cpu] = cpu * ranks / cpus;
	}
	node->topology = (struct mal_topology){cpus, node->l3, node->numa, node->package, NULL};
	node->view = (struct mal_view){&node->topology, ranks, node->samples, node->owner};
}

static double decide_once(struct node *node, const struct mal_policy *policy, void *state,
			  unsigned int *moved)
{
	struct mal_plan plan = {.count = node->count, .owner = node->next};
	const struct mal_view *view = &node->view;
	const char *rejection;
	uint64_t begin;
	double time;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		node->samples[rank] = (struct mal_sample){
			.running = true, .elapsed_s = 1, .work_s = 1 + rand() % 1000 / 250.0};
		node->count[rank] = 0;
	}
	for (unsigned int cpu = 0; cpu < node->topology.cpu_count; cpu++)
		node->count[node->owner[cpu]]++;
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		node->samples[rank].cpus = node->count[rank];
	begin = mal_ticks();
	if (mal_decide(policy, state, view, &plan, &rejection) != MAL_DECISION_MADE)
		abort();
	time = since(begin);
	for (unsigned int cpu = 0; plan.move && cpu < node->topology.cpu_count; cpu++)
		*moved += node->next[cpu] != node->owner[cpu];
	if (plan.move)
		memcpy(node->owner, node->next, node->topology.cpu_count * sizeof(*node->owner));
	return time;
}

static void decisions(unsigned int ranks, unsigned int cpus, const char *name)
{
	const struct mal_policy *policy = mal_policy_find(name);
	double values[MAL_CHOICE_PARAMS], times[ROUNDS];
	unsigned int moved = 0;
	struct node node;
	char what[64];
	void *state;

	for (size_t i = 0; i < policy->param_count; i++)
		values[i] = policy->params[i].fallback;
	state = policy->create(values);
	make_node(&node, ranks, cpus);
	for (int round = 0; round < ROUNDS; round++)
		times[round] = decide_once(&node, policy, state, &moved);
	snprintf(what, sizeof(what), "%ux%u: a decision of %s, %u CPUs moved", ranks, cpus / ranks,
		 name, moved / ROUNDS);
	say(what, times, ROUNDS, 1e-6, "us");
	policy->destroy(state);
	free(node.samples);
	free(node.count);
	free(node.l3);
}

/* One CPU, to and fro between two processes; each waits for it as a rank does at a boundary. */
static void hand_over(struct mal_segment *segment)
{
	mal_word *word = &segment->cpus[0].word;
	double times[ROUNDS];
	pid_t child;

	mal_word_set(word, (struct mal_cpu_state){.owner = 0, .user = 0});
	child = fork();

	if (child == 0) {
		for (;;) {
			if (mal_word_take(word, 1))
				mal_word_move(word, 1, 0);
			sched_yield();
		}
	}
	for (int round = -5; round < ROUNDS; round++) {
		uint64_t begin = mal_ticks();

		mal_word_take(word, 0);
		if (!mal_word_move(word, 0, 1))
			abort();
		while (mal_word_read(word).owner != 0)
			sched_yield();
		if (round >= 0)
			times[round] = since(begin) / 2;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	say("a CPU handed over to a process that waits", times, ROUNDS, 1e-6, "us");
}

/*
 * Nanoseconds per region of a search for the period, where the sequence repeats after LENGTH
 * events; 0: never.
 */
static void periods(const char *what, uint32_t length)
{
	static struct mal_period period;
	double times[ROUNDS];
	uint32_t event = 0;

	memset(&period, 0, sizeof(period));
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = mal_ticks();

		for (int i = 0; i < PERIOD_EVENTS; i++, event++)
			mal_period_event(&period, (length ? event % length : event) * 2654435761u);
		times[round] = since(begin) / PERIOD_EVENTS;
	}
	say(what, times, ROUNDS, 1e-9, "ns");
}

int main(int argc, char **argv)
{
	struct mal_segment segment;
	struct mal_cpumask cpus = {{0}};
	struct mal_error err;
	unsigned int ranks = 256, cpu_count = 1024;
	int fd;

	if (argc > 1) {
		puts("Usage: t/bench/scale    256 ranks on 1024 CPUs in one segment: samples, "
		     "decisions, hand-over");
		return strcmp(argv[1], "--help") != 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	mal_clock_open();
	for (unsigned int cpu = 0; cpu < cpu_count; cpu++)
		mal_cpumask_add(&cpus, cpu);
	fd = mal_segment_create_for_ranks(ranks, &cpus, &err);
	if (fd < 0 || mal_segment_open(&segment, fd, &err) < 0) {
		fprintf(stderr, "scale: %s\n", err.text);
		return 1;
	}
	printf("%u ranks, %u CPUs, segment of %zu KiB\n", segment.rank_count, segment.cpu_count,
	       segment.size / 1024);
	samples(&segment);
	decisions(ranks, cpu_count, "auto");
	decisions(ranks, cpu_count, "sabo");
	decisions(8, 48, "auto");
	decisions(8, 48, "sabo");
	hand_over(&segment);
	periods("a region of a sequence that repeats after 40", 40);
	periods("a region of a sequence that never repeats", 0);
	mal_segment_close(&segment);
	return 0;
}
