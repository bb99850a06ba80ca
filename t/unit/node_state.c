/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * node_state.c: what tests set and read of a controller, by name, and what must be true of it at
 * any time.
 */
#include "t/unit/node_controller.h"

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/load/history.h"
#include "libmalleable/controller/load/plausibility.h"
#include "libmalleable/controller/load/sampling.h"
#include "t/unit/node_kernel.h"

const struct mal_sample *node_sample(const struct mal_controller *controller, unsigned int rank)
{
	return &controller->last[rank];
}

const struct mal_rank_view *node_rank(const struct mal_controller *controller, unsigned int rank)
{
	return &controller->ranks[rank];
}

const struct mal_totals *node_totals(const struct mal_controller *controller)
{
	return &controller->totals;
}

const struct mal_plausibility *node_plausibility(const struct mal_controller *controller)
{
	return &controller->plausibility;
}

size_t node_history(const struct mal_controller *controller)
{
	json_t *list = mal_history_json(controller);
	size_t count = json_array_size(list);

	json_decref(list);
	return count;
}

unsigned int node_plans(const struct mal_controller *controller)
{
	return controller->deciding.plans;
}

double node_window_s(const struct mal_controller *controller)
{
	return mal_ticks_to_s(controller->step->segment.header->sample_after - mal_ticks());
}

uint64_t node_stride(const struct mal_controller *controller)
{
	uint64_t boundary = 0;

	for (unsigned int rank = 0; rank < node_rank_count(); rank++)
		if (controller->ranks[rank].running &&
		    mal_sampling_boundaries(controller, rank) > boundary)
			boundary = mal_sampling_boundaries(controller, rank);
	return controller->step->segment.header->sample_at - boundary;
}

const char *node_rejected(const struct mal_controller *controller)
{
	return controller->deciding.rejected;
}

const char *node_policy(const struct mal_controller *controller)
{
	return controller->deciding.policy->name;
}

bool node_is_settling(const struct mal_controller *controller)
{
	return controller->settling.until;
}

bool node_binds(const struct mal_controller *controller)
{
	return controller->deciding.binds;
}

const char *node_format(const struct mal_cpumask *mask)
{
	static char text[8][MAL_CPUMASK_TEXT];
	static unsigned int next;

	return mal_cpumask_format(mask, text[next++ % 8], MAL_CPUMASK_TEXT);
}

const char *node_idle(const struct mal_controller *controller)
{
	return node_format(&controller->allocation.idle);
}

const char *node_leaving(const struct mal_controller *controller)
{
	return node_format(&controller->leaving.cpus);
}

const char *node_kept(const struct mal_controller *controller)
{
	return node_format(&controller->leaving.kept);
}

const char *node_owned(unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; cpu < node_cpu_count(); cpu++)
		if (node_cpu(cpu).owner == rank)
			mal_cpumask_add(&mask, cpu);
	return node_format(&mask);
}

const char *node_planned(unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; cpu < node_cpu_count(); cpu++)
		if (node_segment()->cpus[cpu].target == rank)
			mal_cpumask_add(&mask, cpu);
	return node_format(&mask);
}

void node_set_totals(struct mal_controller *controller, struct mal_totals totals)
{
	controller->totals_own = totals;
}

void node_set_plausibility(struct mal_controller *controller, struct mal_plausibility found)
{
	controller->plausibility_own = found;
}

void node_set_kept(struct mal_controller *controller, const char *cpus)
{
	assert_int_equal(mal_cpumask_parse(cpus, &controller->leaving_own.kept, NULL), 0);
}

void node_set_was_off(struct mal_controller *controller)
{
	controller->off_switch_own.ever_off = true;
}

void node_admin_switch(bool off)
{
	node_kernel.off = off;
}

void node_set_blind(bool blind)
{
	node_kernel.blind = blind;
}

void node_thread_waits(unsigned int rank, unsigned int thread, double s)
{
	node_kernel.counts_waits = true;
	node_kernel.processes[rank].waited_ns[thread] += (uint64_t)(s * 1e9);
}

void node_set_stat(const char *stat)
{
	node_kernel.stat = stat;
}

/* The CPUs outside of the step, of which nobody here may have any. */
static const char *wrong_outside(const struct mal_controller *controller)
{
	struct mal_cpumask outside = controller->allocation.idle;

	mal_cpumask_union(&outside, &controller->leaving.cpus);
	mal_cpumask_drop(&outside, &controller->step->allocation);
	if (mal_cpumask_count(&outside))
		return "the controller counts on a CPU outside of the allocation";
	for (unsigned int cpu = 0; cpu < node_cpu_count(); cpu++) {
		unsigned int target = node_segment()->cpus[cpu].target;

		if (!mal_cpumask_has(&controller->step->allocation, cpu) &&
		    (node_cpu(cpu).owner != MAL_NOBODY || target != MAL_NOBODY))
			return "a CPU outside of the allocation has an owner";
		if (target != MAL_NOBODY && target >= node_rank_count())
			return "a CPU is planned for a rank that there is not";
	}
	return NULL;
}

const char *node_wrong(const struct mal_controller *controller)
{
	for (unsigned int cpu = 0; cpu < node_cpu_count(); cpu++) {
		struct mal_cpu_state now = node_cpu(cpu);

		if (now.owner != MAL_NOBODY && now.owner >= node_rank_count())
			return "a CPU is a rank's that there is not";
		if (now.user != MAL_NOBODY && now.user >= node_rank_count())
			return "a CPU is used by a rank that there is not";
		if (now.owner == MAL_NOBODY && now.user != MAL_NOBODY)
			return "a CPU is nobody's, and used";
	}
	for (unsigned int rank = 0; rank < node_rank_count(); rank++) {
		if (!*node_owned(rank) && controller->ranks[rank].running && !*node_planned(rank))
			return "a rank that runs has no CPU";
		for (unsigned int i = 0; i < NODE_THREADS; i++) {
			struct mal_cpumask may = node_kernel.processes[rank].may[i];

			mal_cpumask_drop(&may, &controller->step->allocation);
			if (node_kernel.processes[rank].alive && mal_cpumask_count(&may))
				return "a thread may run outside of the allocation";
		}
	}
	return wrong_outside(controller);
}
