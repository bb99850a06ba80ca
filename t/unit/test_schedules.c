/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_schedules.c: random schedules: ranks come, end, are killed and lie; CPUs are offered,
 * withdrawn, lent and ordered; the administrator switches off and on. Whatever happens, a CPU has
 * one owner, a rank that runs has a CPU, and nothing is outside the allocation.
 *
 * A schedule that fails is run again by itself: SEED=N t/unit/test_schedules.
 */
#include "t/unit/node_controller.h"

#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/controller/admin_switch.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/report/report_text.h"
#include "libmalleable/core/request.h"

#define SCHEDULES 600u
#define STEPS 60u

/* The CPUs of the ranks come first; so many are withdrawn at most that each rank keeps one. */
#define RANKS 4u
#define CPUS 2u
#define SPARE 4u

static struct mal_controller *node;
static uint64_t seed, random_state;
/* What is being told, for the case that it is wrong. */
static char happened[STEPS * 48];

/*
 * xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
 * 2016).
 */
static unsigned int draw(unsigned int below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (unsigned int)((random_state * UINT64_C(2685821657736338717)) >> 33) % below;
}

static bool runs(unsigned int rank)
{
	return node_rank(node, rank)->running && node_slot(rank)->state == MAL_RANK_RUNNING;
}

static void come(unsigned int rank)
{
	if (!runs(rank))
		node_rank_start(rank);
	mal_ranks_update(node);
	node_obey();
}

static void leave(unsigned int rank)
{
	if (runs(rank))
		node_rank_end(rank);
	mal_ranks_update(node);
}

static void die(unsigned int rank)
{
	node_rank_kill(rank);
	mal_ranks_update(node);
}

/* Any numbers, some of them very large or before those of the last time. */
static void lie(unsigned int rank)
{
	struct mal_snapshot said = node_said(rank);
	uint64_t *numbers[] = {&said.boundaries[MAL_BOUNDARY_COLLECTIVE],
			       &said.kind,
			       &said.tick,
			       &said.busy,
			       &said.serial,
			       &said.mpi,
			       &said.region,
			       &said.regions,
			       &said.team,
			       &said.max,
			       &said.cpu,
			       &said.thread_ticks,
			       &said.outside_team,
			       &said.round};

	for (unsigned int i = 0; i < 1 + draw(4); i++) {
		uint64_t *number = numbers[draw(sizeof(numbers) / sizeof(numbers[0]))];

		*number = draw(3)   ? *number + draw(1000000000)
			  : draw(2) ? UINT64_MAX - draw(5)
				    : draw(5);
	}
	node_lie(rank, &said);
	node_slot(rank)->reason = draw(20);
	node_slot(rank)->team = draw(2) ? UINT32_MAX : draw(9);
	node_slot(rank)->count.boundaries[draw(MAL_BOUNDARY_KINDS)] =
		said.boundaries[MAL_BOUNDARY_COLLECTIVE];
	mal_request_own(node_segment(), rank)->word = draw(2);
	node_thread(rank, draw(NODE_TEAM))->cpu = draw(2) ? draw(5000) : MAL_NO_CPU;
	if (draw(4) == 0)
		memset(&node_slot(rank)->home, (int)draw(256), sizeof(node_slot(rank)->home));
}

static void work(void)
{
	double seconds = draw(4) ? 0.05 * (1 + draw(20)) : 0.001;

	node_pass(seconds);
	for (unsigned int rank = 0; rank < RANKS; rank++)
		if (runs(rank) && draw(20))
			node_say(rank, seconds * draw(3000) / 1000, seconds * draw(100) / 1000,
				 seconds * draw(500) / 1000);
	node_take(node);
	if (draw(4))
		node_obey();
}

/* As ranks do it: only their own CPUs are lent, and only free ones borrowed. */
static void lend(unsigned int rank)
{
	unsigned int cpu = draw(node_cpu_count());
	mal_word *word = &node_segment()->cpus[cpu].word;

	if (!runs(rank))
		return;
	switch (draw(4)) {
	case 0: mal_word_lend(word, rank); break;
	case 1: mal_word_borrow(word, rank); break;
	case 2: mal_word_release(word, rank); break;
	default: mal_word_reclaim(word, rank); break;
	}
	mal_free_check(node_segment(), cpu);
}

/* A request with numbers that may fit or not. */
static void ask(void)
{
	static const char *const what[] = {"count", "min", "max", "cpus"};
	char text[64];

	switch (draw(5)) {
	case 0: snprintf(text, sizeof(text), "set free"); break;
	case 1: snprintf(text, sizeof(text), "set policy=%s", draw(2) ? "auto" : "external"); break;
	case 2:
		snprintf(text, sizeof(text), "set rank=%u cpus=%u-%u", draw(RANKS + 1), draw(6),
			 4 + draw(9));
		break;
	default:
		snprintf(text, sizeof(text), "set rank=%u %s=%u", draw(RANKS + 1), what[draw(4)],
			 draw(14));
		break;
	}
	if (!node_ask(node, text) || !strchr(node_ask(node, "status"), '{'))
		fail_msg("seed %llu: no answer to %s", (unsigned long long)seed, text);
}

/* Of the spare ones any, as long as the others are enough for all ranks. */
static void come_and_go(void)
{
	unsigned int first = RANKS * CPUS + draw(SPARE), owned = 0;
	char list[32];

	for (unsigned int cpu = 0; cpu < first; cpu++)
		owned += node_cpu(cpu).owner != MAL_NOBODY;
	snprintf(list, sizeof(list), "%u-%u", first, RANKS * CPUS + SPARE - 1 + draw(3));
	if (draw(2))
		mal_idle_offer(node, list, NULL);
	else if (owned >= RANKS)
		mal_evict_withdraw(node, list, NULL);
}

/* Something happens; its name. */
static const char *step(void)
{
	unsigned int rank = draw(RANKS);

	switch (draw(15)) {
	case 0: come(rank); return "come";
	case 1: leave(rank); return "leave";
	case 2: die(rank); return "die";
	case 3:
		lie(rank);
		node_take(node);
		return "lie";
	case 4:
	case 5: lend(rank); return "lend";
	case 6: ask(); return "ask";
	case 7: come_and_go(); return "come and go";
	case 8:
		node_admin_switch(draw(2));
		node_pass(1.1);
		mal_admin_switch_update(node);
		return "switch";
	case 9:
		node_insist(rank, draw(NODE_THREADS), draw(2) ? draw(RANKS * CPUS) : MAL_NO_CPU);
		return "insist";
	case 10:
		node_pass(0.05);
		mal_evict_settle(node);
		return "settle";
	case 11: mal_evict_rebind(node); return "rebind";
	default: work(); return "work";
	}
}

static const char *wrong(void)
{
	for (unsigned int rank = 0; rank < RANKS; rank++)
		for (unsigned int i = 0; i < NODE_TEAM; i++)
			if (node_thread(rank, i)->tid < 0)
				return "a thread has a number that it did not say";
	return node_wrong(node);
}

static void end(void)
{
	struct mal_report report;
	char text[3072];

	if (mal_report_make(node, &report) &&
	    mal_report_text(node, &report, text, sizeof(text)) >= sizeof(text))
		fail_msg("seed %llu: the report is too long", (unsigned long long)seed);
	node_close(node);
}

static void fail_at(unsigned int last, const char *flaw, const char *options)
{
	print_error("SEED=%llu: %s, with %s, after step %u:%s\n", (unsigned long long)seed, flaw,
		    options, last, happened);
	for (unsigned int rank = 0; rank < RANKS; rank++)
		print_error("rank %u: runs %d, home %s, owns %s\n", rank,
			    node_rank(node, rank)->running,
			    node_format(&node_rank(node, rank)->home), node_owned(rank));
	print_error("idle %s\n", node_idle(node));
	fail();
}

static void run_schedule(uint64_t number)
{
	static const char *const policies[] = {"auto",	 "lewi",    "sabo",   "external",
					       "random", "explore", "observe"};
	char options[128];

	seed = number;
	random_state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	happened[0] = '\0';
	snprintf(options, sizeof(options), "--off-file=/off --idle=8-11 --policy=%s",
		 policies[draw(7)]);
	node = node_start(RANKS, CPUS, options);
	for (unsigned int i = 0; i < STEPS; i++) {
		const char *name = step(), *flaw = wrong();

		snprintf(happened + strlen(happened), sizeof(happened) - strlen(happened), " %s",
			 name);
		if (flaw)
			fail_at(i, flaw, options);
	}
	end();
}

static void invariants_hold_in_all_schedules(void **state)
{
	const char *wanted = getenv("SEED");

	(void)state;
	if (wanted) {
		run_schedule(strtoull(wanted, NULL, 10));
		return;
	}
	for (uint64_t number = 0; number < SCHEDULES; number++)
		run_schedule(number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(invariants_hold_in_all_schedules)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
