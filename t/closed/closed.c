/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* closed.c: run a policy against a made-up program, in a closed loop. */
#include "t/closed/closed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/decide/decision.h"
#include "policies/decide/windows.h"
#include "t/closed/phase.h"

/* A rank waits this long for each CPU that it gets, as in a replay (simulation.c). */
#define MOVE_S 30e-6
/* Phases that are much shorter than windows are simulated in steps of this length ... */
#define STEP_S 0.01
/* ... of which so many phases stand for all: a multiple of the periods of periodic loads. */
#define STEP_PHASES 6
/* Crowding grows up to so many times the CPUs of the beginning. */
#define CROWDS 3
/* CPUs that share an L3 where nothing else is said. */
#define L3_CPUS 4

struct loop {
	const struct mal_policy *policy;
	void *state;
	struct mal_program *program;
	const struct mal_topology *topology;
	struct mal_closed *closed;
	struct mal_plan plan; /* whose rules hold */
	struct mal_windows windows;
	bool waiting;	       /* for the plan to take effect */
	uint64_t takes_effect; /* in this phase */
	double boundaries;
	struct mal_runner *runners, *at_home;
	struct mal_sample *samples;
	double *late_s; /* by rank: work that moves have cost it */
	unsigned int *owner, *home, *planned, *asked, *count, *use;
};

static void *take(size_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

static bool open_loop(struct loop *loop)
{
	size_t ranks = loop->program->ranks, cpus = loop->topology->cpu_count;

	loop->runners = take(ranks, sizeof(*loop->runners));
	loop->at_home = take(ranks, sizeof(*loop->at_home));
	loop->samples = take(ranks, sizeof(*loop->samples));
	loop->late_s = take(ranks, sizeof(double));
	loop->owner = take(cpus, sizeof(unsigned int));
	loop->home = take(cpus, sizeof(unsigned int));
	loop->planned = take(cpus, sizeof(unsigned int));
	loop->asked = take(cpus, sizeof(unsigned int));
	loop->count = take(ranks, sizeof(unsigned int));
	loop->use = take(ranks, sizeof(unsigned int));
	return loop->runners && loop->at_home && loop->samples && loop->late_s && loop->owner &&
	       loop->home && loop->planned && loop->asked && loop->count && loop->use;
}

static void close_loop(struct loop *loop)
{
	if (loop->policy->destroy)
		loop->policy->destroy(loop->state);
	free(loop->runners);
	free(loop->at_home);
	free(loop->samples);
	free(loop->late_s);
	free(loop->owner);
	free(loop->home);
	free(loop->planned);
	free(loop->asked);
	free(loop->count);
	free(loop->use);
}

/* Say how the ranks' work scales. */
static void describe(const struct mal_program *program, struct mal_runner *runners)
{
	const double *number = program->number;

	for (unsigned int rank = 0; rank < program->ranks; rank++) {
		bool hard = mal_program_is_hard(program, rank);
		double cpus = program->cpus;

		runners[rank].serial_s =
			hard ? number[MAL_LOAD_SERIAL] * number[MAL_LOAD_PHASE] : 0;
		runners[rank].fixed = hard ? number[MAL_LOAD_FIXED] : 0;
		runners[rank].crowd = hard ? number[MAL_LOAD_CROWD] / (cpus * cpus) : 0;
		runners[rank].most_crowd = CROWDS * program->cpus;
		runners[rank].remote = hard ? number[MAL_LOAD_REMOTE] : 1;
	}
}

/* Which of the CPUs that they use are near the ones that ranks had at first? */
static void place(const struct loop *loop, const unsigned int *owner, struct mal_runner *runners)
{
	for (unsigned int rank = 0; rank < loop->program->ranks; rank++) {
		runners[rank].near_cpus = runners[rank].far_cpus = 0;
		runners[rank].most = loop->use[rank];
	}
	for (unsigned int cpu = 0; cpu < loop->topology->cpu_count; cpu++) {
		struct mal_runner *runner = &runners[owner[cpu]];

		if (owner[cpu] >= loop->program->ranks ||
		    (runner->most && runner->near_cpus + runner->far_cpus == runner->most))
			continue;
		if (runner->remote <= 1 ||
		    loop->topology->numa[cpu] ==
			    loop->topology->numa[owner[cpu] * loop->program->cpus])
			runner->near_cpus++;
		else
			runner->far_cpus++;
	}
}

/* Carry out the plan. */
static void move(struct loop *loop)
{
	unsigned int gained[MAL_MAX_RANKS] = {0};

	for (unsigned int cpu = 0; cpu < loop->topology->cpu_count; cpu++) {
		unsigned int owner = loop->planned[cpu];

		if (owner == loop->owner[cpu])
			continue;
		loop->owner[cpu] = owner;
		loop->closed->moves++;
		if (owner < loop->program->ranks)
			gained[owner]++;
	}
	for (unsigned int rank = 0; rank < loop->program->ranks; rank++)
		loop->late_s[rank] +=
			gained[rank] * (MOVE_S + loop->program->number[MAL_LOAD_CACHE] /
							 (loop->program->cpus + gained[rank]));
	place(loop, loop->owner, loop->runners);
	loop->waiting = false;
}

static bool ask(struct loop *loop, const struct mal_sample *samples)
{
	struct mal_view view = {loop->topology, loop->program->ranks, samples, loop->owner};
	struct mal_plan plan = {.count = loop->count, .owner = loop->asked, .use = loop->use};
	const char *rejection;

	if (loop->closed->rejection[0] || !loop->policy->decide)
		return false;
	switch (mal_decide(loop->policy, loop->state, &view, &plan, &rejection)) {
	case MAL_DECISION_NONE: return false;
	case MAL_DECISION_MADE: loop->plan = plan; return plan.move;
	case MAL_DECISION_REJECTED: break;
	}
	mal_rejection_describe(rejection, &view, &plan, loop->closed->windows,
			       loop->closed->rejection);
	loop->plan.lend = loop->plan.grow = false;
	return false;
}

/* Add a phase, which stands for TIMES, to the window. Returns its length. */
static double add_phase(struct loop *loop, const struct mal_phase_rules *rules, double times)
{
	const double *number = loop->program->number;
	double wait_s = number[MAL_LOAD_WAIT] * number[MAL_LOAD_PHASE], length;

	length = mal_phase_run(loop->runners, loop->program->ranks, rules);
	for (unsigned int rank = 0; rank < loop->program->ranks; rank++) {
		struct mal_runner *runner = &loop->runners[rank];
		struct mal_sample *sample = &loop->samples[rank];

		sample->elapsed_s += times * (length + wait_s);
		sample->work_s += times * runner->busy_s;
		sample->barrier_s += times * runner->barrier_s;
		sample->serial_s += times * runner->serial_s;
		sample->mpi_s += times * (length - runner->done_s + wait_s);
		sample->phases += times;
		sample->region_s += times * (runner->done_s - runner->serial_s);
	}
	return times * (length + wait_s);
}

/* One phase with the policy's CPUs and one with those of the beginning. */
static void run_phase(struct loop *loop, uint64_t phase, double times)
{
	const double *number = loop->program->number;
	unsigned int ranks = loop->program->ranks;
	double wait_s = number[MAL_LOAD_WAIT] * number[MAL_LOAD_PHASE];
	double unit = number[MAL_LOAD_PHASE] * loop->program->cpus, sum = 0, off_s;
	struct mal_phase_rules rules = {loop->plan.lend,
					loop->plan.grow,
					loop->plan.lending.keep_one,
					loop->plan.lending.max,
					(unsigned int)number[MAL_LOAD_REGIONS],
					number[MAL_LOAD_LEND]};
	struct mal_phase_rules off = {.regions = rules.regions};

	mal_program_phase(loop->program, phase);
	for (unsigned int rank = 0; rank < ranks; rank++) {
		double work = unit * mal_program_work(loop->program, phase, rank);
		struct mal_runner *runner = &loop->runners[rank];

		/* At home an even share takes a phase, however the work scales. */
		work /= 1 + (loop->program->cpus - 1) * runner->fixed +
			runner->crowd * loop->program->cpus * loop->program->cpus;
		loop->at_home[rank].work_s = work;
		runner->work_s = work;
		runner->serial_s = loop->at_home[rank].serial_s + loop->late_s[rank] / times;
		loop->late_s[rank] = 0;
		sum += work + loop->at_home[rank].serial_s;
	}
	off_s = times * (mal_phase_run(loop->at_home, ranks, &off) + wait_s);
	loop->closed->off_s += off_s;
	loop->closed->elapsed_s += add_phase(loop, &rules, times);
	loop->closed->ideal_s += times * (sum / loop->topology->cpu_count + wait_s);
	loop->closed->phases += times;
	loop->boundaries += times;
}

/* A step: several short phases, or one. Returns the phases that it stands for. */
static uint64_t step(struct loop *loop, uint64_t phase)
{
	double phase_s = loop->program->number[MAL_LOAD_PHASE];
	uint64_t phases = phase_s < STEP_S ? (uint64_t)(STEP_S / phase_s) : 1;
	uint64_t simulated = phases < STEP_PHASES ? phases : STEP_PHASES;

	for (uint64_t i = 0; i < simulated; i++)
		run_phase(loop, phase + i, (double)phases / (double)simulated);
	return phases;
}

/* A window is over: ask the policy. */
static void decide(struct loop *loop, uint64_t phase)
{
	bool moves;

	mal_count_cpus(loop->owner, loop->topology->cpu_count, loop->program->ranks, loop->count);
	for (unsigned int rank = 0; rank < loop->program->ranks; rank++) {
		struct mal_sample *sample = &loop->samples[rank];

		sample->running = true;
		sample->cpus = loop->count[rank];
		sample->team = loop->runners[rank].near_cpus + loop->runners[rank].far_cpus;
		sample->region_s /= sample->phases * loop->program->number[MAL_LOAD_REGIONS];
	}
	loop->closed->windows++;
	moves = ask(loop, loop->samples);
	place(loop, loop->owner, loop->runners);
	loop->windows.short_ones = loop->plan.short_windows;
	mal_windows_adapt(&loop->windows, moves);
	if (moves) {
		memcpy(loop->planned, loop->asked,
		       loop->topology->cpu_count * sizeof(loop->planned[0]));
		loop->waiting = true;
		loop->takes_effect = phase + (uint64_t)loop->program->number[MAL_LOAD_LATE];
	}
	memset(loop->samples, 0, loop->program->ranks * sizeof(loop->samples[0]));
	loop->boundaries = 0;
}

static void run(struct loop *loop)
{
	uint64_t phases = (uint64_t)mal_program_phases(loop->program), sampled = 0;

	describe(loop->program, loop->runners);
	describe(loop->program, loop->at_home);
	place(loop, loop->home, loop->at_home);
	place(loop, loop->owner, loop->runners);
	mal_program_begin(loop->program);
	loop->windows = mal_windows_first();
	ask(loop, NULL);
	for (uint64_t phase = 0; phase < phases;) {
		if (loop->waiting && phase >= loop->takes_effect)
			move(loop);
		phase += step(loop, phase);
		/* Before another plan takes its place. */
		if (loop->waiting && phase >= loop->takes_effect)
			move(loop);
		if (phase < sampled + loop->windows.stride)
			continue;
		sampled = phase;
		if (mal_windows_end(&loop->windows, (uint64_t)loop->boundaries,
				    loop->samples[0].elapsed_s))
			decide(loop, phase);
	}
}

void mal_closed_place(const struct mal_program *program, struct mal_closed_places *places)
{
	unsigned int cpus = program->ranks * program->cpus;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		places->l3[cpu] = cpu / L3_CPUS;
		places->numa[cpu] = 2 * cpu / cpus;
	}
	places->topology =
		(struct mal_topology){cpus, places->l3, places->numa, places->numa, NULL};
}

int mal_closed_run(const struct mal_policy *policy, const double *values,
		   struct mal_program *program, const struct mal_topology *topology,
		   struct mal_closed *closed, struct mal_error *err)
{
	struct loop loop = {
		.policy = policy, .program = program, .topology = topology, .closed = closed};
	bool opened = open_loop(&loop);

	*closed = (struct mal_closed){0};
	loop.state = policy->create ? policy->create(values) : NULL;
	opened = opened && (loop.state || !policy->create);
	for (unsigned int cpu = 0; opened && cpu < topology->cpu_count; cpu++)
		loop.owner[cpu] = loop.home[cpu] = cpu / program->cpus;
	if (opened)
		run(&loop);
	close_loop(&loop);
	return opened ? 0 : mal_fail(err, "out of memory");
}
