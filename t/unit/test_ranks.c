/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_ranks.c: three ranks that compute, wait, lend, borrow, move, end and are killed, in random
 * order, and what must hold whenever nobody is in the middle of something (t/model/protocol.pml:
 * check_now).
 *
 * A schedule follows from its seed. SCHEDULES=n runs so many, SEED=n begins with that one; a
 * failure names the seed and the step.
 */
#include "t/unit/rank_turns.h"

#include <inttypes.h>
#include <stdio.h>

#define SCHEDULES 4000u
#define STEPS 400u
#define WHERES 2u
/* The ranks make so many calls of MPI at the end: a plan may move a CPU in each. */
#define LAST_CALLS 4u

static uint64_t state;
static unsigned int seed, step;
static bool ending[TURNS_RANKS]; /* its region is about to end */
static bool over;		 /* nothing new begins */
static bool may_kill;

/* xorshift64* (Vigna 2016). */
static unsigned int choose(unsigned int count)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned int)((state * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % count;
}

static bool is_alive(unsigned int rank)
{
	return !turns_rank[rank].killed && !turns_rank[rank].left;
}

#define MUST(condition, ...) \
	do { \
		if (!(condition)) \
			complain(#condition, __VA_ARGS__); \
	} while (0)

static void complain(const char *what, const char *which, unsigned int number)
{
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++) {
		struct mal_cpu_state at = cpu_state(cpu);

		print_message("# CPU %u: owner %u, user %d, %s\n", cpu, at.owner,
			      at.user == MAL_NOBODY ? -1 : (int)at.user,
			      at.lent ? "lent" : "not lent");
	}
	for (unsigned int rank = 0; rank < TURNS_RANKS; rank++)
		print_message("# rank %u: %s%s%s%s\n", rank, is_alive(rank) ? "runs" : "has gone",
			      turns_rank[rank].in_region ? ", in a region" : "",
			      turns_rank[rank].in_mpi ? ", in MPI" : "",
			      turns_rank[rank].known.lend.lending ? ", lends" : "");
	for (unsigned int i = 0; i < TURNS_CONTROLLER; i++)
		if (turns_thread[i].computing)
			print_message("# thread %u of rank %u computes on %u, its place is %u\n",
				      i % TURNS_THREADS, i / TURNS_THREADS, test_kernel.at[1 + i],
				      thread_of(i / TURNS_THREADS, i % TURNS_THREADS)->cpu);
	fail_msg("seed %u, step %u: %s %u: %s", seed, step, which, number, what);
}

static bool has_to_look(unsigned int rank)
{
	return mal.segment.ranks[rank].changes != turns_rank[rank].known.cpus.seen_changes;
}

static bool owns(unsigned int rank, unsigned int cpu)
{
	const struct mal_rank *known = &turns_rank[rank].known;

	for (unsigned int i = 0; i < known->cpus.owned_count; i++)
		if (known->cpus.owned[i] == cpu)
			return true;
	return false;
}

static void check_cpu(unsigned int cpu)
{
	struct mal_cpu_state at = cpu_state(cpu);
	bool parked = at.user != MAL_NOBODY && at.user != at.owner && turns_rank[at.user].in_mpi;

	MUST(at.owner < TURNS_RANKS, "CPU", cpu);
	MUST(at.user < TURNS_RANKS || at.user == MAL_NOBODY, "CPU", cpu);
	/* No CPU is lost: its owner runs, or it is free for others. */
	MUST(is_alive(at.owner) || at.lent, "CPU", cpu);
	MUST(at.user == MAL_NOBODY || is_alive(at.user), "CPU", cpu);
	/* No CPU is parked with a rank that waits. */
	MUST(!parked || has_to_look(at.user), "CPU", cpu);
	if (!is_alive(at.owner))
		return;
	/* Everybody comes home: who does not lend has its CPUs, or will look at its words. */
	MUST(turns_rank[at.owner].known.lend.lending || has_to_look(at.owner) ||
		     (at.user == at.owner && !at.lent),
	     "CPU", cpu);
	/* And who lends knows what it lent. */
	MUST(!turns_rank[at.owner].known.lend.lending || has_to_look(at.owner) ||
		     owns(at.owner, cpu),
	     "CPU", cpu);
}

static void check_thread(unsigned int rank, unsigned int thread)
{
	struct mal_thread_slot *slot = thread_of(rank, thread);
	unsigned int cpu = test_kernel.at[tid_of(rank, thread)];
	struct mal_cpu_state at = cpu_state(cpu);

	/* One user a CPU: a thread that computes is on a CPU that its rank uses. */
	MUST(at.user == rank || (at.owner == rank && at.user == MAL_NOBODY && !at.lent), "thread",
	     rank * 100 + thread);
	/* And where its place is, so that no CPU that was won stands idle. */
	MUST(slot->cpu == cpu, "thread", rank * 100 + thread);
}

static void check_all(void)
{
	uint64_t free_cpus = 0, borrowers = 0;

	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++) {
		check_cpu(cpu);
		if (cpu_state(cpu).lent && cpu_state(cpu).user == MAL_NOBODY)
			free_cpus |= UINT64_C(1) << cpu;
	}
	/* What is said of all CPUs and ranks in a word is right. */
	MUST(mal.segment.header->free_cpus == free_cpus, "free CPUs",
	     (unsigned int)mal.segment.header->free_cpus);
	for (unsigned int rank = 0; rank < TURNS_RANKS; rank++) {
		if (is_borrower(rank))
			borrowers |= UINT64_C(1) << rank;
		/* No request is open whose region is over. */
		MUST(!mal_request_read(&mal.segment, rank).open || turns_rank[rank].in_region,
		     "rank", rank);
		MUST(!is_alive(rank) || turns_rank[rank].known.cpus.owned_count ||
			     has_to_look(rank),
		     "rank", rank);
		for (unsigned int i = 0; is_alive(rank) && i < TURNS_THREADS; i++)
			if (turns_thread[rank * TURNS_THREADS + i].computing)
				check_thread(rank, i);
	}
	MUST(mal.segment.header->borrowers == borrowers, "borrowers",
	     (unsigned int)mal.segment.header->borrowers);
}

/* The threads of RANK's team that compute, but for the primary one. */
static unsigned int count_computing(unsigned int rank)
{
	unsigned int count = 0;

	for (unsigned int i = 1; i < TURNS_THREADS; i++)
		count += turns_thread[rank * TURNS_THREADS + i].computing;
	return count;
}

static void begin_region(unsigned int rank)
{
	unsigned int clause = choose(8) ? 0 : 1 + choose(TURNS_THREADS - 2);

	ending[rank] = false;
	turns_begin_region(rank, choose(WHERES), clause);
}

static void primary_thread(unsigned int rank)
{
	struct turns_rank *at = &turns_rank[rank];

	if (at->in_region) {
		if (!ending[rank])
			ending[rank] =
				count_computing(rank) + 1 == at->team && (over || choose(4) == 0);
		else if (!count_computing(rank))
			turns_end_region(rank);
	} else if (at->in_mpi) {
		if (over || choose(10) == 0)
			turns_leave_mpi(rank, !choose(2));
		else
			turns_poll(rank);
	} else if (!over) {
		if (choose(80) == 0)
			turns_leave(rank);
		else if (choose(2))
			begin_region(rank);
		else
			turns_enter_mpi(rank);
	}
}

static void other_thread(unsigned int rank, unsigned int thread)
{
	bool computes = turns_thread[rank * TURNS_THREADS + thread].computing;

	if (!turns_rank[rank].in_region || turns_thread[rank * TURNS_THREADS].busy ||
	    thread >= turns_rank[rank].team)
		return;
	if (!computes && !ending[rank])
		turns_begin_thread(rank, thread);
	else if (computes && ending[rank])
		turns_end_thread(rank, thread);
}

static unsigned int alive(void)
{
	unsigned int count = 0;

	for (unsigned int rank = 0; rank < TURNS_RANKS; rank++)
		count += is_alive(rank);
	return count;
}

/*
 * A plan: each rank that runs has a CPU, else it says what it likes; of CPUs of those that have
 * gone it says nothing.
 */
static void make_plan(void)
{
	unsigned int target[MAL_MAX_CPUS], cpus = mal.segment.cpu_count, has[TURNS_RANKS] = {0};

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		target[cpu] = cpu_state(cpu).owner;
		if (is_alive(target[cpu]) && choose(3) == 0)
			target[cpu] = choose(TURNS_RANKS);
		has[target[cpu]] += is_alive(cpu_state(cpu).owner);
	}
	for (unsigned int rank = 0; rank < TURNS_RANKS; rank++)
		if ((is_alive(rank) && !has[rank]) || (!is_alive(rank) && has[rank]))
			return;
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		mal.segment.cpus[cpu].target =
			is_alive(cpu_state(cpu).owner) ? target[cpu] : MAL_NOBODY;
	mal.segment.header->plan++;
}

static void controller_thread(void)
{
	switch (choose(4)) {
	case 0: make_plan(); break;
	case 1:
		mal.segment.header->round++;
		mal.segment.header->answers++;
		break;
	case 2: turns_recover(); break;
	default: break;
	}
}

static void maybe_kill(void)
{
	unsigned int rank = choose(TURNS_RANKS);

	if (may_kill && choose(100) == 0 && is_alive(rank) && alive() > 1)
		turns_kill(rank);
}

/*
 * THREAD goes on with what it does, or begins something. What takes long is what programs do, not
 * what we do.
 */
static void take_step(unsigned int thread, bool drain)
{
	static const uint64_t pauses[] = {US, 20 * US, 100 * US, 200 * US, 400 * US, 4 * MS};
	unsigned int rank = thread / TURNS_THREADS;

	turn_clock(200);
	step++;
	if (turns_thread[thread].busy) {
		turns_go_on(thread);
		return;
	}
	if (drain)
		return;
	turn_clock(pauses[choose(6)]);
	if (thread == TURNS_CONTROLLER)
		controller_thread();
	else if (!is_alive(rank))
		return;
	else if (thread % TURNS_THREADS == 0)
		primary_thread(rank);
	else
		other_thread(rank, thread % TURNS_THREADS);
}

/*
 * A thread that most likely has something to do: one that is busy, a primary one, or one of a
 * team.
 */
static unsigned int choose_thread(void)
{
	unsigned int rank = choose(TURNS_RANKS), thread;

	if (choose(12) == 0)
		return TURNS_CONTROLLER;
	if (!turns_rank[rank].in_region)
		return rank * TURNS_THREADS;
	thread = choose(turns_rank[rank].team < TURNS_THREADS ? turns_rank[rank].team
							      : TURNS_THREADS);
	return rank * TURNS_THREADS + thread;
}

/* Everybody finishes what it is in the middle of; then the controller has seen who was killed. */
static void finish_all(void)
{
	for (unsigned int i = 0; !turns_is_quiet(); i++) {
		MUST(i < 1000000, "endless", 0);
		take_step(choose(TURNS_CONTROLLER + 1), true);
	}
	turns_recover();
	while (!turns_is_quiet())
		take_step(TURNS_CONTROLLER, true);
}

static bool is_outside(unsigned int rank)
{
	return !is_alive(rank) || (!turns_rank[rank].in_region && !turns_rank[rank].in_mpi);
}

static bool all_are_outside(void)
{
	for (unsigned int rank = 0; rank < TURNS_RANKS; rank++)
		if (!is_outside(rank))
			return false;
	return turns_is_quiet();
}

/* All come to an end of what they do: then each has its CPUs, and nobody those of others. */
static void come_home(void)
{
	over = true;
	for (unsigned int i = 0; !all_are_outside(); i++) {
		MUST(i < 1000000, "endless", 0);
		take_step(choose(TURNS_CONTROLLER), false);
	}
	for (unsigned int i = 0; i < LAST_CALLS * TURNS_RANKS; i++) {
		if (!is_alive(i % TURNS_RANKS))
			continue;
		turns_enter_mpi(i % TURNS_RANKS);
		finish_all();
		turns_leave_mpi(i % TURNS_RANKS, false);
		finish_all();
		check_all();
	}
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++) {
		struct mal_cpu_state at = cpu_state(cpu);

		MUST(is_alive(at.owner) ? at.user == at.owner && !at.lent
					: at.user == MAL_NOBODY && at.lent,
		     "CPU", cpu);
	}
	for (unsigned int rank = 0; rank < TURNS_RANKS; rank++) {
		MUST(!turns_rank[rank].known.cpus.borrowed_count || !is_alive(rank), "rank", rank);
		if (!is_alive(rank))
			continue;
		turns_leave(rank);
		finish_all();
		check_all();
	}
	MUST(!mal.segment.header->borrowers, "borrowers", 0);
}

/* What all schedules did: they would say nothing if they never came to it. */
static uint64_t lends, borrows, grants, reclaims, evictions, moves;

static void count_deeds(void)
{
	for (unsigned int rank = 0; rank < TURNS_RANKS; rank++) {
		const struct mal_counters *count = &mal.segment.ranks[rank].count;

		lends += count->lends;
		borrows += count->borrows;
		grants += count->grants;
		reclaims += count->reclaims;
		evictions += count->evictions;
		moves += count->moves;
	}
}

static void run_schedule(void)
{
	state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	choose(1);
	step = 0;
	over = false;
	may_kill = choose(2);
	turns_open(2 + choose(3));
	while (step < STEPS) {
		take_step(choose_thread(), false);
		maybe_kill();
		if (choose(16) == 0) {
			finish_all();
			check_all();
		}
	}
	finish_all();
	check_all();
	come_home();
	count_deeds();
	turns_close();
}

static unsigned int number_from(const char *variable, unsigned int otherwise)
{
	const char *text = getenv(variable);

	return text ? (unsigned int)strtoul(text, NULL, 10) : otherwise;
}

static void random_schedules(void **unused)
{
	unsigned int first = number_from("SEED", 1),
		     count = number_from("SCHEDULES", getenv("SEED") ? 1 : SCHEDULES);

	(void)unused;
	for (seed = first; seed < first + count; seed++)
		run_schedule();
	print_message("# %" PRIu64 " lends, %" PRIu64 " borrows, %" PRIu64 " grants, %" PRIu64
		      " reclaims, %" PRIu64 " evictions, %" PRIu64 " moves\n",
		      lends, borrows, grants, reclaims, evictions, moves);
	if (count >= SCHEDULES)
		assert_true(lends && borrows && grants && reclaims && evictions && moves);
}

/* Each found a fault of the protocol beyond the schedules that are always run. */
static void schedules_that_failed(void **unused)
{
	static const unsigned int seeds[] = {9142, 57950};

	(void)unused;
	for (unsigned int i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		seed = seeds[i];
		run_schedule();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_schedules),
		cmocka_unit_test(schedules_that_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
