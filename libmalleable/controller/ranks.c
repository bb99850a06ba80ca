/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ranks.c: which ranks come, end and die, and what dead ones leave half done. */
#include "libmalleable/controller/ranks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/state/watch.h"
#include "libmalleable/core/request.h"

/*
 * A rank that died leaves its CPUs to the others; whoever had them must look again. It may have
 * died in the middle of anything: what it may have left half done is done, threads of others that
 * it was about to send away before the CPU is free.
 */
static void recover(struct mal_controller *controller, unsigned int rank)
{
	const struct mal_segment *segment = &controller->step->segment;
	bool taken;

	mal_request_forget(segment, rank);
	atomic_store(&segment->ranks[rank].binding, 0);
	if (controller->deciding.binds)
		mal_evict_rebind(controller);
	/* Whose region ends from here on looks at its words; whose ended before is seen below. */
	for (unsigned int i = 0; i < segment->rank_count; i++)
		mal_notify_cpus_changed(controller, i);
	taken = mal_owners_recover(controller, rank);
	if (taken && controller->deciding.binds)
		mal_evict_rebind(controller);
	for (unsigned int i = 0; i < segment->rank_count; i++) {
		mal_request_ask(segment, i, true);
		mal_notify_cpus_changed(controller, i);
	}
}

static bool is_gone(int32_t pid)
{
	return pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH);
}

/* What the step runs. Only the first rank whose command line can be read counts. */
static void note_command(struct mal_controller *controller, int32_t pid)
{
	struct mal_command *command = &controller->command_own;
	char path[64];
	FILE *file;

	if (command->length)
		return;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	command->length = fread(command->words, 1, sizeof(command->words) - 1, file);
	fclose(file);
}

static void begin(struct mal_controller *controller, unsigned int rank, int32_t pid)
{
	struct mal_cpumask home = controller->step->segment.ranks[rank].home;

	mal_cpumask_intersect(&home, &controller->step->allocation);
	controller->ranks_own[rank] =
		(struct mal_rank_view){.known = true, .running = true, .pid = pid, .home = home};
	mal_sampling_rank_came(controller);
	note_command(controller, pid);
	mal_watch_process(pid);
	mal_evict_receive(controller, rank);
}

/* The program of RANK has ended; DIED: not in order. */
static void end(struct mal_controller *controller, unsigned int rank, bool died)
{
	if (died)
		atomic_store(&controller->step->segment.ranks[rank].state, MAL_RANK_DEAD);
	controller->ranks_own[rank].running = false;
	controller->ranks_own[rank].left = true;
	mal_sampling_rank_left(controller, rank);
}

static void update_rank(struct mal_controller *controller, unsigned int rank)
{
	struct mal_rank_view *view = &controller->ranks_own[rank];
	struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];
	uint32_t state = atomic_load(&slot->state);
	int32_t pid = atomic_load(&slot->pid);

	if (view->running && (state != MAL_RANK_RUNNING || pid != view->pid || is_gone(pid)))
		end(controller, rank, state == MAL_RANK_RUNNING && pid == view->pid);
	/* One that ended in order may still have been killed before it had given all back. */
	if (view->left && (pid != view->pid || is_gone(pid))) {
		bool replaced = pid != view->pid;

		view->left = false;
		/* The next program has taken its CPUs back; others' threads may be there still. */
		if (!replaced)
			recover(controller, rank);
		else if (controller->deciding.binds)
			mal_evict_rebind(controller);
	}
	if (view->running || state == MAL_RANK_ABSENT || pid <= 0)
		return;
	if (state == MAL_RANK_RUNNING && !is_gone(pid)) {
		begin(controller, rank, pid);
	} else if (pid != view->pid) {
		/* It has come and gone since the last look. */
		begin(controller, rank, pid);
		end(controller, rank, state == MAL_RANK_RUNNING);
	}
}

bool mal_ranks_update(struct mal_controller *controller)
{
	bool changed = false;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		bool was = controller->ranks[rank].running;

		update_rank(controller, rank);
		changed |= was != controller->ranks[rank].running;
	}
	return changed;
}
