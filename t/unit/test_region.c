/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_region.c: the number of threads that a region is prepared for, where a num_threads clause
 * looks like the runtime's own choice.
 *
 * The rank library's region.c runs here as rank 0 with two CPUs; rank 1 has two more and may wait.
 * run() acts as the OpenMP runtime: a team has the number in the clause, else the number set last.
 */
#include "t/unit/rank_fixture.h"

#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/length.c"
#include "libmalleable/rank/prove.h"
#include "libmalleable/rank/region.c"
#include "libmalleable/rank/region_table.c"
#include "libmalleable/rank/sharing.c"
#include "libmalleable/rank/sizing.c"
#include "libmalleable/rank/team.h"

#define RANKS 2u
#define CPUS 4u
#define THREADS 8u
#define NONE 0u
#define LONG (20 * MS)

/* What mal_team_set_linger() set. */
static enum mal_linger waits;

bool mal_team_set_linger(enum mal_linger how)
{
	bool changed = waits != how;

	waits = how;
	mal.teams.linger = how;
	return changed;
}

static unsigned int placed; /* the team placed last */
static unsigned int max_placed;

bool mal_bind_team(unsigned int team)
{
	placed = team;
	max_placed = team > max_placed ? team : max_placed;
	return true;
}

unsigned int mal_team_bound(unsigned int threads)
{
	return threads < THREADS ? threads : THREADS;
}

/* What is known: the region that is free, and one that may be unloaded. */
static const void *free_one, *passing_one;
static unsigned int asked;

struct mal_region_kind mal_prove_region(const void *key)
{
	asked++;
	return (struct mal_region_kind){.free = key == free_one, .stays = key != passing_one};
}

static const void *said;

void mal_prove_say_bound(const void *key)
{
	said = key;
}

bool mal_team_may_differ(void)
{
	return !mal.proofs.on || mal.proofs.free;
}

/* Whether the rank may borrow: while one of the ranks does, those that wait lend. */
static bool wants;

void mal_cpus_want(bool want)
{
	wants = want;
}

static unsigned int borrows;

unsigned int mal_cpus_borrow(unsigned int limit)
{
	(void)limit;
	borrows++;
	return 0;
}

void mal_cpus_release(void)
{
	mal.borrowed_count = 0;
}

static int open_all(void **state)
{
	(void)state;
	wants = false;
	borrows = 0;
	open_node(RANKS, CPUS / RANKS, THREADS);
	mal.region.threads = THREADS;
	mal_region_table_clear();
	mal_length_clear();
	mal_sharing_clear();
	current = NULL;
	free_one = passing_one = said = NULL;
	asked = 0;
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	close_node();
	return 0;
}

static void begin(const void *where, unsigned int clause)
{
	unsigned int size;

	mal_region_begin(where, clause ? clause : mal.team);
	size = clause ? clause : mal.team;
	if (size != mal.running)
		mal_region_resized(size);
}

/* After 20 ms, in all of which rank 1 waited if OFFERED. */
static void end(const void *where, bool offered)
{
	turn_clock(LONG);
	mal.segment.ranks[1].waiting_since = offered ? mal.region_begin : 0;
	mal_region_end(where);
}

static void run(const void *where, unsigned int clause, bool offered)
{
	begin(where, clause);
	end(where, offered);
}

/* Runs until it is known what regions of this length take by themselves. */
#define ALONE 11

/* A region that others wait for is opened with twice as many threads. */
static void widen(const void *where)
{
	for (int i = 0; i < ALONE; i++)
		run(where, NONE, true);
	begin(where, NONE);
	assert_int_equal(mal.team, 4);
	assert_int_equal(placed, 4);
	end(where, true);
}

/*
 * The last region was widened to four; we would choose two for the next one, which has
 * num_threads(4).
 */
static void larger_than_chosen(void **state)
{
	static const char widened, clause;

	(void)state;
	widen(&widened);
	begin(&clause, 4);
	assert_int_equal(mal.running, 4);
	assert_int_equal(placed, 4);
	assert_int_equal(mal.slot->team, 4);
	/* The threads share CPUs: ranks that wait may help. */
	assert_true(mal.stacked);
	assert_true(mal_wants_cpus_is_open(&mal.segment, 0));
	end(&clause, true);
}

/*
 * Two threads with a CPU each, as without us, though four would share: not both on the first CPU.
 */
static void smaller_than_chosen(void **state)
{
	static const char clause, other;

	(void)state;
	for (int i = 0; i < 10; i++) {
		begin(&clause, 2);
		assert_int_equal(mal.running, 2);
		assert_int_equal(placed, 2);
		assert_int_equal(mal.slot->team, 2);
		assert_false(mal.stacked);
		end(&clause, true);
		run(&other, NONE, false);
		assert_int_equal(mal.team, 2);
	}
	/* Now it is known, and no thread is sent to a place and back. */
	max_placed = 0;
	run(&clause, 2, true);
	assert_in_range(max_placed, 0, 2);
}

/* Coarse clocks do not see a short run: what is known of the region stays a number. */
static void of_no_length(void **state)
{
	static const char where;

	(void)state;
	run(&where, NONE, true);
	turn_clock(LONG);
	begin(&where, NONE);
	mal_region_end(&where);
	/* Its typical length has to grow from nothing. */
	for (int i = 0; i < FIRST_RUNS; i++)
		run(&where, NONE, false);
	widen(&where);
}

/* Where regions were classified, a bound one has the known team whatever others wait. */
static void proofs(void **state)
{
	static const char bound, is_free;

	(void)state;
	free_one = &is_free;
	mal.proofs.on = true;
	widen(&is_free);
	assert_null(said);
	for (int i = 0; i < 10; i++) {
		max_placed = 0;
		begin(&bound, NONE);
		assert_int_equal(mal.team, 2);
		assert_int_equal(max_placed, 2);
		assert_int_equal(mal.running, 2);
		assert_false(mal.stacked);
		end(&bound, true);
		begin(&is_free, NONE);
		assert_int_equal(mal.team, 4);
		end(&is_free, true);
	}
	assert_ptr_equal(said, &bound);
	/* Each stays what it is: no more is asked. */
	assert_int_equal(asked, 2);
	/* Also while nothing may be bound, and a free one may have fewer. */
	atomic_store(&mal.segment.header->rules, 0);
	begin(&bound, NONE);
	assert_int_equal(mal.team, 2);
	end(&bound, true);
	assert_int_equal(mal.slot->count.free, ALONE + 11);
	assert_int_equal(mal.slot->count.regions, ALONE + 22);
	assert_int_equal(mal.proofs.free_ticks, (ALONE + 11) * LONG);
}

/* Nobody needs to lend to a rank whose threads have a CPU each, and whose teams are bound. */
static void of_no_use(void **state)
{
	static const char bound, is_free;

	(void)state;
	free_one = &is_free;
	mal.proofs.on = true;
	for (int i = 0; i < ALONE; i++)
		run(&bound, NONE, true);
	assert_false(wants);
	run(&is_free, NONE, true);
	assert_true(wants);
	/* Two threads on a CPU: one of them could run elsewhere. */
	wants = false;
	mal.own_count = 1;
	run(&bound, NONE, true);
	assert_true(wants);
}

/* A program that was told no number all the same: a region may rely on two threads at once. */
static void bound_unasked(void **state)
{
	static const char bound;

	(void)state;
	mal.proofs.on = true;
	mal.own_count = 1;
	for (int i = 0; i < 10; i++) {
		begin(&bound, NONE);
		assert_int_equal(mal.team, 2);
		assert_int_equal(mal.running, 2);
		end(&bound, true);
	}
	assert_int_equal(mal.slot->count.free, 0);
}

/* An object was unloaded, and another one is where it was. */
static void passing_by(void **state)
{
	static const char region;

	(void)state;
	free_one = passing_one = &region;
	mal.proofs.on = true;
	widen(&region);
	assert_int_equal(asked, ALONE + 1);
	free_one = NULL;
	begin(&region, NONE);
	assert_int_equal(mal.team, 2);
	end(&region, true);
	passing_one = NULL;
	free_one = &region;
	begin(&region, NONE);
	assert_int_equal(mal.team, 4);
	end(&region, true);
	assert_int_equal(asked, ALONE + 3);
	run(&region, NONE, true);
	assert_int_equal(asked, ALONE + 3);
}

/* An if clause leaves one thread, once: that is not the region's number. */
static void one_by_if(void **state)
{
	static const char is_free, bound, other;

	(void)state;
	free_one = &is_free;
	mal.proofs.on = true;
	widen(&is_free);
	for (int i = 0; i < 2; i++) {
		begin(&is_free, 1);
		assert_int_equal(mal.running, 1);
		end(&is_free, true);
		/* The team was chosen with one thread: the clause shows afterwards. */
		mal_region_begin(&is_free, mal.team);
		mal_region_resized(1);
		end(&is_free, true);
		run(&bound, NONE, true);
		assert_int_equal(mal.team, 2);
		begin(&is_free, NONE);
		assert_int_equal(mal.running, 4);
		end(&is_free, true);
	}
	/* Where the runtime runs it without a call, nothing is known, and nothing limits it. */
	said = NULL;
	begin(&other, 1);
	end(&other, true);
	assert_null(said);
	begin(&other, NONE);
	assert_ptr_equal(said, &other);
	end(&other, true);
}

/* Told 2 on one CPU: free regions have one thread until others wait, bound ones two. */
static void raised(void **state)
{
	static const char bound, is_free;

	(void)state;
	close_node();
	open_node(RANKS, 1, THREADS);
	free_one = &is_free;
	mal.proofs.on = mal.proofs.raised = true;
	mal.base = 2;
	mal.team = 1;
	begin(&is_free, NONE);
	assert_int_equal(mal.team, 1);
	end(&is_free, false);
	begin(&bound, NONE);
	assert_int_equal(mal.team, 2);
	assert_true(mal.stacked);
	end(&bound, false);
	begin(&is_free, NONE);
	assert_int_equal(mal.team, 1);
	end(&is_free, false);
}

/* Others ran once and are long gone: the loop that has the time has a place. */
static void after_many(void **state)
{
	static const char once[6 * SLOTS], hot, warm;

	(void)state;
	for (size_t i = 0; i < sizeof(once); i++)
		run(&once[i], NONE, false);
	widen(&hot);
	for (size_t i = 0; i < sizeof(once); i++) {
		run(&once[i], NONE, false);
		if (i % 8 == 0)
			run(&hot, NONE, true);
	}
	begin(&hot, NONE);
	assert_int_equal(mal.team, 4);
	end(&hot, true);
	widen(&warm);
}

/* COUNT regions, as long as they are while threads wait as usual, or sleep. */
static void take_of(const void *region, uint64_t awake, uint64_t asleep)
{
	begin(region, NONE);
	turn_clock(mal.teams.linger == MAL_LINGER_USUAL ? awake : asleep);
	mal_region_end(region);
}

static void take(unsigned int count, uint64_t awake, uint64_t asleep)
{
	static const char region;

	while (count--)
		take_of(&region, awake, asleep);
}

/* How many regions run until threads wait in the other way, 0: too many. */
static unsigned int until_turned(uint64_t awake, uint64_t asleep)
{
	enum mal_linger before = mal.teams.linger;

	for (unsigned int count = 1; count < 400000; count++) {
		take(1, awake, asleep);
		if ((before == MAL_LINGER_USUAL) != (mal.teams.linger == MAL_LINGER_USUAL))
			return count;
	}
	return 0;
}

/* Nothing is shared before it is known what regions take by themselves, but for very long ones. */
static void alone_at_first(void **state)
{
	static const char region, very_long;

	(void)state;
	let_want(1);
	mal.segment.header->free_cpus = 1;
	for (int i = 0; i < ALONE; i++) {
		begin(&region, NONE);
		assert_int_equal(mal.team, 2);
		assert_int_equal(mal.teams.linger, MAL_LINGER_USUAL);
		assert_int_equal(borrows, 0);
		end(&region, true);
	}
	begin(&region, NONE);
	assert_int_equal(mal.team, 4);
	assert_int_equal(borrows, 1);
	end(&region, true);
	mal_sharing_clear();
	for (int i = 0; i < 3; i++) {
		begin(&very_long, NONE);
		turn_clock(5 * LONG);
		end(&very_long, true);
	}
	begin(&very_long, NONE);
	assert_int_equal(mal.team, 4);
	assert_int_equal(borrows, 1 + 3);
	end(&very_long, true);
}

/*
 * One that took very long in its first run, and on CPUs of others takes as long in sum: a run alone
 * shows that it is short.
 */
static void long_by_others(void **state)
{
	static const char region;
	unsigned int runs = 0;

	(void)state;
	let_want(1);
	begin(&region, NONE);
	turn_clock(5 * LONG);
	end(&region, true);
	for (bool alone = false; !alone && runs < 20; runs++) {
		begin(&region, NONE);
		alone = !mal.stacked;
		turn_clock(alone ? 0 : 5 * LONG);
		end(&region, true);
	}
	assert_int_equal(runs, 9);
}

/* The first region takes long, as it creates the threads: that is not taken for its work. */
static void creates_threads(void **state)
{
	static const char region, other;

	(void)state;
	let_want(1);
	mal.segment.header->free_cpus = 1;
	mal.region.threads = 0;
	begin(&region, NONE);
	turn_clock(5 * LONG);
	end(&region, true);
	run(&region, NONE, true);
	begin(&region, NONE);
	assert_int_equal(mal.team, 2);
	assert_int_equal(borrows, 0);
	end(&region, true);
	/* Nor for ever, where the first run of another took long by chance. */
	begin(&other, NONE);
	turn_clock(5 * LONG);
	end(&other, true);
	for (int i = 0; i < 2; i++) {
		begin(&other, NONE);
		assert_int_equal(mal.team, 4);
		end(&other, true);
	}
	begin(&other, NONE);
	assert_int_equal(mal.team, 2);
	end(&other, true);
}

/* Where nothing is lent, threads wait as without us. */
static void of_no_lending(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	for (int i = 0; i < ALONE; i++)
		run(&region, NONE, true);
	run(&region, NONE, true);
	assert_int_equal(mal.teams.linger, MAL_LINGER_NONE);
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	run(&region, NONE, true);
	assert_int_equal(mal.teams.linger, MAL_LINGER_USUAL);
}

/* Threads that wait sleep where others borrow, unless regions take longer then. */
static void lingers(void **state)
{
	unsigned int awake = 0, asleep, last;

	(void)state;
	let_want(1);
	/* What ran before the first call says nothing. */
	mal_sharing_learn(1, &(struct mal_runs){10 * REGIONS, 0, 0}, true);
	assert_false(mal_sharing());
	mal_sharing_clear();
	/* It is tried, does harm, and is tried again, ever less often. */
	for (int i = 0; i < 4; i++) {
		last = awake;
		awake = until_turned(2 * MS, 8 * MS);
		assert_in_range(awake, i ? 3 * last : REGIONS_MIN, 100000);
		asleep = until_turned(2 * MS, 8 * MS);
		/* It has failed as soon as it takes what REGIONS would take by themselves. */
		assert_in_range(asleep, REGIONS_MIN, HARM * REGIONS * 2 / 8 + 2);
	}
	/* It does none any more: the other way is what is tried now and then, ever less often. */
	assert_in_range(until_turned(2 * MS, 2 * MS), 1, 400000);
	asleep = REGIONS;
	for (int i = 0; i < 3; i++) {
		last = asleep;
		asleep = until_turned(2 * MS, 2 * MS);
		assert_true(asleep > last);
		assert_in_range(until_turned(2 * MS, 2 * MS), REGIONS_MIN, REGIONS + 2);
	}
}

/* Short regions share nothing, and CPUs of others are of no use to them. */
static void too_short(void **state)
{
	(void)state;
	let_want(1);
	assert_true(mal_sharing_is_of_no_use());
	take(40 * REGIONS, MS / 10, MS / 10);
	assert_false(mal_sharing());
	assert_true(mal_sharing_is_of_no_use());
	take(40 * REGIONS, MS / 2, MS / 2);
	assert_true(mal_sharing());
	assert_false(mal_sharing_is_of_no_use());
}

/* Policies ask how long regions take where nothing is lent, too: to move CPUs, or to predict. */
static void lends_nothing(void **state)
{
	(void)state;
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	take(ALONE, 25 * MS, 25 * MS);
	assert_false(mal_sharing_is_of_no_use());
	take(40 * REGIONS, MS / 10, MS / 10);
	assert_true(mal_sharing_is_of_no_use());
	assert_false(mal_sharing());
	assert_false(wants);
}

/* At the start they take longer. */
static void too_short_after_all(void **state)
{
	(void)state;
	let_want(1);
	take(300, 4 * MS / 5, 10 * MS);
	take(40 * REGIONS, MS / 10, 10 * MS);
	assert_true(mal_sharing_is_of_no_use());
	assert_false(mal_sharing());
}

/* Those that read input, before those of the time loop, do not keep that from sharing. */
static void short_setup(void **state)
{
	static const char setup[10];

	(void)state;
	let_want(1);
	for (int i = 0; i < 1500; i++)
		take_of(&setup[i % 10], MS / 100, MS / 100);
	assert_true(mal_sharing_is_of_no_use());
	take(ALONE + 1, 20 * MS, 20 * MS);
	assert_true(mal_sharing());
}

/* One long region a phase tells as much in the time of a window. */
static void few_and_long(void **state)
{
	(void)state;
	take(UNKNOWN_RUNS + 1, 100 * MS, 100 * MS);
	assert_false(mal_sharing_is_of_no_use());
}

/* What is borrowed goes back where sharing ended. */
static void gives_back(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	take(2 * ALONE, 25 * MS, 25 * MS);
	assert_true(mal_sharing());
	mal.borrowed_count = 1;
	begin(&region, NONE);
	end(&region, true);
	assert_int_equal(mal.borrowed_count, 1);
	mal_sharing_clear();
	begin(&region, NONE);
	assert_int_equal(mal.borrowed_count, 0);
	end(&region, true);
}

/* Nor is anything kept where nobody lends any more. */
static void gives_back_without_rule(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	take(2 * ALONE, 25 * MS, 25 * MS);
	mal.borrowed_count = 1;
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	begin(&region, NONE);
	assert_int_equal(mal.borrowed_count, 0);
	end(&region, true);
}

/*
 * Ranks that harm each other see it when nobody lends: regions that were kept sharing take far less
 * then.
 */
static void alone_at_once(void **state)
{
	(void)state;
	let_want(1);
	take(ALONE, 25 * MS, 25 * MS);
	take(2 * ALONE, 25 * MS, 25 * MS);
	assert_true(mal_sharing());
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	take(ALONE + 1, 20 * MS, 20 * MS);
	assert_true(mal_sharing());
	take(40 * REGIONS, MS / 10, MS / 10);
	assert_false(mal_sharing());
	mal.segment.header->rules |= MAL_RULE_LEND | MAL_RULE_GROW;
	take(ALONE, MS / 10, MS / 10);
	assert_false(mal_sharing());
}

/* It takes so long that few of them end before nobody lends: in a trial, and later. */
static void few_in_a_crawl(void **state)
{
	(void)state;
	let_want(1);
	for (unsigned int windows = 1; windows < 4; windows += 2) {
		mal_sharing_clear();
		take(windows * ALONE, 25 * MS, 25 * MS);
		assert_true(mal_sharing());
		take(3, 25 * MS, 1000 * MS);
		assert_true(mal_sharing());
		mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
		take(ALONE + 1, 25 * MS, 25 * MS);
		assert_false(mal_sharing());
		mal.segment.header->rules |= MAL_RULE_LEND | MAL_RULE_GROW;
	}
}

/* A trial that has hardly begun does not end for what an older one took. */
static void not_for_an_older_trial(void **state)
{
	(void)state;
	let_want(1);
	assert_int_not_equal(until_turned(25 * MS, 100 * MS), 0);
	assert_int_not_equal(until_turned(25 * MS, 100 * MS), 0);
	assert_false(mal_sharing());
	assert_int_not_equal(until_turned(25 * MS, 25 * MS), 0);
	assert_true(mal_sharing());
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	take(2 * ALONE, 25 * MS, 25 * MS);
	assert_true(mal_sharing());
}

/* The first regions take long for another reason: sharing was kept, and is soon left. */
static void slow_start(void **state)
{
	(void)state;
	let_want(1);
	take(ALONE, 25 * MS, 25 * MS);
	take(REGIONS, MS, MS);
	assert_true(mal_sharing());
	/* As long as this takes to be seen, and to be tried. */
	take(REGIONS, MS / 10, 10 * MS);
	take(2 * REGIONS, MS / 10, 10 * MS);
	assert_false(mal_sharing());
	/* It stays so but for a short trial now and then. */
	take(20 * REGIONS, MS / 10, 10 * MS);
	assert_false(mal_sharing());
}

/* A run of WHERE, during all of which rank 1 waited. */
static void take_waited_for(const void *where, uint64_t ticks)
{
	begin(where, NONE);
	turn_clock(ticks);
	mal.segment.ranks[1].waiting_since = mal.region_begin;
	mal_region_end(where);
}

/* Short regions; the system interrupts some runs for long: nobody shares or lends for them. */
static void interrupted(void **state)
{
	static const char regions[30];

	(void)state;
	let_want(1);
	srand(1);
	for (int i = 0; i < 30000; i++) {
		take_waited_for(&regions[i % 30], rand() % 20 || i < 30 ? MS / 20 : 6 * LONG);
		assert_int_equal(mal.team, 2);
		assert_false(mal_sharing());
		assert_false(wants);
	}
}

/* One run in four takes nearly all of the time. */
static void few_large(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	for (int i = 0; i < 400 && !mal_sharing(); i++)
		take_waited_for(&region, i % 4 ? MS / 200 : 20 * MS);
	assert_true(mal_sharing());
}

/* Each region runs once or twice, or there are too many to remember. */
static void never_known(void **state)
{
	static const char regions[400];

	(void)state;
	for (int i = 0; i < 10; i++)
		take_waited_for(&regions[i], 1000 * MS);
	assert_false(mal_sharing_is_of_no_use());
	mal_sharing_clear();
	mal_length_clear();
	let_want(1);
	for (int i = 0; i < 200; i++)
		take_waited_for(&regions[i % 400], 20 * MS);
	assert_true(mal_sharing());
}

/* Regions that appear while others share, and are harmed by that, end it though they are new. */
static void harmed_and_new(void **state)
{
	static const char regions[121];

	(void)state;
	let_want(1);
	for (int i = 0; i < 60; i++)
		take_waited_for(&regions[120], 20 * MS);
	assert_true(mal_sharing());
	for (int i = 0; i < 200; i++) {
		begin(&regions[i % 120], NONE);
		turn_clock(i < 120 ? 5 * MS : mal.stacked ? 100 * MS : MS / 20);
		mal.segment.ranks[1].waiting_since = mal.region_begin;
		mal_region_end(&regions[i % 120]);
	}
	assert_false(mal_sharing());
}

/* The first run had nothing to do. */
static void empty_at_first(void **state)
{
	static const char region;

	(void)state;
	take_waited_for(&region, MS / 200);
	for (int i = 0; i < 8; i++)
		take_waited_for(&region, 1000 * MS);
	assert_false(mal_sharing_is_of_no_use());
}

/* The program itself chose two threads for one CPU: what they take is what the region takes. */
static void more_threads_than_cpus(void **state)
{
	static const char region;

	(void)state;
	mal.own_count = 1;
	mal.proofs.on = true;
	for (int i = 0; i < 8; i++)
		take_waited_for(&region, MS / 20);
	for (int i = 0; i < 100; i++)
		take_waited_for(&region, 20 * MS);
	assert_false(mal_sharing_is_of_no_use());
}

/* Large runs of a region among small ones share as if all were large. */
static void of_several_sizes(void **state)
{
	static const uint64_t us[] = {5000, 700, 100, 20, 100, 700};
	static const char region;

	(void)state;
	let_want(1);
	for (int i = 0; i < 600 && !mal_sharing(); i++)
		take_of(&region, us[i % 6] * MS / 1000, us[i % 6] * MS / 1000);
	assert_true(mal_sharing());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(larger_than_chosen, open_all, close_all),
		cmocka_unit_test_setup_teardown(smaller_than_chosen, open_all, close_all),
		cmocka_unit_test_setup_teardown(of_no_length, open_all, close_all),
		cmocka_unit_test_setup_teardown(proofs, open_all, close_all),
		cmocka_unit_test_setup_teardown(of_no_use, open_all, close_all),
		cmocka_unit_test_setup_teardown(bound_unasked, open_all, close_all),
		cmocka_unit_test_setup_teardown(passing_by, open_all, close_all),
		cmocka_unit_test_setup_teardown(one_by_if, open_all, close_all),
		cmocka_unit_test_setup_teardown(raised, open_all, close_all),
		cmocka_unit_test_setup_teardown(after_many, open_all, close_all),
		cmocka_unit_test_setup_teardown(alone_at_first, open_all, close_all),
		cmocka_unit_test_setup_teardown(long_by_others, open_all, close_all),
		cmocka_unit_test_setup_teardown(creates_threads, open_all, close_all),
		cmocka_unit_test_setup_teardown(of_no_lending, open_all, close_all),
		cmocka_unit_test_setup_teardown(lingers, open_all, close_all),
		cmocka_unit_test_setup_teardown(too_short, open_all, close_all),
		cmocka_unit_test_setup_teardown(lends_nothing, open_all, close_all),
		cmocka_unit_test_setup_teardown(too_short_after_all, open_all, close_all),
		cmocka_unit_test_setup_teardown(short_setup, open_all, close_all),
		cmocka_unit_test_setup_teardown(few_and_long, open_all, close_all),
		cmocka_unit_test_setup_teardown(gives_back, open_all, close_all),
		cmocka_unit_test_setup_teardown(gives_back_without_rule, open_all, close_all),
		cmocka_unit_test_setup_teardown(alone_at_once, open_all, close_all),
		cmocka_unit_test_setup_teardown(few_in_a_crawl, open_all, close_all),
		cmocka_unit_test_setup_teardown(not_for_an_older_trial, open_all, close_all),
		cmocka_unit_test_setup_teardown(slow_start, open_all, close_all),
		cmocka_unit_test_setup_teardown(interrupted, open_all, close_all),
		cmocka_unit_test_setup_teardown(few_large, open_all, close_all),
		cmocka_unit_test_setup_teardown(never_known, open_all, close_all),
		cmocka_unit_test_setup_teardown(harmed_and_new, open_all, close_all),
		cmocka_unit_test_setup_teardown(empty_at_first, open_all, close_all),
		cmocka_unit_test_setup_teardown(more_threads_than_cpus, open_all, close_all),
		cmocka_unit_test_setup_teardown(of_several_sizes, open_all, close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
