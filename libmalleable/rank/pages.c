/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pages.c: on which NUMA nodes the rank's memory is.
 *
 * Invariant: a look asks for no more pages the more memory the rank has, and moves none
 * (t/unit/test_pages.c).
 */
#include "libmalleable/rank/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/rank/state/rank.h"

/*
 * From one look to the next, at least, and so many times what a look took, of many maps a long
 * time: a thousandth of the run is for these and the one at the end. So many pages are looked at.
 */
#define LOOK_EVERY_S 5.0
#define LOOK_PART 2000
#define PAGES 1024
/* Ranges that there is room for at first. */
#define RANGES 1024
/* So often a look asks, until it has found most of these pages. */
#define ASKS 3

struct ranges {
	size_t count, room;
	uint64_t pages; /* of all */
	struct range {
		uintptr_t begin, end;
	} *range;
};

/* A line of /proc/PID/maps that is anonymous memory which the program may read. */
static bool is_anonymous(const char *line, struct range *range)
{
	unsigned long begin, end, inode;
	char may[5], name[16] = "";

	if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu %15s", &begin, &end, may, &inode, name) < 4)
		return false;
	*range = (struct range){begin, end};
	return end > begin && !inode && *may == 'r' &&
	       (!*name || !strcmp(name, "[heap]") || !strncmp(name, "[anon", 5));
}

/* The next one; NULL: there is no memory for it. */
static struct range *next_of(struct ranges *ranges)
{
	if (ranges->count == ranges->room) {
		size_t room = ranges->room ? 2 * ranges->room : RANGES;
		struct range *more = realloc(ranges->range, room * sizeof(*more));

		if (!more)
			return NULL;
		ranges->range = more;
		ranges->room = room;
	}
	return &ranges->range[ranges->count++];
}

/* Ranges of which one begins where the one before ends, or in that, are one. */
static void add(struct ranges *ranges, const struct range *range, size_t page)
{
	struct range *last = ranges->count ? &ranges->range[ranges->count - 1] : NULL, *next;
	uintptr_t begin = range->begin;

	if (last && last->end >= begin) {
		begin = last->end < range->end ? last->end : range->end;
		last->end = last->end < range->end ? range->end : last->end;
	} else {
		next = next_of(ranges);
		if (!next)
			return;
		*next = *range;
	}
	ranges->pages += (range->end - begin) / page;
}

static void read_ranges(struct ranges *ranges, size_t page)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t room = 0;
	struct range range;

	ranges->count = 0;
	ranges->pages = 0;
	while (maps && getline(&line, &room, maps) > 0)
		if (is_anonymous(line, &range))
			add(ranges, &range, page);
	free(line);
	if (maps)
		fclose(maps);
}

/* COUNT pages, evenly over all RANGES. Returns how many there are. */
static size_t choose(const struct ranges *ranges, size_t page, void **pages, size_t count)
{
	uint64_t before = 0; /* pages of the ranges before the current one */
	size_t chosen = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *range = &ranges->range[i];
		uint64_t here = (range->end - range->begin) / page, at;

		while (chosen < count && (at = ranges->pages * chosen / count) < before + here)
			/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
			pages[chosen++] = (void *)(range->begin + (at - before) * page);
		before += here;
	}
	return chosen;
}

/* Everything that a look needs; too large for a stack. */
static struct look {
	struct ranges ranges, touched;
	void *pages[PAGES];
	int node[PAGES];
} memory;

/*
 * Of ranges of which COUNT pages were looked at keep what is around those that somebody has
 * touched: of large stacks, or what is reserved alone, next to nothing.
 */
static void keep_touched(size_t page, size_t count)
{
	struct ranges *touched = &memory.touched, all = memory.ranges;
	size_t at = 0;

	touched->count = touched->pages = 0;
	for (size_t i = 0; i < all.count; i++) {
		const struct range *range = &all.range[i];
		size_t first = at;

		for (; at < count && (uintptr_t)memory.pages[at] < range->end; at++) {
			struct range around = *range;

			if (memory.node[at] < 0)
				continue;
			if (at > first)
				around.begin = (uintptr_t)memory.pages[at - 1];
			if (at + 1 < count && (uintptr_t)memory.pages[at + 1] < range->end)
				around.end = (uintptr_t)memory.pages[at + 1];
			add(touched, &around, page);
		}
		if (at == first)
			add(touched, range, page);
	}
	memory.ranges = *touched;
	memory.touched = all;
}

/* Ask where pages of the ranges are. Returns how many are on each node ON, together, or -1. */
static long ask(size_t page, uint32_t on[MAL_NODES])
{
	size_t count = choose(&memory.ranges, page, memory.pages, PAGES);
	long found = 0;

	memset(on, 0, MAL_NODES * sizeof(*on));
	if (!count)
		return 0;
	/* Without nodes to go to nothing moves. */
	if (syscall(SYS_move_pages, 0, count, memory.pages, NULL, memory.node, 0) < 0)
		return -1;
	/* Below 0: nobody has touched it. */
	for (size_t i = 0; i < count; i++) {
		found += memory.node[i] >= 0;
		if (memory.node[i] >= 0 && memory.node[i] < MAL_NODES)
			on[memory.node[i]]++;
	}
	if (found < (long)count / 2)
		keep_touched(page, count);
	return found;
}

static void look(struct mal_lanes *lanes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t on[MAL_NODES];
	long found = 0;

	read_ranges(&memory.ranges, page);
	for (unsigned int i = 0; i < ASKS && found >= 0 && found < PAGES / 2; i++)
		found = ask(page, on);
	if (found < 0)
		atomic_store(&lanes->pages_error, (uint32_t)errno);
	if (found <= 0)
		return;
	for (unsigned int node = 0; node < MAL_NODES; node++)
		atomic_store_explicit(&lanes->pages[node], on[node], memory_order_relaxed);
	atomic_store(&lanes->pages_known, 1);
}

void mal_pages_look_next(struct mal_rank *rank)
{
	rank->pages_own.looked = 0;
}

void mal_pages_sample(struct mal_rank *rank, uint64_t now)
{
	uint64_t since = now - rank->pages.looked, begin;
	int saved = errno;

	if (!atomic_load_explicit(&rank->segment.header->pages, memory_order_relaxed) ||
	    (rank->pages.looked &&
	     (since < mal_s_to_ticks(LOOK_EVERY_S) || since < LOOK_PART * rank->pages.cost)))
		return;
	rank->pages_own.looked = now;
	begin = mal_ticks();
	look(mal_lanes_of(&rank->segment, rank->me));
	rank->pages_own.cost = mal_ticks() - begin;
	mal_count(&rank->slot->count.overhead_ticks, rank->pages.cost);
	errno = saved;
}
