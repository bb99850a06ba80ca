/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* step.c: a controller and its step in plain memory. */
#include "t/fuzz/step.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/load/alternatives.h"
#include "libmalleable/controller/load/history.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/step.h"
#include "libmalleable/trace/places.h"
#include "policies/interface/registry.h"

#define TICKS 1000000

/* Two CPUs a rank, two ranks an L3. */
int mal_places_read(const char *synthetic, const unsigned int *cpu, unsigned int count,
		    unsigned int *core, unsigned int *l3, unsigned int *numa, unsigned int *package,
		    struct mal_error *err)
{
	(void)synthetic, (void)package, (void)err;
	for (unsigned int i = 0; i < count; i++) {
		core[i] = cpu[i];
		l3[i] = numa[i] = cpu[i] / 4;
	}
	return 0;
}

static void *room(size_t size)
{
	void *memory = aligned_alloc(MAL_CACHE_LINE,
				     (size + MAL_CACHE_LINE - 1) / MAL_CACHE_LINE * MAL_CACHE_LINE);

	if (!memory)
		abort();
	return memset(memory, 0, size);
}

static void open_segment(struct mal_segment *segment)
{
	segment->rank_count = FUZZ_RANKS;
	segment->cpu_count = FUZZ_CPUS;
	segment->thread_count = FUZZ_THREADS;
	segment->header = room(sizeof(*segment->header));
	segment->cpus = room(FUZZ_CPUS * sizeof(*segment->cpus));
	segment->ranks = room(FUZZ_RANKS * sizeof(*segment->ranks));
	segment->requests = room(FUZZ_RANKS * sizeof(*segment->requests));
	segment->threads = room((size_t)FUZZ_RANKS * FUZZ_THREADS * sizeof(*segment->threads));
	segment->regions = room((size_t)FUZZ_RANKS * MAL_NAMED_REGIONS * sizeof(*segment->regions));
	segment->lanes = room(FUZZ_RANKS * mal_lanes_size(segment));
	for (unsigned int cpu = 0; cpu < FUZZ_CPUS; cpu++) {
		mal_word_set(&segment->cpus[cpu].word,
			     (struct mal_cpu_state){cpu / 2, cpu / 2, false});
		segment->cpus[cpu].target = MAL_NOBODY;
		mal_cpumask_add(&segment->ranks[cpu / 2].home, cpu);
	}
	for (unsigned int rank = 0; rank < FUZZ_RANKS; rank++) {
		segment->ranks[rank].pid = (int32_t)(1000 + 2 * rank);
		segment->ranks[rank].state = MAL_RANK_RUNNING;
	}
}

/* A controller, and the facts of its step behind it. */
struct step {
	struct mal_controller controller;
	struct mal_step_facts facts;
};

struct mal_controller *fuzz_step_open(const char *text)
{
	static bool clock_is_open;
	struct step *step = room(sizeof(*step));
	struct mal_controller *controller = &step->controller;
	struct mal_step_facts *facts = &step->facts;

	if (!clock_is_open)
		mal_clock_open();
	clock_is_open = true;
	if (mal_choose(text, NULL, MAL_POLICY_DEFAULT, &facts->choice, NULL) < 0) {
		free(step);
		return NULL;
	}
	open_segment(&facts->segment);
	facts->started = mal_ticks();
	facts->arguments = (struct mal_arguments){MAL_ARGUMENTS_NO_FDS, .step = "1.0", .node = "n1",
						  .libdir = "/nonexistent", .nodes = 3};
	facts->cpu_count = FUZZ_CPUS;
	for (unsigned int cpu = 0; cpu < FUZZ_CPUS; cpu++) {
		facts->cpu[cpu] = cpu;
		mal_cpumask_add(&facts->allocation, cpu);
	}
	if (mal_controller_open(controller, facts, &(struct mal_cpumask){{0}}, NULL) < 0)
		abort();
	mal_allocation_read_places(controller);
	mal_ranks_update(controller);
	mal_plan_begin(controller);
	mal_round_begin(controller);
	return controller;
}

void fuzz_step_close(struct mal_controller *controller)
{
	struct mal_segment segment = controller->step->segment;

	mal_controller_close(controller);
	free(segment.header);
	free(segment.cpus);
	free(segment.ranks);
	free((void *)segment.requests);
	free(segment.lanes);
	free(segment.threads);
	free(segment.regions);
	free(controller);
}

void fuzz_step_round(struct mal_controller *controller, const uint8_t busy[FUZZ_RANKS])
{
	struct mal_window window;

	for (unsigned int rank = 0; rank < FUZZ_RANKS; rank++) {
		struct mal_snapshot *said = &controller->step->segment.ranks[rank].snapshot;

		said->round = controller->step->segment.header->round;
		said->kind = MAL_BOUNDARY_COLLECTIVE;
		said->boundaries[MAL_BOUNDARY_COLLECTIVE]++;
		said->tick += mal_s_to_ticks(1);
		said->busy += (uint64_t)busy[rank] * TICKS;
		said->thread_ticks += (uint64_t)busy[rank] * TICKS;
		said->regions++;
	}
	if (mal_round_read(controller, &window) == MAL_ROUND_WINDOW) {
		mal_totals_add(controller, window.samples);
		mal_history_note(controller, &window);
		mal_alternatives_window(controller, &window);
		mal_plan_make(controller, &window);
		mal_idle_hand_out(controller);
	}
	mal_round_begin(controller);
}
