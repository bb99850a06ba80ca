/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * node_controller.c: a whole node in this process. What is here knows what struct mal_controller
 * looks like; tests do not.
 */
#include "t/unit/node_controller.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/control_socket.h"
#include "libmalleable/controller/load/recording.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/step.h"
#include "libmalleable/core/arguments.h"
#include "libmalleable/core/request.h"
#include "policies/interface/registry.h"
#include "t/unit/node_kernel.h"

#define ARGUMENTS 32

static struct {
	struct mal_step_facts step;
	struct mal_controller controller;
	struct mal_segment ranks; /* their mapping */
	struct mal_window window;
	unsigned int cpus; /* of each rank at its start */
	int fd;
	char options[1024], list[MAL_CPUMASK_TEXT];
	bool (*turn)(struct mal_controller *node, void *context);
	void *context;
} node;

static struct {
	bool speaks, fails;
	struct mal_plan plan;
	unsigned int count[MAL_MAX_RANKS];
	unsigned int asked;
} puppet;

static void *puppet_create(const double *values)
{
	(void)values;
	return puppet.fails ? NULL : &puppet;
}

static int puppet_decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	unsigned int *count = plan->count, *owner = plan->owner, *use = plan->use;

	(void)state;
	puppet.asked++;
	if (!puppet.speaks)
		return -1;
	*plan = puppet.plan;
	plan->count = count;
	plan->owner = owner;
	plan->use = use;
	for (unsigned int rank = 0; plan->move && view->samples && rank < view->rank_count; rank++)
		count[rank] = puppet.count[rank];
	return 0;
}

/* Policy "random" (t/policies/random.c). */
extern const struct mal_policy malleable_policy;

static const struct mal_policy puppet_policy = {
	.abi = MAL_POLICY_ABI,
	.name = "puppet",
	.summary = "what the test says",
	.create = puppet_create,
	.decide = puppet_decide,
};

void node_puppet(const struct mal_plan *plan, const unsigned int *count)
{
	puppet.speaks = plan;
	if (plan)
		puppet.plan = *plan;
	if (count)
		memcpy(puppet.count, count, node.ranks.rank_count * sizeof(*count));
}

void node_puppet_fails(bool fails)
{
	puppet.fails = fails;
}

unsigned int node_puppet_asked(void)
{
	return puppet.asked;
}

static void sleeps(void)
{
	if (!node.turn || !node.turn(&node.controller, node.context))
		atomic_store(&node.controller.ending, true);
}

static void open_kernel(unsigned int ranks)
{
	node_kernel =
		(struct node_kernel){.ns = 1000000000, .sleeps = sleeps, .asks = -1, .gone = -1};
	node_kernel.processes = calloc(ranks, sizeof(*node_kernel.processes));
	node_kernel.process_count = ranks;
	assert_non_null(node_kernel.processes);
}

/* As malleabled reads them from its command line. */
static void parse_options(const char *options, struct mal_arguments *arguments)
{
	static char segment[32], name[] = "malleabled", cpus[] = "--cpus", life[] = "--life-fd=0";
	char *argv[ARGUMENTS + 1] = {name, segment, life, cpus, node.list}, *save;
	int argc = 5;

	snprintf(segment, sizeof(segment), "--segment-fd=%d", node.fd);
	snprintf(node.options, sizeof(node.options), "%s", options);
	for (char *word = strtok_r(node.options, " ", &save); word && argc < ARGUMENTS;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	*arguments = (struct mal_arguments){
		MAL_ARGUMENTS_NO_FDS, .policy = "", .step = "?", .node = "?", .libdir = MAL_LIBDIR,
	};
	optind = 0; /* as at first, getopt(3) */
	assert_int_equal(mal_arguments_parse(argc, argv, arguments, NULL), argc);
}

struct mal_controller *node_open(unsigned int ranks, unsigned int cpus, const char *options)
{
	const char *spare = strstr(options, "--idle=");
	struct mal_arguments arguments;
	struct mal_cpumask allocation = {{0}}, idle;
	struct mal_error err = {""};

	if (!mal_policy_find("puppet")) {
		mal_policy_register(&puppet_policy);
		mal_policy_register(&malleable_policy);
	}
	memset(&puppet, 0, sizeof(puppet));
	memset(&node, 0, sizeof(node));
	open_kernel(ranks);
	for (unsigned int cpu = 0; cpu < ranks * cpus; cpu++)
		mal_cpumask_add(&allocation, cpu);
	if (spare) {
		snprintf(node.list, sizeof(node.list), "%.*s", (int)strcspn(spare + 7, " "),
			 spare + 7);
		assert_int_equal(mal_cpumask_parse(node.list, &idle, &err), 0);
		mal_cpumask_union(&allocation, &idle);
	}
	mal_cpumask_format(&allocation, node.list, sizeof(node.list));
	node.cpus = cpus;
	node.fd = mal_segment_create(&node.ranks, ranks, &allocation, &err);
	assert_true(node.fd >= 0);
	parse_options(options, &arguments);
	if (mal_step_open(&node.step, &arguments, &err) < 0 ||
	    mal_controller_start(&node.controller, &node.step, &err) < 0)
		fail_msg("%s", err.text);
	return &node.controller;
}

struct mal_controller *node_start(unsigned int ranks, unsigned int cpus, const char *options)
{
	struct mal_controller *controller = node_open(ranks, cpus, options);

	for (unsigned int rank = 0; rank < ranks; rank++)
		node_rank_start(rank);
	mal_plan_begin(controller);
	assert_true(mal_ranks_update(controller));
	mal_round_begin(controller);
	return controller;
}

void node_close(struct mal_controller *controller)
{
	mal_recording_end(controller, NULL);
	mal_controller_close(controller);
	mal_segment_close(&node.step.segment);
	mal_segment_close(&node.ranks);
	close(node.fd);
	free(node_kernel.processes);
	free(node_kernel.answer);
	node_kernel = (struct node_kernel){0};
}

void node_pass(double seconds)
{
	node_kernel.ns += (uint64_t)(seconds * 1e9);
}

struct mal_segment *node_segment(void)
{
	return &node.ranks;
}

struct mal_rank_slot *node_slot(unsigned int rank)
{
	return &node.ranks.ranks[rank];
}

struct mal_thread_slot *node_thread(unsigned int rank, unsigned int index)
{
	return mal_thread_slot(&node.ranks, rank, index);
}

struct mal_cpu_state node_cpu(unsigned int cpu)
{
	return mal_word_read(&node.ranks.cpus[cpu].word);
}

void node_set_cpu(unsigned int cpu, unsigned int owner, unsigned int user, bool lent)
{
	mal_word_set(&node.ranks.cpus[cpu].word, (struct mal_cpu_state){owner, user, lent});
	mal_free_check(&node.ranks, cpu);
}

unsigned int node_rank_count(void)
{
	return node.ranks.rank_count;
}

unsigned int node_cpu_count(void)
{
	return node.ranks.cpu_count;
}

/* As rank/attach.c: what is nobody's of its home, and what is its own still. */
static void take_home(unsigned int rank)
{
	for (unsigned int cpu = 0; cpu < node.ranks.cpu_count; cpu++) {
		struct mal_cpu_state now = node_cpu(cpu);
		bool free_home =
			mal_cpumask_has(&node_slot(rank)->home, cpu) && now.owner == MAL_NOBODY;

		if (now.owner == rank)
			mal_word_reclaim(&node.ranks.cpus[cpu].word, rank);
		if (free_home || (now.owner == rank && !now.lent))
			node_set_cpu(cpu, rank, rank, false);
		mal_free_check(&node.ranks, cpu);
	}
}

void node_rank_start(unsigned int rank)
{
	struct mal_rank_slot *slot = node_slot(rank);
	struct mal_cpumask home = {{0}};

	for (unsigned int i = 0; i < node.cpus; i++)
		mal_cpumask_add(&home, rank * node.cpus + i);
	node_kernel_start(&node_kernel.processes[rank], &home);
	slot->home = home;
	slot->pid = node_kernel.processes[rank].pid;
	for (unsigned int i = 0; i < NODE_TEAM; i++) {
		struct mal_thread_slot *thread = node_thread(rank, i);

		thread->tid = slot->pid + (int32_t)i;
		thread->cpu = thread->bound_cpu = thread->home = rank * node.cpus + i % node.cpus;
	}
	slot->team = NODE_TEAM;
	slot->uses_mpi = true;
	slot->state = MAL_RANK_RUNNING;
	take_home(rank);
}

void node_rank_end(unsigned int rank)
{
	node_slot(rank)->state = MAL_RANK_ENDED;
	for (unsigned int cpu = 0; cpu < node.ranks.cpu_count; cpu++) {
		mal_word *word = &node.ranks.cpus[cpu].word;

		mal_word_release(word, rank);
		mal_word_take(word, rank);
		mal_word_lend(word, rank);
		mal_free_check(&node.ranks, cpu);
	}
}

void node_rank_kill(unsigned int rank)
{
	node_kernel.processes[rank].alive = false;
}

bool node_may_run(unsigned int rank, unsigned int index, unsigned int cpu)
{
	return mal_cpumask_has(&node_kernel.processes[rank].may[index], cpu);
}

void node_insist(unsigned int rank, unsigned int index, unsigned int cpu)
{
	struct node_process *process = &node_kernel.processes[rank];

	process->insists[index] = cpu;
	if (cpu == MAL_NO_CPU)
		return;
	process->may[index] = (struct mal_cpumask){{0}};
	mal_cpumask_add(&process->may[index], cpu);
}

static unsigned int count_owned(unsigned int rank)
{
	unsigned int count = 0;

	for (unsigned int cpu = 0; cpu < node.ranks.cpu_count; cpu++)
		count += node_cpu(cpu).owner == rank;
	return count;
}

/*
 * As rank/cpus/cpus.c: all but the last one go to those that run; then each takes what has come to
 * it.
 */
void node_obey(void)
{
	for (unsigned int cpu = 0; cpu < node.ranks.cpu_count; cpu++) {
		unsigned int owner = node_cpu(cpu).owner, target = node.ranks.cpus[cpu].target;

		if (target < node.ranks.rank_count && owner < node.ranks.rank_count &&
		    target != owner && node_slot(target)->state == MAL_RANK_RUNNING &&
		    node_slot(owner)->state == MAL_RANK_RUNNING && count_owned(owner) > 1)
			mal_word_move(&node.ranks.cpus[cpu].word, owner, target);
	}
	for (unsigned int cpu = 0; cpu < node.ranks.cpu_count; cpu++)
		for (unsigned int rank = 0; rank < node.ranks.rank_count; rank++)
			if (node_slot(rank)->state == MAL_RANK_RUNNING)
				mal_word_take(&node.ranks.cpus[cpu].word, rank);
}

struct mal_snapshot node_said(unsigned int rank)
{
	return node_slot(rank)->snapshot;
}

void node_lie(unsigned int rank, const struct mal_snapshot *said)
{
	mal_snapshot_write(node_slot(rank), said);
	atomic_fetch_add(&node.ranks.header->arrivals, 1);
}

void node_say(unsigned int rank, double work_s, double serial_s, double mpi_s)
{
	struct mal_snapshot said = node_said(rank);

	said.round = node.ranks.header->round;
	said.kind = MAL_BOUNDARY_COLLECTIVE;
	said.boundaries[MAL_BOUNDARY_COLLECTIVE]++;
	said.tick = node_kernel.ns;
	said.busy += mal_s_to_ticks(work_s);
	said.serial += mal_s_to_ticks(serial_s);
	said.mpi += mal_s_to_ticks(mpi_s);
	said.region += mal_s_to_ticks(work_s / NODE_TEAM);
	said.thread_ticks += mal_s_to_ticks(work_s);
	said.cpu += mal_s_to_ticks(work_s + serial_s);
	said.regions++;
	said.team = NODE_TEAM;
	node_slot(rank)->count.boundaries[MAL_BOUNDARY_COLLECTIVE] =
		said.boundaries[MAL_BOUNDARY_COLLECTIVE];
	node_slot(rank)->count.serial = said.serial;
	node_slot(rank)->count.mpi = said.mpi;
	node_slot(rank)->count.region = said.region;
	node_slot(rank)->count.thread_ticks = said.thread_ticks;
	mal_thread_slot(&node.ranks, rank, 0)->busy = said.busy;
	node_lie(rank, &said);
}

void node_take(struct mal_controller *controller)
{
	mal_controller_take_round(controller, &node.window);
}

void node_window(struct mal_controller *controller, double seconds, const double *work_s)
{
	node_pass(seconds);
	for (unsigned int rank = 0; rank < node.ranks.rank_count; rank++) {
		unsigned int cpus = count_owned(rank);
		double wait = seconds - work_s[rank] / (cpus ? cpus : 1);

		if (node_slot(rank)->state == MAL_RANK_RUNNING && node_kernel.processes[rank].alive)
			node_say(rank, work_s[rank], 0, wait > 0 ? wait : 0);
	}
	node_take(controller);
}

void node_begin(struct mal_controller *controller)
{
	double work[MAL_MAX_RANKS];

	for (unsigned int rank = 0; rank < node.ranks.rank_count; rank++)
		work[rank] = 0.5;
	node_window(controller, 1, work);
	node_window(controller, 1, work);
}

void node_run(struct mal_controller *controller,
	      bool (*turn)(struct mal_controller *controller, void *context), void *context)
{
	node.turn = turn;
	node.context = context;
	atomic_store(&controller->ending, false);
	mal_controller_serve(controller);
	node.turn = NULL;
}

const char *node_end_recording(struct mal_controller *controller)
{
	static struct mal_error err;

	err.text[0] = '\0';
	mal_recording_end(controller, &err);
	return err.text;
}

const char *node_ask(struct mal_controller *controller, const char *request)
{
	free(node_kernel.answer);
	node_kernel.answer = NULL;
	node_clients_wait(controller, 1, request);
	return node_kernel.answer;
}

void node_clients_wait(struct mal_controller *controller, unsigned int count, const char *request)
{
	node_kernel.request = request;
	node_kernel.clients = count;
	if (node.step.arguments.listen_fd < 0)
		node.step.arguments.listen_fd = 0;
	mal_control_serve(controller);
}

unsigned int node_clients_left(void)
{
	return node_kernel.clients;
}

void node_others_answer(const char *answer, bool obey)
{
	node_kernel.others = answer;
	node_kernel.others_obey = obey;
	node_kernel.told[0] = '\0';
}

void node_others_live(bool live)
{
	node_kernel.others_live = live;
}

const char *node_told(void)
{
	return node_kernel.told;
}
