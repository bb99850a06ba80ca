/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* evict.c: ranks leave CPUs that others get. */
#include "libmalleable/controller/cpus/evict.h"

#include <string.h>
#include <time.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/core/place.h"

/* So long, and so often, it is looked whether ranks that have lost CPUs are on them again. */
#define SETTLE_S 1.0
#define SETTLE_PERIOD_S 0.02
/* Where nothing but affinity keeps them off others' CPUs it is looked without end. */
#define KEEP_PERIOD_S 1.0
/*
 * So often, at such intervals, it is looked at once whether they have left: whoever asked waits for
 * the answer, and so does the loop.
 */
#define LEAVE_TRIES 3
#define LEAVE_PAUSE_NS 500000

/*
 * The CPUs on which RANK's threads may be: those that it uses, and those that it has lent, where it
 * waits.
 */
static struct mal_cpumask used_by(const struct mal_controller *controller, unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		struct mal_cpu_state state = mal_owner_read(controller, controller->step->cpu[i]);

		if (state.user == rank || state.owner == rank)
			mal_cpumask_add(&mask, controller->step->cpu[i]);
	}
	return mask;
}

/* To those CPUs in the MASK behind CONTEXT that the thread may run on, or to all of them. */
static void send_away(int32_t tid, const struct mal_cpumask *now, void *context)
{
	const struct mal_cpumask *mask = context;
	struct mal_cpumask wanted = *now;

	mal_cpumask_intersect(&wanted, mask);
	if (!mal_cpumask_count(&wanted))
		wanted = *mask;
	if (memcmp(&wanted, now, sizeof(wanted)) != 0)
		mal_cpumask_set_affinity(tid, &wanted);
}

/*
 * All threads of the rank's process to the CPUs that it uses: those of no team too. What the rank
 * says of its threads is not needed. One that has left the others lives on, and may have no CPU any
 * more: it goes where they are.
 */
static void evict_process(const struct mal_controller *controller, unsigned int rank)
{
	bool left = !controller->ranks[rank].running;
	struct mal_cpumask mask = used_by(controller, rank);

	for (unsigned int other = 0;
	     left && !mal_cpumask_count(&mask) && other < controller->step->segment.rank_count;
	     other++)
		mask = used_by(controller, other);
	if (mal_cpumask_count(&mask))
		mal_leaving_each_thread(controller, rank, send_away, &mask);
}

static void evict_all(const struct mal_controller *controller)
{
	bool leaving = mal_cpumask_count(&controller->leaving.cpus);

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (controller->ranks[rank].running || (controller->ranks[rank].left && leaving))
			evict_process(controller, rank);
}

/* The threads of RANK's team that are to run on CPU go to another of its CPUs. */
static void evict_team(struct mal_controller *controller, unsigned int rank, unsigned int cpu)
{
	struct mal_cpumask mask = used_by(controller, rank);
	unsigned int refuge = mal_cpumask_next(&mask, 0);

	for (unsigned int i = 0;
	     i < controller->step->segment.thread_count && refuge < MAL_MAX_CPUS; i++) {
		struct mal_thread_slot *slot = mal_thread_slot(&controller->step->segment, rank, i);
		uint32_t expected = cpu;

		if (!atomic_load_explicit(&slot->tid, memory_order_relaxed))
			continue;
		if (mal_place_change(slot, &expected, refuge))
			atomic_store(&slot->bound_cpu, MAL_NO_CPU);
	}
}

/* CPU is nobody's now. Who owned or used it has LOST one: its threads must be sent away. */
static void take_away(struct mal_controller *controller, unsigned int cpu, bool *lost)
{
	struct mal_cpu_state before = mal_owner_revoke(controller, cpu);

	if (before.owner < controller->step->segment.rank_count)
		lost[before.owner] = true;
	if (before.user < controller->step->segment.rank_count) {
		lost[before.user] = true;
		evict_team(controller, before.user, cpu);
	}
}

/*
 * The rank that can do without a CPU: one that runs no more, else the one that has most of several.
 * The number of ranks: none.
 */
static unsigned int find_giver(const struct mal_controller *controller, const uint16_t *counts)
{
	unsigned int ranks = controller->step->segment.rank_count, found = ranks;

	for (unsigned int rank = 0; rank < ranks; rank++) {
		if (!controller->ranks[rank].running && counts[rank])
			return rank;
		if (counts[rank] > 1 && (found == ranks || counts[rank] > counts[found]))
			found = rank;
	}
	return found;
}

/* The CPU of GIVER that RANK gets: one of RANK's home if there is one. MAL_NO_CPU: none. */
static uint32_t find_given(const struct mal_controller *controller, unsigned int giver,
			   unsigned int rank)
{
	const struct mal_cpumask *home = &controller->ranks[rank].home;
	uint32_t found = MAL_NO_CPU;

	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		unsigned int cpu = controller->step->cpu[i];

		if (mal_owner_read(controller, cpu).owner != giver)
			continue;
		found = cpu;
		if (mal_cpumask_has(home, cpu))
			break;
	}
	return found;
}

/* RANK may have no CPU: then it gets one of a rank that can do without. */
static void help_out(struct mal_controller *controller, unsigned int rank, bool *lost)
{
	unsigned int ranks = controller->step->segment.rank_count, giver;
	uint16_t counts[MAL_MAX_RANKS];
	uint32_t cpu;

	mal_count_owned(controller, counts);
	if (counts[rank])
		return;
	giver = find_giver(controller, counts);
	cpu = giver < ranks ? find_given(controller, giver, rank) : MAL_NO_CPU;
	if (cpu == MAL_NO_CPU)
		return;
	take_away(controller, cpu, lost);
	mal_owner_set(controller, cpu, rank);
}

/*
 * The ranks that have LOST CPUs leave them. Once for each, however many these are: threads are
 * found in /proc.
 */
static void evict_losers(struct mal_controller *controller, const bool *lost)
{
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		if (!lost[rank])
			continue;
		controller->settling_own.until = mal_ticks() + mal_s_to_ticks(SETTLE_S);
		if (controller->ranks[rank].running)
			evict_process(controller, rank);
		mal_notify_cpus_changed(controller, rank);
	}
}

/* Ranks that own or use CPUS leave them at once; whose they are then is for others to say. */
static void vacate(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	unsigned int ranks = controller->step->segment.rank_count;
	bool lost[MAL_MAX_RANKS] = {false};

	for (unsigned int cpu = 0;
	     (cpu = mal_cpumask_next(cpus, cpu)) < controller->step->segment.cpu_count; cpu++)
		take_away(controller, cpu, lost);
	for (unsigned int rank = 0; rank < ranks; rank++)
		if (lost[rank] && controller->ranks[rank].running)
			help_out(controller, rank, lost);
	evict_losers(controller, lost);
}

void mal_evict_receive(struct mal_controller *controller, unsigned int rank)
{
	bool lost[MAL_MAX_RANKS] = {false};
	uint16_t counts[MAL_MAX_RANKS];

	mal_count_owned(controller, counts);
	if (counts[rank] || !controller->deciding.binds)
		return;
	mal_idle_hand_out(controller);
	help_out(controller, rank, lost);
	evict_losers(controller, lost);
	/* Its threads are where it was started, on CPUs that are others'. */
	evict_process(controller, rank);
	mal_notify_cpus_changed(controller, rank);
}

void mal_evict_settle(struct mal_controller *controller)
{
	uint64_t now = mal_ticks();
	double period = controller->settling.until ? SETTLE_PERIOD_S : KEEP_PERIOD_S;

	/* Its ranks may run on CPUs, as far as the kernel knows, that are others' now. */
	bool shares = controller->pool || mal_cpumask_count(&controller->leaving.cpus);

	if ((!controller->settling.until && !shares) ||
	    mal_ticks_to_s(now - controller->settling.looked) < period)
		return;
	controller->settling_own.looked = now;
	evict_all(controller);
	mal_leaving_update(controller);
	if (now > controller->settling.until) {
		mal_leaving_give_up(controller);
		controller->settling_own.until = 0;
	}
}

void mal_evict_idle(struct mal_controller *controller)
{
	struct mal_cpumask cpus = {{0}};

	for (unsigned int cpu = 0;
	     (cpu = mal_cpumask_next(&controller->allocation.idle, cpu)) < MAL_MAX_CPUS; cpu++)
		if (mal_home_of(controller, cpu) == controller->step->segment.rank_count)
			mal_cpumask_add(&cpus, cpu);
	vacate(controller, &cpus);
}

/* Returns whether all threads have left CPUS, which are nobody's from this moment. */
static bool release(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	bool first;

	vacate(controller, cpus);
	first = mal_leaving_begin(controller, cpus);
	/* Threads of a rank that has no CPU any more need one to go to. */
	mal_idle_hand_out(controller);
	for (unsigned int i = 0;; i++) {
		mal_leaving_update(controller);
		if (mal_leaving_is_over(controller, cpus))
			return true;
		if (i == LEAVE_TRIES)
			break;
		nanosleep(&(struct timespec){0, LEAVE_PAUSE_NS}, NULL);
		evict_all(controller);
	}
	if (first)
		controller->settling_own.until = mal_ticks() + mal_s_to_ticks(SETTLE_S);
	return false;
}

int mal_evict_withdraw(struct mal_controller *controller, const char *list, struct mal_error *err)
{
	struct mal_cpumask mask;

	if (mal_allocation_parse(controller, list, &mask, err) < 0)
		return -1;
	mal_allocation_drop_idle(controller, &mask);
	return release(controller, &mask)
		       ? 0
		       : mal_fail(err, "threads are still on CPUs of %.200s", list);
}

void mal_evict_rebind(struct mal_controller *controller)
{
	const struct mal_segment *segment = &controller->step->segment;

	for (unsigned int rank = 0; rank < segment->rank_count; rank++) {
		const struct mal_placing placing = {segment, &controller->step->allocation, rank,
						    true};

		if (!controller->ranks[rank].running)
			continue;
		/* Those of no team may run on all of the rank's CPUs, and on no more. */
		evict_process(controller, rank);
		/* The threads of a first team come in any order. */
		for (unsigned int i = 0; i < segment->thread_count; i++)
			mal_place_bind(&placing, mal_thread_slot(segment, rank, i));
	}
}
