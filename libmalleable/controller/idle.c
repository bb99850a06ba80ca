/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* idle.c: CPUs of the job that its other steps leave idle. */
#include "libmalleable/controller/idle.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/controller/sampling.h"
#include "libmalleable/core/clock.h"

/* So long, and so often, it is looked whether ranks that have lost CPUs are on them again. */
#define SETTLE_S 1.0
#define SETTLE_PERIOD_S 0.02
/* Where nothing but affinity keeps them off others' CPUs it is looked without end. */
#define KEEP_PERIOD_S 1.0

/* The rank that gets the next CPU: it runs, can use more, and has fewest. The number of ranks if there is none. */
static unsigned int find_taker(const struct mal_controller *controller, const uint16_t *counts)
{
	unsigned int ranks = controller->segment.rank_count, found = ranks;

	for (unsigned int rank = 0; rank < ranks; rank++) {
		unsigned int most = controller->last[rank].most;

		if (!controller->ranks[rank].running || (most && counts[rank] >= most) ||
		    (found < ranks && counts[rank] >= counts[found]))
			continue;
		found = rank;
	}
	return found;
}

static bool is_ours(const struct mal_controller *controller, unsigned int cpu)
{
	return mal_cpumask_has(&controller->idle, cpu) && mal_cpumask_has(&controller->share, cpu);
}

static void tell(struct mal_controller *controller, unsigned int rank)
{
	atomic_fetch_add(&controller->segment.ranks[rank].changes, 1);
}

void mal_idle_share_out(struct mal_controller *controller)
{
	unsigned int ranks = controller->segment.rank_count;
	uint16_t counts[MAL_MAX_RANKS];

	if (!controller->binds || !(controller->off || mal_cpumask_count(&controller->idle)))
		return;
	mal_count_owned(controller, counts);
	for (unsigned int i = 0; i < controller->cpu_count; i++) {
		unsigned int cpu = controller->cpu[i], taker;
		struct mal_cpu_slot *slot = &controller->segment.cpus[cpu];

		if (mal_word_read(&slot->word).owner != MAL_NOBODY || !(controller->off || is_ours(controller, cpu)))
			continue;
		taker = mal_home_of(controller, cpu);
		if (taker == ranks && !controller->off)
			taker = find_taker(controller, counts);
		if (taker == ranks)
			continue;
		atomic_store(&slot->target, MAL_NOBODY);
		if (!mal_word_give(&slot->word, taker))
			continue;
		counts[taker]++;
		tell(controller, taker);
	}
}

/* The CPUs in LIST that the segment has. */
static int parse(const struct mal_controller *controller, const char *list, struct mal_cpumask *mask,
		 struct mal_error *err)
{
	if (mal_cpumask_parse(list, mask, err) < 0)
		return -1;
	mal_cpumask_keep(mask, &controller->allocation);
	return 0;
}

struct mal_cpumask mal_idle_and_owned(const struct mal_controller *controller, const unsigned int *owners)
{
	struct mal_cpumask mask = controller->idle;

	for (unsigned int i = 0; i < controller->cpu_count; i++)
		if (owners[i] != MAL_NOBODY)
			mal_cpumask_add(&mask, controller->cpu[i]);
	return mask;
}

int mal_idle_offer(struct mal_controller *controller, const char *list, struct mal_error *err)
{
	struct mal_cpumask mask;

	if (parse(controller, list, &mask, err) < 0)
		return -1;
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&mask, cpu)) < controller->segment.cpu_count; cpu++)
		mal_cpumask_add(&controller->idle, cpu);
	mal_idle_share_out(controller);
	return 0;
}

/* The CPUs on which RANK's threads may be: those that it uses, and those that it has lent, where it waits. */
static struct mal_cpumask used_by(const struct mal_controller *controller, unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int i = 0; i < controller->cpu_count; i++) {
		struct mal_cpu_state state = mal_word_read(&controller->segment.cpus[controller->cpu[i]].word);

		if (state.user == rank || state.owner == rank)
			mal_cpumask_add(&mask, controller->cpu[i]);
	}
	return mask;
}

/* All threads of the rank's process to the CPUs that it uses: those of no team too. What the rank says of its threads is not needed. */
static void evict_process(const struct mal_controller *controller, unsigned int rank)
{
	struct mal_cpumask mask = used_by(controller, rank);
	struct dirent *entry;
	char path[32];
	DIR *tasks;

	if (!mal_cpumask_count(&mask))
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)controller->ranks[rank].pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
		struct mal_cpumask now, wanted;

		if (tid <= 0 || mal_cpumask_get_affinity(tid, &now) < 0)
			continue;
		wanted = now;
		mal_cpumask_keep(&wanted, &mask);
		if (!mal_cpumask_count(&wanted))
			wanted = mask;
		if (memcmp(&wanted, &now, sizeof(now)) != 0)
			mal_cpumask_set_affinity(tid, &wanted);
	}
	if (tasks)
		closedir(tasks);
}

/* The threads of RANK's team that are to run on CPU go to another of its CPUs. */
static void evict_team(struct mal_controller *controller, unsigned int rank, unsigned int cpu)
{
	struct mal_cpumask mask = used_by(controller, rank);
	unsigned int refuge = mal_cpumask_next(&mask, 0);

	for (unsigned int i = 0; i < controller->segment.thread_count && refuge < MAL_MAX_CPUS; i++) {
		struct mal_thread_slot *slot = mal_thread_slot(&controller->segment, rank, i);
		uint32_t expected = cpu;

		if (!atomic_load_explicit(&slot->tid, memory_order_relaxed))
			break;
		if (atomic_compare_exchange_strong(&slot->cpu, &expected, refuge))
			atomic_store(&slot->bound, MAL_NO_CPU);
	}
}

/* CPU is nobody's now. Who owned or used it has LOST one: its threads must be sent away. */
static void take_away(struct mal_controller *controller, unsigned int cpu, bool *lost)
{
	struct mal_cpu_slot *slot = &controller->segment.cpus[cpu];
	struct mal_cpu_state before = mal_word_revoke(&slot->word);

	atomic_store(&slot->target, MAL_NOBODY);
	if (before.lent && before.user == MAL_NOBODY)
		atomic_fetch_sub(&controller->segment.header->free_cpus, 1);
	if (before.owner < controller->segment.rank_count)
		lost[before.owner] = true;
	if (before.user < controller->segment.rank_count) {
		lost[before.user] = true;
		evict_team(controller, before.user, cpu);
	}
}

/* RANK may have lost its last CPU: then it gets one of the rank that has most. */
static void help_out(struct mal_controller *controller, unsigned int rank, bool *lost)
{
	unsigned int ranks = controller->segment.rank_count, giver = ranks, cpu = MAL_NO_CPU;
	uint16_t counts[MAL_MAX_RANKS];

	mal_count_owned(controller, counts);
	if (counts[rank])
		return;
	for (unsigned int other = 0; other < ranks; other++)
		if (controller->ranks[other].running && counts[other] > 1 &&
		    (giver == ranks || counts[other] > counts[giver]))
			giver = other;
	for (unsigned int i = 0; giver < ranks && i < controller->cpu_count; i++)
		if (mal_word_read(&controller->segment.cpus[controller->cpu[i]].word).owner == giver)
			cpu = controller->cpu[i];
	if (cpu == MAL_NO_CPU)
		return;
	take_away(controller, cpu, lost);
	mal_word_set(&controller->segment.cpus[cpu].word, (struct mal_cpu_state){rank, rank, false});
}

void mal_idle_vacate(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	unsigned int ranks = controller->segment.rank_count;
	bool lost[MAL_MAX_RANKS] = {false};

	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(cpus, cpu)) < controller->segment.cpu_count; cpu++)
		take_away(controller, cpu, lost);
	for (unsigned int rank = 0; rank < ranks; rank++)
		if (lost[rank] && controller->ranks[rank].running)
			help_out(controller, rank, lost);
	/* Once for each, however many CPUs it has lost: threads are found in /proc. */
	for (unsigned int rank = 0; rank < ranks; rank++) {
		if (!lost[rank])
			continue;
		controller->settle_until = mal_ticks() + mal_s_to_ticks(SETTLE_S);
		if (controller->ranks[rank].running)
			evict_process(controller, rank);
		tell(controller, rank);
	}
}

/* May its ranks run on CPUs, as far as the kernel knows, that are others' now? */
static bool shares_its_cpuset(const struct mal_controller *controller)
{
	return controller->pool ||
	       (!controller->off && controller->agent >= 0 &&
		memcmp(&controller->share, &controller->allocation, sizeof(controller->share)) != 0);
}

void mal_idle_settle(struct mal_controller *controller)
{
	uint64_t now = mal_ticks();
	double period = controller->settle_until ? SETTLE_PERIOD_S : KEEP_PERIOD_S;

	if ((!controller->settle_until && !shares_its_cpuset(controller)) ||
	    mal_ticks_to_s(now - controller->settled) < period)
		return;
	controller->settled = now;
	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++)
		if (controller->ranks[rank].running)
			evict_process(controller, rank);
	if (now > controller->settle_until)
		controller->settle_until = 0;
}

void mal_idle_leave(struct mal_controller *controller)
{
	struct mal_cpumask cpus = {{0}};

	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&controller->idle, cpu)) < MAL_MAX_CPUS; cpu++)
		if (mal_home_of(controller, cpu) == controller->segment.rank_count)
			mal_cpumask_add(&cpus, cpu);
	mal_idle_vacate(controller, &cpus);
}

int mal_idle_withdraw(struct mal_controller *controller, const char *list, struct mal_error *err)
{
	struct mal_cpumask mask;

	if (parse(controller, list, &mask, err) < 0)
		return -1;
	mal_cpumask_drop(&controller->idle, &mask);
	mal_idle_vacate(controller, &mask);
	return 0;
}

void mal_idle_rebind(struct mal_controller *controller)
{
	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++) {
		if (!controller->ranks[rank].running)
			continue;
		/* Those of no team may run on all of the rank's CPUs, and on no more. */
		evict_process(controller, rank);
		for (unsigned int i = 0; i < controller->segment.thread_count; i++) {
			struct mal_thread_slot *slot = mal_thread_slot(&controller->segment, rank, i);
			int32_t tid = atomic_load(&slot->tid);
			uint32_t cpu = atomic_load(&slot->cpu);

			if (tid <= 0)
				break;
			if (cpu < controller->segment.cpu_count && mal_cpumask_has(&controller->allocation, cpu))
				mal_bind_thread(tid, cpu);
		}
	}
}
