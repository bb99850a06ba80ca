/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* leaving.c: whether ranks have left CPUs, as the kernel says. */
#include "libmalleable/controller/cpus/leaving.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/controller/cpus/owners.h"

/* Of a thread or process that has ended, nothing else. */
static bool is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

bool mal_leaving_each_thread(const struct mal_controller *controller, unsigned int rank,
			     void (*function)(int32_t tid, const struct mal_cpumask *now,
					      void *context),
			     void *context)
{
	struct dirent *entry;
	bool all = true;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)controller->ranks[rank].pid);
	tasks = opendir(path);
	if (!tasks)
		return is_gone(errno);
	while ((errno = 0, entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
		struct mal_cpumask now;

		if (tid <= 0)
			continue;
		if (mal_cpumask_get_affinity(tid, &now) == 0)
			function(tid, &now, context);
		else
			all &= is_gone(errno);
	}
	all &= !errno || is_gone(errno);
	closedir(tasks);
	return all;
}

/* It has threads, whether it is balanced still or has left in order. */
static bool has_threads(const struct mal_controller *controller, unsigned int rank)
{
	return controller->ranks[rank].running || controller->ranks[rank].left;
}

/* Is a rank binding threads now, its own or another's, by words that it has read? */
static bool is_any_binding(const struct mal_controller *controller)
{
	bool binding = false;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		binding |= has_threads(controller, rank) &&
			   atomic_load(&controller->step->segment.ranks[rank].binding);
	return binding;
}

static void add_affinity(int32_t tid, const struct mal_cpumask *now, void *context)
{
	(void)tid;
	mal_cpumask_union(context, now);
}

bool mal_leaving_begin(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	unsigned int before = mal_cpumask_count(&controller->leaving.cpus);

	mal_cpumask_union(&controller->leaving_own.cpus, cpus);
	return mal_cpumask_count(&controller->leaving.cpus) > before;
}

void mal_leaving_forget(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	mal_cpumask_drop(&controller->leaving_own.cpus, cpus);
}

/*
 * Whose words say that they are a rank's again: it got them back where balancing was switched off.
 */
static void forget_owned(struct mal_controller *controller)
{
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&controller->leaving.cpus, cpu)) <
				   controller->step->segment.cpu_count;
	     cpu++)
		if (mal_owner_read(controller, cpu).owner != MAL_NOBODY)
			mal_cpumask_remove(&controller->leaving_own.cpus, cpu);
}

void mal_leaving_update(struct mal_controller *controller)
{
	struct mal_cpumask used = {{0}};
	bool all = true;

	forget_owned(controller);
	if (!mal_cpumask_count(&controller->leaving.cpus))
		return;
	/* Who begins to bind after this reads words in which the CPUs are nobody's. */
	atomic_thread_fence(memory_order_seq_cst);
	if (is_any_binding(controller))
		return;
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (has_threads(controller, rank))
			all &= mal_leaving_each_thread(controller, rank, add_affinity, &used);
	/* Of threads that were not seen nothing is known. */
	if (all)
		mal_cpumask_intersect(&controller->leaving_own.cpus, &used);
}

bool mal_leaving_is_over(const struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	struct mal_cpumask rest = controller->leaving.cpus;

	mal_cpumask_intersect(&rest, cpus);
	return !mal_cpumask_count(&rest);
}

void mal_leaving_give_up(struct mal_controller *controller)
{
	mal_cpumask_union(&controller->leaving_own.kept, &controller->leaving.cpus);
}
