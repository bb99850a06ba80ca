/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pages.c: the memory of a rank that left a NUMA node for good follows it (pages=follow). */
#include "libmalleable/controller/cpus/pages.h"

#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/state/ranks.h"
#include "libmalleable/controller/state/thread.h"
#include "libmalleable/controller/state/topology.h"

/* Nodes that are told apart; those beyond keep their pages. */
#define MAX_NODES 64
/* A node without CPUs of the rank for so many windows is left for good. */
#define WINDOWS_AWAY 3
/* Pages sent at a time. */
#define PIECE 512
/* The rest after a piece, in times of what it took. */
#define REST 9

/* Where the memory of a rank may be: one for each rank. */
struct mal_pages {
	uint64_t numa_nodes;	   /* NUMA nodes that may hold memory of it, a bit each */
	unsigned int windows_away; /* since when it has no CPU on one of them */
};

static struct {
	const struct mal_controller *controller;
	int32_t pid;
	uint64_t from; /* nodes, a bit each */
	int to;
	_Atomic bool busy;
	_Atomic uint64_t pages;
	_Atomic uint64_t ticks;
} sender;

struct mal_pages *mal_pages_create(unsigned int ranks)
{
	return calloc(ranks, sizeof(struct mal_pages));
}

void mal_pages_destroy(struct mal_pages *pages)
{
	free(pages);
}

/* Those of the COUNT pages that lie on the nodes that were left, to the front. Returns how many. */
static unsigned int find_left(void **pages, unsigned int count)
{
	int node[PIECE];
	unsigned int found = 0;

	if (syscall(SYS_move_pages, sender.pid, (unsigned long)count, pages, NULL, node, 0) < 0)
		return 0;
	for (unsigned int i = 0; i < count; i++)
		if (node[i] >= 0 && node[i] < MAX_NODES && sender.from >> node[i] & 1)
			pages[found++] = pages[i];
	return found;
}

static void send_piece(uintptr_t begin, unsigned int count, size_t page_size)
{
	void *pages[PIECE];
	int to[PIECE], node[PIECE];
	uint64_t start = mal_ticks(), took, sent = 0;

	for (unsigned int i = 0; i < count; i++)
		pages[i] = (void *)(begin + i * page_size);
	count = find_left(pages, count);
	if (!count)
		return;
	for (unsigned int i = 0; i < count; i++)
		to[i] = sender.to;
	if (syscall(SYS_move_pages, sender.pid, (unsigned long)count, pages, to, node,
		    MPOL_MF_MOVE) < 0)
		return;
	for (unsigned int i = 0; i < count; i++)
		sent += node[i] == sender.to;
	took = mal_ticks() - start;
	atomic_fetch_add(&sender.pages, sent);
	atomic_fetch_add(&sender.ticks, took);
	if (!atomic_load(&sender.controller->ending)) {
		uint64_t rest_ns = (uint64_t)(mal_ticks_to_s(REST * took) * 1e9);

		nanosleep(&(struct timespec){(time_t)(rest_ns / 1000000000),
					     (long)(rest_ns % 1000000000)},
			  NULL);
	}
}

/* The private writable mappings of the process, as the kernel lists them (proc(5)). */
static void *send_all(void *unused)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	char path[32], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)sender.pid);
	maps = fopen(path, "re");
	while (maps && !atomic_load(&sender.controller->ending) &&
	       fgets(line, sizeof(line), maps)) {
		unsigned long begin, end;
		char access[5];

		if (sscanf(line, "%lx-%lx %4s", &begin, &end, access) != 3 || access[1] != 'w' ||
		    access[3] != 'p')
			continue;
		for (; begin < end && !atomic_load(&sender.controller->ending);
		     begin += PIECE * page_size) {
			size_t pages = (end - begin) / page_size;

			send_piece(begin, pages < PIECE ? (unsigned int)pages : PIECE, page_size);
		}
	}
	if (maps)
		fclose(maps);
	atomic_store(&sender.busy, false);
	return unused;
}

/* The nodes on which RANK has CPUs, going by OWNERS, and the one with most of them. */
static uint64_t nodes_of(const struct mal_controller *controller, const unsigned int *owners,
			 unsigned int rank, unsigned int *best)
{
	struct mal_topology places = mal_topology_view(controller);
	unsigned int count[MAX_NODES] = {0};
	uint64_t nodes = 0;

	*best = 0;
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		unsigned int node = places.numa[i];

		if (node >= MAX_NODES || owners[i] != rank)
			continue;
		nodes |= UINT64_C(1) << node;
		if (++count[node] > count[*best])
			*best = node;
	}
	return nodes;
}

static void follow(struct mal_controller *controller, const unsigned int *owners, unsigned int rank)
{
	struct mal_pages *its = &controller->pages[rank];
	unsigned int best;
	uint64_t nodes = nodes_of(controller, owners, rank, &best);

	its->numa_nodes |= nodes;
	if (!nodes || its->numa_nodes == nodes) {
		its->windows_away = 0;
		return;
	}
	if (++its->windows_away < WINDOWS_AWAY || atomic_load(&sender.busy))
		return;
	sender.controller = controller;
	sender.pid = mal_rank_view(controller, rank)->pid;
	sender.from = its->numa_nodes & ~nodes;
	sender.to = (int)best;
	its->numa_nodes = nodes;
	its->windows_away = 0;
	atomic_store(&sender.busy, true);
	if (mal_thread_start(send_all, NULL) < 0)
		atomic_store(&sender.busy, false);
}

void mal_pages_follow(struct mal_controller *controller)
{
	unsigned int owners[MAL_MAX_CPUS];

	if (!controller->step->choice.keys.pages_follow)
		return;
	mal_read_owners(controller, owners);
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (mal_rank_view(controller, rank)->running)
			follow(controller, owners, rank);
}

void mal_pages_count(uint64_t *pages, double *seconds)
{
	*pages = atomic_load(&sender.pages);
	*seconds = mal_ticks_to_s(atomic_load(&sender.ticks));
}
