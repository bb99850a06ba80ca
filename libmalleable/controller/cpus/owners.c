/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* owners.c: which rank owns which CPU of the step: all that the controller writes of it. */
#include "libmalleable/controller/cpus/owners.h"

#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/core/changes.h"
#include "libmalleable/core/request.h"

struct mal_cpu_state mal_owner_read(const struct mal_controller *controller, unsigned int cpu)
{
	return mal_word_read(&controller->step->segment.cpus[cpu].word);
}

unsigned int mal_owner_next(const struct mal_controller *controller, unsigned int cpu)
{
	const struct mal_segment *segment = &controller->step->segment;
	uint32_t target = atomic_load(&segment->cpus[cpu].target);

	return target < segment->rank_count && target != mal_owner_read(controller, cpu).owner
		       ? target
		       : segment->rank_count;
}

void mal_read_owners(const struct mal_controller *controller, unsigned int *owners)
{
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		owners[i] = mal_owner_read(controller, controller->step->cpu[i]).owner;
}

unsigned int mal_home_of(const struct mal_controller *controller, unsigned int cpu)
{
	unsigned int rank = 0, ranks = controller->step->segment.rank_count;

	while (rank < ranks && !(controller->ranks[rank].running &&
				 mal_cpumask_has(&controller->ranks[rank].home, cpu)))
		rank++;
	return rank;
}

static void count(const struct mal_controller *controller, const unsigned int *owners,
		  uint16_t *counts)
{
	unsigned int ranks = controller->step->segment.rank_count;

	memset(counts, 0, ranks * sizeof(*counts));
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (owners[i] < ranks)
			counts[owners[i]]++;
}

void mal_count_owned(const struct mal_controller *controller, uint16_t *counts)
{
	unsigned int owners[MAL_MAX_CPUS];

	mal_read_owners(controller, owners);
	count(controller, owners, counts);
}

unsigned int mal_find_receiver(const struct mal_controller *controller, const unsigned int *cpus)
{
	unsigned int ranks = controller->step->segment.rank_count, found = ranks, max = 0;

	for (unsigned int rank = 0; rank < ranks; rank++) {
		unsigned int home = mal_cpumask_count(&controller->ranks[rank].home);

		if (cpus[rank] <= home + max)
			continue;
		max = cpus[rank] - home;
		found = rank;
	}
	return found;
}

void mal_window_set_owners(const struct mal_controller *controller, struct mal_window *window,
			   const unsigned int *owners)
{
	memcpy(window->owner, owners, controller->step->cpu_count * sizeof(*owners));
	count(controller, owners, window->counts);
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		window->samples[rank].cpus =
			window->samples[rank].running ? window->counts[rank] : 0;
}

void mal_window_begin(const struct mal_controller *controller, struct mal_window *window)
{
	window->at_s = mal_ticks_to_s(mal_ticks() - controller->step->started);
	mal_read_owners(controller, window->owner);
	count(controller, window->owner, window->counts);
}

void mal_notify_cpus_changed(const struct mal_controller *controller, unsigned int rank)
{
	mal_changes_add(&controller->step->segment.ranks[rank]);
}

bool mal_owner_give(struct mal_controller *controller, unsigned int cpu, unsigned int rank)
{
	struct mal_cpu_slot *slot = &controller->step->segment.cpus[cpu];

	atomic_store(&slot->target, MAL_NOBODY);
	if (!mal_word_give(&slot->word, rank))
		return false;
	mal_notify_cpus_changed(controller, rank);
	return true;
}

void mal_owner_set(struct mal_controller *controller, unsigned int cpu, unsigned int rank)
{
	mal_word_set(&controller->step->segment.cpus[cpu].word,
		     (struct mal_cpu_state){rank, rank, false});
}

struct mal_cpu_state mal_owner_revoke(struct mal_controller *controller, unsigned int cpu)
{
	struct mal_cpu_slot *slot = &controller->step->segment.cpus[cpu];
	struct mal_cpu_state before = mal_word_revoke(&slot->word);

	atomic_store(&slot->target, MAL_NOBODY);
	mal_free_check(&controller->step->segment, cpu);
	return before;
}

void mal_owners_plan(struct mal_controller *controller, const unsigned int *owners)
{
	const struct mal_segment *segment = &controller->step->segment;

	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		atomic_store(&segment->cpus[controller->step->cpu[i]].target,
			     owners[i] < segment->rank_count ? owners[i] : MAL_NOBODY);
}

/*
 * RANK died while it gave CPU to one whose region is over now: that one may wait, and does not know
 * of it.
 */
static bool take_from_waiting(const struct mal_segment *segment, unsigned int cpu,
			      unsigned int rank)
{
	mal_word *word = &segment->cpus[cpu].word;
	struct mal_cpu_state state = mal_word_read(word);

	return state.owner == rank && state.user < segment->rank_count &&
	       !mal_request_read(segment, state.user).open && mal_word_release(word, state.user);
}

bool mal_owners_recover(struct mal_controller *controller, unsigned int rank)
{
	const struct mal_segment *segment = &controller->step->segment;
	bool taken = false;

	for (unsigned int cpu = 0; cpu < segment->cpu_count; cpu++) {
		mal_word_recover(&segment->cpus[cpu].word, rank);
		taken |= take_from_waiting(segment, cpu, rank);
		mal_free_check(segment, cpu);
	}
	return taken;
}
