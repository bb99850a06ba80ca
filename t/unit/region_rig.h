/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_rig.h: the rank library's region.c as rank 0 with two CPUs; rank 1 has two more and may
 * wait. run() acts as the OpenMP runtime: a team has the number in the clause, else the number set
 * last. It has one includer in each test program.
 */
#pragma once

#include "t/unit/rank_fixture.h"

#include "libmalleable/prover/prove.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/length.h"
#include "libmalleable/rank/region.h"
#include "libmalleable/rank/region_table.h"
#include "libmalleable/rank/sizing.h"
#include "libmalleable/rank/team.h"

#define RANKS 2u
#define CPUS 4u
#define THREADS 8u
#define NONE 0u
#define LONG (20 * MS)

/* What mal_team_set_linger() set. */
static enum mal_linger waits;

bool mal_team_set_linger(struct mal_rank *rank, enum mal_linger how)
{
	bool changed = waits != how;

	waits = how;
	rank->team_own.linger = how;
	return changed;
}

static unsigned int placed; /* the team placed last */
static unsigned int max_placed;

bool mal_bind_team(struct mal_rank *rank, unsigned int team)
{
	(void)rank;
	placed = team;
	max_placed = team > max_placed ? team : max_placed;
	return true;
}

unsigned int mal_team_clamp(struct mal_rank *rank, unsigned int threads)
{
	(void)rank;
	return threads < THREADS ? threads : THREADS;
}

/* What is known: the region that is free, and one that may be unloaded. */
static const void *free_one, *passing_one;
static unsigned int asked;
/* enum mal_region_facts of the free one */
static uint8_t facts;

struct mal_region_verdict mal_prove_region(const void *key)
{
	asked++;
	return (struct mal_region_verdict){.free = key == free_one,
					   .sums = facts & MAL_REGION_SUMS,
					   .alone = facts & MAL_REGION_ALONE,
					   .stays = key != passing_one};
}

static const void *said;

void mal_prove_note_bound(const void *key)
{
	said = key;
}

bool mal_team_may_differ(const struct mal_rank *rank)
{
	return !rank->proofs.on || rank->region.free;
}

static unsigned int borrows;

unsigned int mal_cpus_borrow(struct mal_rank *rank, unsigned int limit)
{
	(void)rank;
	(void)limit;
	borrows++;
	return 0;
}

void mal_cpus_release(struct mal_rank *rank)
{
	rank->cpus_own.borrowed_count = 0;
}

static inline int open_all(void **state)
{
	(void)state;
	borrows = 0;
	open_ranks(RANKS, CPUS / RANKS, THREADS);
	mal.sizing_own.threads = THREADS;
	mal_region_table_clear();
	free_one = passing_one = said = NULL;
	asked = facts = 0;
	return 0;
}

static inline int close_all(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

static inline void begin(const void *where, unsigned int clause)
{
	unsigned int size;

	mal_region_begin(where, clause ? clause : mal.team.size);
	size = clause ? clause : mal.team.size;
	if (size != mal.region.running)
		mal_region_resized(&mal, size);
}

/* After TICKS, in all of which rank 1 waited if OFFERED. */
static inline void end_after(const void *where, uint64_t ticks, bool offered)
{
	turn_clock(ticks);
	mal.segment.ranks[1].waiting_since = offered ? mal.region.begin : 0;
	mal_region_end(where);
}

static inline void end(const void *where, bool offered)
{
	end_after(where, LONG, offered);
}

static inline void run(const void *where, unsigned int clause, bool offered)
{
	begin(where, clause);
	end(where, offered);
}

/* A region that others wait for is opened with twice as many threads. */
static inline void widen(const void *where)
{
	run(where, NONE, true);
	begin(where, NONE);
	assert_int_equal(mal.team.size, 4);
	assert_int_equal(placed, 4);
	end(where, true);
}
