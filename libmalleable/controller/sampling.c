/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sampling.c: rounds of samples, from the segment to checked numbers. */
#include "libmalleable/controller/sampling.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "libmalleable/controller/watch.h"
#include "libmalleable/core/clock.h"
#include "libmalleable/core/futex.h"

/* In the first rounds every boundary is looked at. */
#define SHORT_ROUNDS 32

/* A rank that died leaves its CPUs to the others; whoever had them must look again. */
static void recover(struct mal_controller *controller, unsigned int rank)
{
	struct mal_segment *segment = &controller->segment;

	for (unsigned int cpu = 0; cpu < segment->cpu_count; cpu++) {
		struct mal_cpu_state before = mal_word_read(&segment->cpus[cpu].word);
		bool was_free = before.lent && before.user == MAL_NOBODY;

		if (mal_word_recover(&segment->cpus[cpu].word, rank) && !was_free)
			atomic_fetch_add(&segment->header->free_cpus, 1);
	}
	mal_hungry_say(segment, rank, false);
	atomic_store(&segment->ranks[rank].waiting_since, 0);
	for (unsigned int i = 0; i < segment->rank_count; i++)
		atomic_fetch_add(&segment->ranks[i].changes, 1);
}

static bool is_gone(int32_t pid)
{
	return pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH);
}

static void update_rank(struct mal_controller *controller, unsigned int rank)
{
	struct mal_rank_view *view = &controller->ranks[rank];
	struct mal_rank_slot *slot = &controller->segment.ranks[rank];
	uint32_t state = atomic_load(&slot->state);
	int32_t pid = atomic_load(&slot->pid);

	if (view->running && (state != MAL_RANK_RUNNING || pid != view->pid || is_gone(pid))) {
		if (state == MAL_RANK_RUNNING && pid == view->pid) {
			atomic_store(&slot->state, MAL_RANK_DEAD);
			recover(controller, rank);
		}
		view->running = false;
		view->sampled = false;
	}
	if (!view->running && state == MAL_RANK_RUNNING && !is_gone(pid)) {
		view->running = true;
		view->known = true;
		view->pid = pid;
		view->home = slot->home;
		mal_cpumask_keep(&view->home, &controller->allocation);
		mal_watch_process(pid);
	}
}

bool mal_ranks_update(struct mal_controller *controller)
{
	bool changed = false;

	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++) {
		bool was = controller->ranks[rank].running;

		update_rank(controller, rank);
		changed |= was != controller->ranks[rank].running;
	}
	return changed;
}

static unsigned int running_ranks(const struct mal_controller *controller)
{
	unsigned int count = 0;

	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++)
		count += controller->ranks[rank].running;
	return count;
}

void mal_round_begin(struct mal_controller *controller)
{
	struct mal_header *header = controller->segment.header;
	uint64_t boundary = 0;

	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++) {
		uint64_t reached = atomic_load(&controller->segment.ranks[rank].count.boundaries);

		if (controller->ranks[rank].running && reached > boundary)
			boundary = reached;
	}
	atomic_store(&header->sample_at, boundary + controller->stride);
	atomic_store(&header->sample_after, mal_ticks() + mal_s_to_ticks(controller->window_s));
	atomic_store(&header->arrivals, 0);
	atomic_store(&header->expected, running_ranks(controller));
	atomic_store(&header->round, ++controller->round);
	atomic_fetch_add(&header->answers, 1);
	if (atomic_load(&header->awaiting))
		mal_futex_wake(&header->answers, INT32_MAX);
}

bool mal_round_is_complete(const struct mal_controller *controller)
{
	struct mal_header *header = controller->segment.header;
	uint32_t expected = running_ranks(controller);

	return expected && atomic_load(&header->arrivals) >= expected;
}

/* The ticks between two readings of a counter in seconds, within 0 and MOST_S. */
static double span(uint64_t now, uint64_t before, double most_s)
{
	double seconds;

	if (now <= before)
		return 0;
	seconds = mal_ticks_to_s(now - before);
	return seconds < most_s ? seconds : most_s;
}

void mal_read_owners(const struct mal_controller *controller, unsigned int *owners)
{
	for (unsigned int i = 0; i < controller->cpu_count; i++)
		owners[i] = mal_word_read(&controller->segment.cpus[controller->cpu[i]].word).owner;
}

unsigned int mal_home_of(const struct mal_controller *controller, unsigned int cpu)
{
	unsigned int rank = 0, ranks = controller->segment.rank_count;

	while (rank < ranks &&
	       !(controller->ranks[rank].running && mal_cpumask_has(&controller->ranks[rank].home, cpu)))
		rank++;
	return rank;
}

void mal_count_owned(const struct mal_controller *controller, uint16_t *counts)
{
	unsigned int ranks = controller->segment.rank_count, owners[MAL_MAX_CPUS];

	mal_read_owners(controller, owners);
	memset(counts, 0, ranks * sizeof(*counts));
	for (unsigned int i = 0; i < controller->cpu_count; i++)
		if (owners[i] < ranks)
			counts[owners[i]]++;
}

static void make_sample(struct mal_controller *controller, unsigned int rank, const struct mal_snapshot *now,
			unsigned int cpus, struct mal_sample *sample)
{
	const struct mal_snapshot *before = &controller->ranks[rank].last;
	uint64_t regions = now->regions - before->regions;
	double inside;

	memset(sample, 0, sizeof(*sample));
	sample->running = true;
	sample->elapsed_s = span(now->tick, before->tick, 1e6);
	sample->work_s = span(now->busy, before->busy, sample->elapsed_s * controller->cpu_count);
	sample->serial_s = span(now->serial, before->serial, sample->elapsed_s);
	sample->mpi_s = span(now->mpi, before->mpi, sample->elapsed_s);
	inside = span(now->thread_ticks, before->thread_ticks, sample->elapsed_s * controller->segment.thread_count);
	sample->barrier_s = inside > sample->work_s ? inside - sample->work_s : 0;
	if (regions)
		sample->region_s = span(now->region, before->region, sample->elapsed_s) / (double)regions;
	sample->cpus = cpus;
	sample->phases = now->boundary > before->boundary ? (double)(now->boundary - before->boundary) : 0;
	sample->most = now->most < 65536 ? (unsigned int)now->most : 0;
	sample->team = now->team < 65536 ? (unsigned int)now->team : 65536;
}

/* Boundaries until the next sample, for windows of the wanted length; it grows slowly, phases differ in length. */
static void adapt_stride(struct mal_controller *controller, uint64_t boundaries, double elapsed)
{
	double wanted = controller->window_s * (double)boundaries / elapsed;

	/* A program starts with a burst of collective calls; its first real phase is not to be missed for them. */
	if (controller->round < SHORT_ROUNDS)
		return;
	if (wanted > 2.0 * (double)controller->stride)
		wanted = 2.0 * (double)controller->stride;
	controller->stride = wanted < 1 ? 1 : wanted > 1e9 ? 1000000000 : (uint64_t)wanted;
}

/* What all running ranks said in this round becomes the start of the next window. */
static void remember_round(struct mal_controller *controller, const struct mal_snapshot *said)
{
	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++) {
		if (!controller->ranks[rank].running)
			continue;
		controller->ranks[rank].last = said[rank];
		controller->ranks[rank].sampled = said[rank].round == controller->round;
	}
}

bool mal_round_read(struct mal_controller *controller, struct mal_sample *samples)
{
	struct mal_snapshot said[MAL_MAX_RANKS];
	uint16_t owned[MAL_MAX_RANKS];
	bool window = true;
	double elapsed = 0;
	uint64_t boundaries = 0;

	mal_count_owned(controller, owned);
	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++) {
		const struct mal_rank_view *view = &controller->ranks[rank];
		struct mal_snapshot *now = &said[rank];

		memset(&samples[rank], 0, sizeof(samples[rank]));
		memset(now, 0, sizeof(*now));
		if (!view->running)
			continue;
		if (!mal_snapshot_read(&controller->segment.ranks[rank], now) || now->round != controller->round ||
		    !view->sampled || now->kind != view->last.kind || now->tick <= view->last.tick) {
			window = false;
			continue;
		}
		make_sample(controller, rank, now, owned[rank], &samples[rank]);
		if (now->boundary - view->last.boundary > boundaries)
			boundaries = now->boundary - view->last.boundary;
		if (samples[rank].elapsed_s > elapsed)
			elapsed = samples[rank].elapsed_s;
	}
	if (!window || elapsed <= 0) {
		remember_round(controller, said);
		return false;
	}
	adapt_stride(controller, boundaries, elapsed);
	/* Too short to tell work from noise: let it go on growing. */
	if (elapsed < controller->window_s / 4)
		return false;
	remember_round(controller, said);
	return true;
}
