/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_team.c: the team's size and what the program is told of it, on a runtime of functions of
 * this file; calls of MPI and loops of MPI_Test as waits.
 */
#include "t/unit/rank_fixture.h"

#include <sched.h>
#include <setjmp.h>
#include <sys/resource.h>

#include "libmalleable/core/changes.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/malleable.h"
#include "libmalleable/prover/prove.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/length.h"
#include "libmalleable/rank/mpi/words.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/named_regions.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/primary.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/objects.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/region_table.h"
#include "libmalleable/rank/team.h"
#include "libmalleable/rank/wait.h"

/* Tests until the library first looks at a loop of them. */
#define TESTS_FIRST 64

int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_num_procs(void);
void omp_set_num_threads(int threads);
void omp_set_dynamic(int dynamic);
void omp_set_schedule(int kind, int chunk);
int omp_get_max_threads_(void);
int omp_get_num_threads_(void);
int omp_get_num_procs_(void);
void omp_set_num_threads_(const int *threads);
void omp_set_dynamic_(const int *dynamic);
void omp_set_schedule_(const int *kind, const int *chunk);
void kmp_set_blocktime(int ms);
int kmp_get_blocktime(void);
void kmp_set_blocktime_(const int *ms);
int kmp_get_blocktime_(void);
void malleable_phase_(void);
void omp_balanced_(void);

/* The runtime. */
static int threads_set, limit_set, levels_set, dynamic_set, blocktime_set, kind_set, chunk_set;
static int procs_there = 2;
static bool is_there, has_room, changed;
static enum mal_mode_reason reason_of_objects;

static int get_max_threads(void)
{
	return threads_set;
}

static int get_num_threads(void)
{
	return mal.region.depth ? (int)mal.region.running : 1;
}

static int get_num_procs(void)
{
	return procs_there;
}

static int get_thread_limit(void)
{
	return limit_set;
}

static int get_max_active_levels(void)
{
	return levels_set;
}

static int get_dynamic(void)
{
	return dynamic_set;
}

static int get_blocktime(void)
{
	return blocktime_set < 0 ? 200 : blocktime_set;
}

static void set_num_threads(int threads)
{
	threads_set = threads;
}

static void set_dynamic(int on)
{
	dynamic_set = on;
}

static void set_blocktime(int ms)
{
	blocktime_set = ms;
}

/* As libgomp has it. */
static void get_schedule(int *kind, int *chunk)
{
	*kind = 2;
	*chunk = 1;
}

static void set_schedule(int kind, int chunk)
{
	kind_set = kind;
	chunk_set = chunk;
}

static const struct mal_runtime managed_one = {
	.base = &threads_set,
	.get_max_threads = get_max_threads,
	.get_num_threads = get_num_threads,
	.get_num_procs = get_num_procs,
	.get_thread_limit = get_thread_limit,
	.get_max_active_levels = get_max_active_levels,
	.set_num_threads = set_num_threads,
	.get_dynamic = get_dynamic,
	.set_dynamic = set_dynamic,
	.get_blocktime = get_blocktime,
	.set_blocktime = set_blocktime,
	.get_schedule = get_schedule,
	.set_schedule = set_schedule,
};

const struct mal_runtime *mal_runtime_managed(void)
{
	return &managed_one;
}

const struct mal_runtime *mal_runtime_of(const void *caller)
{
	(void)caller;
	return is_there ? &managed_one : NULL;
}

const struct mal_runtime *mal_gomp_original(const struct mal_runtime *original)
{
	(void)original;
	return NULL;
}

bool mal_threads_have_room(const struct mal_rank *rank, unsigned int team, unsigned int spare,
			   size_t stack)
{
	(void)rank;
	(void)team, (void)spare, (void)stack;
	return has_room;
}

bool mal_objects_changed(void)
{
	return changed;
}

enum mal_mode_reason mal_objects_keep_size(void)
{
	return reason_of_objects;
}

bool mal_become_primary(struct mal_rank *rank)
{
	(void)rank;
	mal_self.considered_primary = mal_self.primary = true;
	return true;
}

/* What is known of the regions. */
static bool all_free;

bool mal_prove_all_free(void)
{
	return all_free;
}

void mal_prove_reported_one(void)
{
	mal.proofs_own.reported_one = true;
}

/* What becomes of waits. */
static unsigned int calls_begun, calls_ended, waits_begun, polls, marks;
static bool is_abandoned;

void mal_call_begin(void)
{
	calls_begun++;
}

void mal_call_end(void)
{
	calls_ended++;
	mal_self.waiting = false;
	is_abandoned = false;
}

void mal_wait_begin(uint64_t ago)
{
	(void)ago;
	waits_begun++;
	mal_self.waiting = true;
}

void mal_wait_poll(void)
{
	polls++;
}

bool mal_wait_is_abandoned(const struct mal_rank *rank)
{
	(void)rank;
	return is_abandoned;
}

void mal_phase_boundary(enum mal_boundary_kind kind)
{
	marks += kind == MAL_BOUNDARY_MARK;
}

int __wrap_getrusage(int who, struct rusage *usage);
static uint64_t used_us;

int __wrap_getrusage(int who, struct rusage *usage)
{
	(void)who;
	memset(usage, 0, sizeof(*usage));
	usage->ru_utime.tv_sec = (time_t)(used_us / 1000000);
	usage->ru_utime.tv_usec = (suseconds_t)(used_us % 1000000);
	return 0;
}

static int set_up(void **state)
{
	static const char *const variables[] = {MAL_ENV_MAX_THREADS,
						"OMP_NUM_THREADS",
						"KMP_BLOCKTIME",
						"OMP_SCHEDULE",
						"KMP_DETERMINISTIC_REDUCTION",
						"KMP_ALL_THREADS",
						"OMP_PROC_BIND",
						"OMP_CANCELLATION",
						"OMP_DISPLAY_AFFINITY",
						"KMP_AFFINITY"};

	(void)state;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	open_ranks(2, 2, 8);
	mal_self.primary = mal_self.considered_primary = true;
	memset(&mal.team_own, 0, sizeof(mal.team));
	threads_set = procs_there = 2;
	limit_set = levels_set = dynamic_set = kind_set = chunk_set = 0;
	blocktime_set = -1;
	is_there = has_room = true;
	changed = is_abandoned = false;
	reason_of_objects = MAL_REASON_NONE;
	calls_begun = calls_ended = waits_begun = polls = marks = 0;
	used_us = 0;
	mal.watch_own.started = true; /* no helper */
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

/* Nobody asked: the team follows the CPUs. */
static void team_follows_the_cpus(void **state)
{
	(void)state;
	assert_false(mal_team_is_free(&mal));
	mal_team_follow(&mal, 4);
	assert_int_equal(mal.team.base, 0);
	mal_team_open(&mal);
	assert_true(mal_team_is_free(&mal));
	mal_team_follow(&mal, 3);
	assert_int_equal(threads_set, 3);
	assert_int_equal(mal.team.size, 3);
	assert_int_equal(mal_team_max(&mal), 0);
	assert_true(mal_team_hides_size());
	mal.team_own.base = 2;
	mal_team_hide_size();
	assert_int_equal(threads_set, 2);
}

static enum mal_mode_reason open_team(void)
{
	mal_team_open(&mal);
	assert_int_equal(mal.mode,
			 mal.slot->reason == MAL_REASON_NONE ? MAL_MODE_AUTO : MAL_MODE_CPUSET);
	return mal.slot->reason;
}

/* It keeps its size, and why. */
static void keeps_for_number(void **state)
{
	(void)state;
	threads_set = 5;
	assert_int_equal(open_team(), MAL_REASON_NUMBER);
	mal_team_follow(&mal, 3);
	assert_int_equal(threads_set, 5);
	assert_int_equal(mal_team_max(&mal), 5);
}

static void keeps_for_dynamic(void **state)
{
	(void)state;
	dynamic_set = 1;
	assert_int_equal(open_team(), MAL_REASON_DYNAMIC);
}

static void keeps_for_reduction(void **state)
{
	(void)state;
	setenv("KMP_DETERMINISTIC_REDUCTION", "Off", 1);
	assert_int_equal(open_team(), MAL_REASON_NONE);
	mal.team_own.base = 0;
	setenv("KMP_DETERMINISTIC_REDUCTION", "true", 1);
	assert_int_equal(open_team(), MAL_REASON_REDUCTION);
}

/* As the runtime prints threads again whenever their number changes. */
static void keeps_for_display(void **state)
{
	(void)state;
	setenv("OMP_DISPLAY_AFFINITY", "false", 1);
	setenv("KMP_AFFINITY", "noverbose,compact", 1);
	assert_int_equal(open_team(), MAL_REASON_NONE);
	mal.team_own.base = 0;
	setenv("KMP_AFFINITY", "compact,verbose", 1);
	assert_int_equal(open_team(), MAL_REASON_DISPLAY);
}

/* As libomp aborts teams of several threads that leave a loop early. */
static void keeps_where_loops_are_left(void **state)
{
	(void)state;
	changed = true;
	reason_of_objects = MAL_REASON_CANCELS;
	assert_int_equal(open_team(), MAL_REASON_NONE);
	mal.team_own.base = 0;
	setenv("OMP_CANCELLATION", "true", 1);
	assert_int_equal(open_team(), MAL_REASON_CANCELS);
}

static void keeps_for_objects(void **state)
{
	(void)state;
	assert_int_equal(open_team(), MAL_REASON_NONE);
	changed = true;
	mal_team_look(&mal);
	assert_true(mal_team_is_free(&mal));
	reason_of_objects = MAL_REASON_THREAD_DATA;
	mal_team_look(&mal);
	assert_int_equal(mal.slot->reason, MAL_REASON_THREAD_DATA);
	assert_false(mal_team_is_free(&mal));
}

/* No more threads than the user and the system let it have. */
static void user_and_system_limit_the_team(void **state)
{
	(void)state;
	mal_team_open(&mal);
	limit_set = 3;
	assert_int_equal(mal_team_clamp(&mal, 6), 3);
	levels_set = 2;
	assert_int_equal(mal_team_clamp(&mal, 6), 2);
	limit_set = levels_set = 0;
	assert_int_equal(mal_team_clamp(&mal, 6), 6);
	has_room = false;
	assert_int_equal(mal_team_clamp(&mal, 7), 6);
	assert_int_equal(mal.slot->reason, MAL_REASON_SYSTEM);
	assert_int_equal(mal_team_max(&mal), 6);
	mal.team_own.all_limited = true;
	assert_int_equal(mal_team_clamp(&mal, 6), 2);
}

/* The user has more threads told than there are CPUs. */
static void more_reported_threads_than_cpus(void **state)
{
	(void)state;
	setenv(MAL_ENV_MAX_THREADS, "6", 1);
	limit_set = 4;
	mal_team_open(&mal);
	assert_int_equal(mal.team.base, 4);
	assert_int_equal(threads_set, 4);
	assert_true(mal.team.reported_more);
}

/* A number that is none is passed over: a wrapper may have changed it. */
static void nonsense_variables_are_passed_over(void **state)
{
	(void)state;
	setenv(MAL_ENV_MAX_THREADS, "six", 1);
	mal_team_open(&mal);
	assert_int_equal(mal.team.base, 2);
	assert_false(mal.team.reported_more);
}

static void linger_sets_the_blocktime(void **state)
{
	(void)state;
	mal_team_open(&mal);
	assert_false(mal_team_set_linger(&mal, MAL_LINGER_USUAL));
	assert_true(mal_team_set_linger(&mal, MAL_LINGER_SHORT));
	assert_int_equal(blocktime_set, 1);
	assert_true(mal_team_set_linger(&mal, MAL_LINGER_NONE));
	assert_int_equal(blocktime_set, 0);
	assert_true(mal_team_set_linger(&mal, MAL_LINGER_USUAL));
	assert_int_equal(blocktime_set, 200);
	mal.team_own.block_fixed = true;
	assert_false(mal_team_set_linger(&mal, MAL_LINGER_NONE));
}

/* What the program sets stays, whenever it does, and it sees no value of ours. */
static void patience_of_the_program(void **state)
{
	(void)state;
	mal_team_open(&mal);
	assert_int_equal(kmp_get_blocktime(), 200);
	assert_true(mal_team_set_linger(&mal, MAL_LINGER_SHORT));
	assert_int_equal(get_blocktime(), 1);
	assert_int_equal(kmp_get_blocktime(), 200);
	assert_true(mal_team_set_linger(&mal, MAL_LINGER_NONE));
	assert_int_equal(kmp_get_blocktime_(), 200);
	kmp_set_blocktime(1);
	assert_false(mal_team_set_linger(&mal, MAL_LINGER_NONE));
	assert_int_equal(kmp_get_blocktime(), 1);
	/* Before the first region, and from a thread of its own. */
	memset(&mal.team_own, 0, sizeof(mal.team));
	mal.team_own.base = 0;
	kmp_set_blocktime_(&(int){0});
	mal_team_open(&mal);
	assert_false(mal_team_set_linger(&mal, MAL_LINGER_SHORT));
	assert_int_equal(blocktime_set, 0);
	mal.team_own.block_fixed = false;
	mal_self.primary = false;
	kmp_set_blocktime(7);
	assert_false(mal.team.block_fixed);
	is_there = false;
	kmp_set_blocktime(8);
	assert_int_equal(blocktime_set, 7);
	assert_int_equal(kmp_get_blocktime(), 0);
}

static void schedule_is_set_and_given_back(void **state)
{
	(void)state;
	mal_team_open(&mal);
	mal_team_set_schedule(&mal, 2 | 16 << 16);
	assert_int_equal(kind_set, 2);
	assert_int_equal(chunk_set, 16);
	mal_team_set_schedule(&mal, 102);
	assert_int_equal(kind_set, 2);
	mal_team_set_schedule(&mal, 0);
	assert_int_equal(kind_set, 2);
	assert_int_equal(chunk_set, 1);
	omp_set_schedule(3, 1);
	assert_int_equal(kind_set, 3);
	mal_team_set_schedule(&mal, 2);
	assert_int_equal(kind_set, 3);
	omp_set_schedule_(&(int){1}, &(int){7});
	assert_int_equal(chunk_set, 7);
}

/* Who asked is told the same from then on. */
static void who_asked_is_told_the_same(void **state)
{
	(void)state;
	assert_int_equal(omp_get_max_threads(), 2);
	assert_int_equal(mal.slot->reason, MAL_REASON_REPORTED);
	assert_false(mal_team_is_free(&mal));
	mal_team_set(&mal, 4);
	assert_int_equal(omp_get_max_threads_(), 2);
	assert_int_equal(threads_set, 2);
	assert_int_equal(omp_get_num_threads() + omp_get_num_threads_(), 2);
	mal_team_follow(&mal, 4);
	assert_int_equal(mal.team.base, 2);
}

/* The user's word: it may be resized whatever it was told, and asks again. */
static void may_be_resized(void **state)
{
	(void)state;
	mal.mode = MAL_MODE_TEAM;
	assert_int_equal(omp_get_max_threads(), 2);
	assert_true(mal_team_is_free(&mal));
	assert_true(mal_team_may_differ(&mal));
	assert_int_equal(mal_team_max(&mal), 0);
	mal_team_follow(&mal, 1);
	assert_int_equal(omp_get_max_threads(), 1);
	mal_team_follow(&mal, 4);
	assert_int_equal(omp_get_max_threads(), 4);
	assert_int_equal(threads_set, 4);
	omp_set_num_threads(3);
	assert_true(mal_team_may_differ(&mal));
	/* What it learns in a region holds for that. */
	mal.region_own.depth = 1;
	mal.region_own.running = 6;
	mal.region_own.widened = true;
	mal_self.slot = thread_of(0, 0);
	assert_int_equal(omp_get_num_threads(), 6);
	mal.region_own.depth = 0;
	mal_team_look(&mal);
	assert_int_equal(mal.team.base, 3);
}

static unsigned int forgotten;

void mal_bind_forget(struct mal_rank *rank)
{
	(void)rank;
	forgotten++;
}

/* Where the user chose places the runtime binds each team anew: ours are known no more. */
static void places_of_the_user_bind_anew(void **state)
{
	(void)state;
	for (unsigned int chosen = 0; chosen < 2; chosen++) {
		memset(&mal.team_own, 0, sizeof(mal.team));
		threads_set = 2;
		forgotten = 0;
		if (chosen)
			setenv("OMP_PROC_BIND", "close", 1);
		mal_team_open(&mal);
		mal_team_set(&mal, 2);
		assert_int_equal(forgotten, 0);
		mal_team_set(&mal, 3);
		assert_int_equal(forgotten, chosen);
	}
}

/* CPUs that the rank asks for from the last malleable_borrow() on. */
static unsigned int wished;

void mal_unmanaged_wish(struct mal_rank *rank, unsigned int max)
{
	(void)rank;
	wished = max;
}

static bool mostly_short;

bool mal_length_is_mostly_short(void)
{
	return mostly_short;
}

/* Regions of a few microseconds gain nothing by more CPUs; where none ran nothing is known. */
static void too_short_for_more(void **state)
{
	unsigned int home;

	(void)state;
	mal_team_open(&mal);
	home = mal_cpumask_count(&mal.home);
	mostly_short = true;
	assert_int_equal(mal_team_max(&mal), 0);
	mal_count(&mal.slot->count.regions, 1);
	assert_int_equal(mal_team_max(&mal), home);
	mal.team_own.base = home + 3;
	assert_int_equal(mal_team_max(&mal), home + 3);
	mostly_short = false;
	assert_int_equal(mal_team_max(&mal), 0);
}

/* In a widened region the answer is what there is, and the next ones are as large. */
static void inside_the_answer_is_what_there_is(void **state)
{
	(void)state;
	mal_team_open(&mal);
	mal.region_own.depth = 1;
	mal.region_own.running = 4;
	mal.region_own.widened = true;
	mal_self.slot = thread_of(0, 0);
	assert_int_equal(omp_get_num_threads(), 4);
	assert_int_equal(omp_get_max_threads(), 4);
	mal.region_own.depth = 0;
	mal_team_look(&mal);
	assert_int_equal(mal.team.base, 4);
	assert_int_equal(omp_get_num_procs() + omp_get_num_procs_(), 4);
}

static void program_sets_its_number(void **state)
{
	(void)state;
	omp_set_num_threads(5);
	assert_int_equal(mal.team.base, 5);
	assert_int_equal(mal.team.reported_threads, 5);
	omp_set_num_threads_(&(int){3});
	assert_int_equal(mal.team.size, 3);
	omp_set_dynamic(1);
	assert_int_equal(mal.slot->reason, MAL_REASON_NUMBER);
	omp_set_dynamic_(&(int){0});
	assert_int_equal(dynamic_set, 0);
	/* A program that is no rank, and one without runtime. */
	mal.active = false;
	assert_int_equal(omp_get_max_threads(), 3);
	is_there = false;
	omp_set_num_threads(9);
	omp_set_dynamic(1);
	omp_set_schedule(2, 2);
	assert_int_equal(threads_set, 3);
	assert_int_equal(omp_get_max_threads() + omp_get_num_threads() + omp_get_num_procs(), 3);
}

/* A call inside a call, as the second one is made deeper on the stack. */
__attribute__((noinline)) static void enter_inside(void)
{
	volatile char below[256];

	below[0] = 0;
	mal_mpi_enter(false);
	below[1] = below[0];
}

/* Calls nest; between two polls one becomes a wait. */
static void calls_nest(void **state)
{
	(void)state;
	mal_mpi_init(MAL_MPI_POLLS_YIELD);
	calls_begun = calls_ended = 0;
	mal_mpi_poll();
	mal_mpi_enter(true);
	enter_inside();
	assert_int_equal(calls_begun, 1);
	assert_true(mal_self.collective);
	assert_int_equal(sched_yield(), 0);
	assert_int_equal(waits_begun, 1);
	sched_yield();
	assert_int_equal(polls, 1);
	assert_int_equal(test_kernel.yields, 0);
	mal_mpi_leave(true);
	assert_int_equal(calls_ended, 0);
	mal_mpi_leave(true);
	assert_int_equal(calls_ended, 1);
	sched_yield();
	assert_int_equal(test_kernel.yields, 1);
	mal_mpi_init(MAL_MPI_POLLS_HIDDEN);
	waits_begun = 1;
	mal_mpi_finalize(NULL);
	assert_int_equal(waits_begun, 2);
	mal_mpi_leave(false);
}

/* In a region the call's time is no work. */
static void calls_in_regions_are_no_work(void **state)
{
	(void)state;
	mal_mpi_init(MAL_MPI_POLLS_YIELD);
	calls_begun = 0;
	mal.region_own.depth = 1;
	mal_self.begin = test_clock.now;
	mal_mpi_enter(false);
	turn_clock(MS);
	mal_mpi_leave(false);
	assert_int_equal(mal_self.begin, test_clock.now);
	assert_int_equal(calls_begun, 0);
	/* The report tells it. */
	assert_int_equal(mal.slot->foreign_threads, MAL_FOREIGN_INSIDE);
}

/* longjmp() and its like out of MPI: the thread is in no call any more. */
static void jumps_leave_the_call(void **state)
{
	static jmp_buf back;
	static volatile int jumped;

	(void)state;
	jumped = 0;
	if (setjmp(back) == 0) {
		mal_mpi_enter(true);
		enter_inside();
		longjmp(back, 1);
	}
	assert_int_equal(mal_self.mpi_depth, 0);
	assert_int_equal(calls_ended, 1);
	if (setjmp(back) == 0) {
		mal_mpi_in_test = true;
		_longjmp(back, 1);
	}
	assert_false(mal_mpi_in_test);
	if (sigsetjmp(back, 0) == 0) {
		jumped++;
		siglongjmp(back, 1);
	}
	assert_int_equal(jumped, 1);
	mal_mpi_unwound();
	mal_mpi_look_back(state);
	assert_int_equal(calls_ended, 1);
}

static unsigned int attached;

void mal_attach(void)
{
	attached++;
}

static void phases_are_marked(void **state)
{
	(void)state;
	attached = 0;
	malleable_phase();
	malleable_phase_();
	omp_balanced();
	omp_balanced_();
	assert_int_equal(marks, 4);
	assert_int_equal(malleable_cpus(), 2);
	mal.active = false;
	malleable_phase();
	assert_int_equal(marks, 4);
	assert_int_equal(malleable_cpus(), 0);
	assert_int_equal(attached, 2);
}

/* CPUs of its own, lent or not, before those of others; and what regions do is refused. */
static void asks_for_cpus(void **state)
{
	int list[3] = {-1, -1, -1};
	unsigned int changes = malleable_changes();

	(void)state;
	assert_int_equal(malleable_cpus_owned(), 2);
	assert_int_equal(malleable_cpu_list(list, 1), 2);
	assert_int_equal(list[0], 0);
	assert_int_equal(list[1], -1);
	assert_true(mal_word_lend(&mal.segment.cpus[0].word, 0));
	assert_true(mal_word_lend(&mal.segment.cpus[3].word, 1));
	assert_true(mal_word_borrow(&mal.segment.cpus[3].word, 0));
	assert_int_equal(malleable_cpus_owned(), 2);
	assert_int_equal(malleable_cpu_list(list, 3), 2);
	assert_int_equal(list[0], 1);
	assert_int_equal(list[1], 3);
	assert_int_equal(malleable_changes(), changes);
	mal.slot->changes++;
	assert_int_not_equal(malleable_changes(), changes);
	mal.ompt_own.on = true;
	assert_int_equal(malleable_borrow(2), MALLEABLE_E_REFUSED);
	assert_int_equal(malleable_borrow(-1), MALLEABLE_E_INVALID);
	mal.ompt_own.on = false;
	assert_int_equal(wished, 0);
	assert_int_equal(malleable_borrow(2), 2);
	assert_int_equal(wished, 2);
	mal.region_own.depth = 1;
	assert_int_equal(malleable_return(0), MALLEABLE_E_THREAD);
	mal.region_own.depth = 0;
	assert_int_equal(malleable_waiting_end(), MALLEABLE_E_NESTING);
}

/* Each text is another one. */
static void names_errors(void **state)
{
	(void)state;
	assert_int_equal(malleable_version(), MALLEABLE_API);
	for (int one = MALLEABLE_E_NESTING - 1; one < 1; one++)
		for (int other = MALLEABLE_E_NESTING - 1; other < one; other++)
			assert_string_not_equal(malleable_error(one), malleable_error(other));
	mal.active = false;
	assert_int_equal(malleable_state(), 0);
}

/* What it borrowed goes back, and nothing is lent or moved before the last end. */
static void bounds_its_balancing(void **state)
{
	int balanced = MALLEABLE_RANK | MALLEABLE_LENDS | MALLEABLE_MOVES;

	(void)state;
	assert_int_equal(malleable_state(), balanced);
	assert_int_equal(malleable_enable(), MALLEABLE_E_NESTING);
	mal.cpus_own.borrowed_count = 1;
	mal_request_open(&mal.segment, 0, 1, 2, 2, true);
	mal_borrower_set(&mal.segment, 0, true);
	assert_int_equal(malleable_disable(), 0);
	assert_false(mal_request_read(&mal.segment, 0).open);
	assert_false(mal_request_read(&mal.segment, 0).borrower);
	assert_int_equal(malleable_disable(), 0);
	assert_int_equal(malleable_enable(), 0);
	assert_int_equal(malleable_state(), MALLEABLE_RANK | MALLEABLE_DISABLED);
	assert_false(mal_rule(&mal, MAL_RULE_LEND | MAL_RULE_GROW | MAL_RULE_AWAIT));
	assert_true(mal_rule(&mal, MAL_RULE_BIND));
	mal.region_own.depth = 1;
	assert_int_equal(malleable_enable(), MALLEABLE_E_THREAD);
	assert_int_equal(malleable_disable(), MALLEABLE_E_THREAD);
	assert_int_equal(malleable_limit(1), MALLEABLE_E_THREAD);
	mal.region_own.depth = 0;
	mal.cpus_own.prepared_changes = mal.slot->changes;
	assert_int_equal(malleable_enable(), 0);
	assert_int_not_equal(mal.cpus.prepared_changes, mal.slot->changes);
	assert_int_equal(malleable_state(), balanced);
	mal.segment.header->rules &= ~(uint32_t)MAL_RULE_BIND;
	assert_int_equal(malleable_state(), MALLEABLE_RANK | MALLEABLE_OBSERVED);
	assert_int_equal(malleable_limit(-1), MALLEABLE_E_INVALID);
	assert_int_equal(malleable_limit(3), 2);
	assert_int_equal(mal.bounds.limit, 3);
	assert_int_equal(malleable_limit(MALLEABLE_ALL), 2);
	assert_int_equal(mal.bounds.limit, 0);
}

/* So many tests, each of which takes so long, and CPU time of it. */
static void test_often(unsigned int count, uint64_t ns, uint64_t us)
{
	for (unsigned int i = 0; i < count; i++) {
		turn_clock(ns);
		used_us += us;
		mal_mpi_tested(false);
	}
}

/* What the rank counts while the clock goes on by so many ns. */
static void pass(uint64_t ns, uint64_t serial, uint64_t mpi)
{
	turn_clock(ns);
	mal_count(&mal.slot->count.serial, serial);
	mal_count(&mal.slot->count.mpi, mpi);
	mal.primary_own.last_leave = test_clock.now;
}

/* Names are what can be printed, and there is room for 64. */
static void regions_have_names(void **state)
{
	char name[65] = "a region of 63 characters is the longest that there may be ......";
	int first = malleable_region("solve"), number, wrong[] = {-1, 0, 65};

	(void)state;
	assert_true(first > 0);
	assert_int_equal(malleable_region(NULL), MALLEABLE_E_INVALID);
	assert_int_equal(malleable_region(""), MALLEABLE_E_INVALID);
	assert_int_equal(malleable_region("two\nlines"), MALLEABLE_E_INVALID);
	assert_int_equal(malleable_region("caf\xc3\xa9"), MALLEABLE_E_INVALID);
	assert_int_equal(malleable_region(name), MALLEABLE_E_INVALID);
	name[63] = '\0';
	number = malleable_region(name);
	assert_true(number > first);
	for (int part = 0; number > 0 && part < 100; part++) {
		snprintf(name, sizeof(name), "part %d", part);
		number = malleable_region(name);
	}
	assert_int_equal(number, MALLEABLE_E_FULL);
	assert_int_equal(malleable_region("solve"), first);
	assert_int_equal(malleable_region_begin(64), 0);
	assert_int_equal(malleable_region_end(64), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(malleable_region_begin(wrong[i]), MALLEABLE_E_INVALID);
		assert_int_equal(malleable_region_end(wrong[i]), MALLEABLE_E_INVALID);
	}
	mal.active = false;
	assert_int_equal(malleable_region("solve"), 0);
}

/* Runs of one inside another, over each other's ends, and in themselves. */
static void named_regions_have_times(void **state)
{
	int solve = malleable_region("solve"), io = malleable_region("io");
	struct malleable_times times = {.size = sizeof(times)}, before = times;

	(void)state;
	pass(0, 0, 0);
	for (unsigned int thread = 0; thread < 2; thread++)
		thread_of(0, thread)->tid = tid_of(0, thread);
	malleable_region_times(0, &before);
	assert_int_equal(malleable_region_end(solve), MALLEABLE_E_NESTING);
	pass(9, 7, 2);
	assert_int_equal(malleable_region_begin(solve), 0);
	pass(100, 30, 20);
	mal.slot->count.region += 50;
	mal.slot->count.thread_ticks += 100;
	mal.slot->count.regions += 3;
	thread_of(0, 0)->busy += 40;
	thread_of(0, 1)->busy += 35;
	assert_int_equal(malleable_region_begin(solve), 0);
	assert_int_equal(malleable_region_begin(io), 0);
	turn_clock(10); /* serial time that is not counted yet */
	assert_int_equal(malleable_region_end(solve), 0);
	assert_int_equal(malleable_region_end(solve), 0);
	assert_int_equal(malleable_region_end(solve), MALLEABLE_E_NESTING);
	pass(5, 15, 0);
	assert_int_equal(malleable_region_times(solve, &times), 0);
	assert_int_equal(times.runs, 1);
	assert_int_equal(times.elapsed, 110);
	assert_int_equal(times.serial, 40);
	assert_int_equal(times.mpi, 20);
	assert_int_equal(times.work, 75);
	assert_int_equal(times.idle, 25);
	assert_int_equal(times.parallel_regions, 3);
	/* One that lasts. */
	assert_int_equal(malleable_region_times(io, &times), 0);
	assert_int_equal(times.runs, 1);
	assert_int_equal(times.elapsed, 15);
	assert_int_equal(times.serial, 15);
	malleable_region_end(io);
	pass(1000, 1000, 0);
	malleable_region_begin(io);
	turn_clock(1);
	malleable_region_end(io);
	malleable_region_times(io, &times);
	assert_int_equal(times.runs, 2);
	assert_int_equal(times.elapsed, 16);
	/* All of it. */
	assert_int_equal(malleable_region_times(0, &times), 0);
	assert_int_equal(times.elapsed - before.elapsed, 9 + 110 + 5 + 1000 + 1);
	assert_int_equal(times.mpi - before.mpi, 22);
	/* A shorter struct, of an earlier header. */
	times = (struct malleable_times){.size = 2 * sizeof(times.size), .elapsed = 7};
	assert_int_equal(malleable_region_times(io, &times), 0);
	assert_int_equal(times.runs, 2);
	assert_int_equal(times.elapsed, 7);
	times.size = 0;
	assert_int_equal(malleable_region_times(io, &times), MALLEABLE_E_INVALID);
	assert_int_equal(malleable_region_times(io, NULL), MALLEABLE_E_INVALID);
	times.size = sizeof(times);
	assert_int_equal(malleable_region_times(-1, &times), MALLEABLE_E_INVALID);
}

static unsigned int looks;

void mal_phase_look_outside(struct mal_rank *rank)
{
	looks++;
	rank->outside_own.waits += 3;
}

static uint64_t region_sum(int number, enum mal_region_count what)
{
	return mal_region_slots(&mal.segment, 0)[number - 1].sum[what];
}

/* At waits outside MPI, first and behind a long run; and what lasts is in each sample. */
static void long_runs_are_looked_at(void **state)
{
	char name[] = "part 0";
	int part = 0;

	(void)state;
	for (; part < 9; name[5]++) /* one that no other test has */
		part = malleable_region(name);
	looks = 0;
	malleable_region_begin(part);
	assert_int_equal(looks, 1);
	malleable_region_begin(part);
	turn_clock(20 * MS);
	malleable_region_end(part);
	assert_int_equal(looks, 1);
	malleable_region_end(part);
	assert_int_equal(looks, 2);
	assert_int_equal(region_sum(part, MAL_REGION_ELAPSED), 20 * MS);
	assert_int_equal(region_sum(part, MAL_REGION_LOOKED), 20 * MS);
	assert_int_equal(region_sum(part, MAL_REGION_WAITS), 3);
	malleable_region_begin(part);
	turn_clock(MS);
	malleable_region_end(part);
	assert_int_equal(looks, 4);
	assert_int_equal(region_sum(part, MAL_REGION_LOOKED), 21 * MS);
	malleable_region_begin(part);
	assert_int_equal(looks, 4);
	turn_clock(5 * MS);
	mal_named_sample(&mal);
	assert_int_equal(region_sum(part, MAL_REGION_ELAPSED), 26 * MS);
	assert_int_equal(region_sum(part, MAL_REGION_LOOKED), 21 * MS);
	turn_clock(MS);
	malleable_region_end(part);
	assert_int_equal(looks, 5);
	assert_int_equal(region_sum(part, MAL_REGION_ELAPSED), 27 * MS);
	assert_int_equal(region_sum(part, MAL_REGION_LOOKED), 22 * MS);
	assert_int_equal(region_sum(part, MAL_REGION_WAITS), 9);
	mal_named_sample(&mal);
	assert_int_equal(region_sum(part, MAL_REGION_ELAPSED), 27 * MS);
	assert_int_equal(mal_region_slots(&mal.segment, 0)[part - 1].runs, 3);
	assert_int_equal(malleable_region_begin(part + 1), MALLEABLE_E_INVALID);
}

/* Elsewhere what was counted is not of this moment. */
static void regions_begin_between(void **state)
{
	int solve = malleable_region("solve");
	struct malleable_times times = {.size = sizeof(times)};

	(void)state;
	for (int place = 0; place < 3; place++) {
		mal.region_own.depth = place == 0;
		mal_self.mpi_depth = mal_self.declared = place == 1;
		mal_self.primary = place != 2;
		mal_self.considered_primary = true;
		assert_int_equal(malleable_region_begin(solve), MALLEABLE_E_THREAD);
		assert_int_equal(malleable_region_end(solve), MALLEABLE_E_THREAD);
		assert_int_equal(malleable_region_times(0, &times), MALLEABLE_E_THREAD);
		assert_int_equal(malleable_region("solve"),
				 place == 1 ? solve : MALLEABLE_E_THREAD);
	}
	mal_self.primary = true;
	/* A loop of tests ends: it was a wait. */
	test_often(2 * TESTS_FIRST, 100, 0);
	assert_true(mal_self.testing);
	assert_int_equal(malleable_region_begin(solve), 0);
	assert_false(mal_self.testing);
	assert_int_equal(malleable_region_end(solve), 0);
}

static unsigned int sleeps;

/* Somebody else changes the CPUs at the third moment that the rank sleeps. */
static void change_late(void)
{
	assert_int_equal(mal.slot->sleepers, 1);
	turn_clock(5 * MS);
	if (++sleeps == 3)
		mal_changes_add(mal.slot);
}

/* It sleeps until then, or for as long as it is told; and it is woken, but only if it sleeps. */
static void waits_for_changes(void **state)
{
	unsigned int seen = malleable_changes();

	(void)state;
	assert_int_equal(malleable_await_change(seen + 1, -1), 1);
	mal_changes_add(mal.slot);
	assert_int_equal(test_kernel.naps, 0);
	assert_int_equal(test_kernel.wakes, 0);
	seen = malleable_changes();
	sleeps = 0;
	give_way = change_late;
	assert_int_equal(malleable_await_change(seen, -1), 1);
	assert_int_equal(sleeps, 3);
	assert_int_equal(test_kernel.wakes, 1);
	assert_int_equal(malleable_await_change(malleable_changes(), 10), 0);
	assert_int_equal(sleeps, 4);
	assert_int_equal(malleable_await_change(malleable_changes(), 0), 0);
	mal.segment.header->over = 1;
	assert_int_equal(malleable_await_change(malleable_changes(), -1), 0);
	assert_int_equal(sleeps, 4);
	assert_int_equal(mal.slot->sleepers, 0);
	give_way = NULL;
}

static int heard[9], last_heard;

static void hear(int cpus, void *argument)
{
	++*(int *)argument;
	last_heard = cpus;
	/* In it nothing more is told. */
	mal_word_lend(&mal.segment.cpus[0].word, 0);
	malleable_poll();
}

static void hear_once(int cpus, void *argument)
{
	(void)cpus;
	++*(int *)argument;
	malleable_on_change_remove(hear_once, argument);
}

static jmp_buf out;

static void hear_and_jump(int cpus, void *argument)
{
	(void)cpus;
	(void)argument;
	longjmp(out, 1);
}

/* Far below the frames that a jump left. */
__attribute__((noinline)) static int poll_deep(void)
{
	volatile char room[4096] = {0};

	return malleable_poll() + room[0];
}

/* One that goes takes nothing from the next, one that comes hears the number, and one may jump. */
static void listeners_come_and_go(void **state)
{
	static int once, always, late;

	(void)state;
	malleable_on_change(hear_once, &once);
	malleable_on_change(hear, &always);
	malleable_poll();
	assert_int_equal(once, 1);
	assert_int_equal(always, 1);
	malleable_poll();
	assert_int_equal(always, 2);
	malleable_on_change(hear_and_jump, NULL);
	if (setjmp(out) == 0)
		malleable_poll();
	malleable_on_change(hear, &late);
	poll_deep();
	assert_int_equal(once, 1);
	assert_int_equal(always, 2);
	assert_int_equal(late, 1);
	malleable_on_change_remove(hear, &always);
	malleable_on_change_remove(hear, &late);
	malleable_on_change_remove(hear_and_jump, NULL);
}

/* Those that the program named are told of a change once. */
static void hears_of_changes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(malleable_on_change(hear, &heard[i]), 0);
	assert_int_equal(malleable_on_change(hear, &heard[7]), 0);
	assert_int_equal(malleable_on_change(hear, &heard[8]), MALLEABLE_E_FULL);
	assert_int_equal(malleable_on_change(NULL, NULL), MALLEABLE_E_INVALID);
	assert_int_equal(malleable_poll(), 2);
	assert_int_equal(last_heard, 2);
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(heard[i], i < 8);
	assert_int_equal(malleable_on_change_remove(hear, &heard[0]), 0);
	malleable_phase();
	assert_int_equal(last_heard, 1);
	assert_int_equal(heard[0], 1);
	assert_int_equal(heard[7], 2);
	assert_int_equal(malleable_poll(), 1);
	assert_int_equal(heard[7], 2);
	mal.region_own.depth = 1;
	assert_int_equal(malleable_poll(), MALLEABLE_E_THREAD);
	mal.region_own.depth = 0;
	for (unsigned int i = 1; i < 8; i++)
		malleable_on_change_remove(hear, &heard[i]);
}

/* So many tests that take INSIDE ns, and the program BETWEEN ns before each. */
static void poll_often(unsigned int count, uint64_t between, uint64_t inside)
{
	for (unsigned int i = 0; i < count; i++) {
		turn_clock(between);
		ENTER_TEST;
		turn_clock(inside);
		mal_mpi_tested(false);
	}
}

/* A loop that does nothing but test is a wait, until something has come. */
static void loop_of_tests_is_a_wait(void **state)
{
	(void)state;
	test_often(2 * TESTS_FIRST, 100, 0);
	assert_true(mal_self.testing);
	assert_int_equal(waits_begun, 1);
	mal.lend_own.lending = true;
	test_often(4000, 100, 0);
	assert_true(polls > 1);
	assert_true(mal.watch.armed);
	mal_mpi_tested(true);
	assert_false(mal_self.testing);
	assert_int_equal(calls_ended, 1);
	assert_int_equal(mal.watch.armed, 0);
}

/* One that computes between tests is none; one that sleeps between them is. */
/* A program that sleeps for 10 ms between tests waits after a few. */
static void sleeping_tests_wait(void **state)
{
	(void)state;
	test_often(5, 10000 * US, 0);
	assert_true(mal_self.testing);
	assert_int_equal(waits_begun, 1);
	mal_mpi_tested(true);
	assert_int_equal(calls_ended, 1);
	/* And one that computes for so long does not. */
	test_often(100, 10000 * US, 10000);
	assert_false(mal_self.testing);
	assert_int_equal(waits_begun, 1);
}

static void tests_beside_work_are_no_wait(void **state)
{
	(void)state;
	test_often(4 * TESTS_FIRST, 50 * US, 50);
	assert_false(mal_self.testing);
	assert_int_equal(waits_begun, 0);
	mal_mpi_end_tests();
	test_often(4 * TESTS_FIRST, 50 * US, 0);
	assert_true(mal_self.testing);
	mal_mpi_end_tests();
}

/* Pieces of work may be as short as tests. Long ones are none if there are few. */
static void short_work_between_tests_counts(void **state)
{
	(void)state;
	poll_often(100 * TESTS_FIRST, 700, 100);
	assert_false(mal_self.testing);
	assert_int_equal(waits_begun, 0);
	mal_mpi_end_tests();
	for (unsigned int i = 0; i < 100; i++) {
		poll_often(1000, 100, 100);
		turn_clock(30 * US);
	}
	assert_true(mal_self.testing);
	assert_int_equal(waits_begun, 1);
	/* Work in a loop that waited. */
	poll_often(2000, 700, 100);
	assert_false(mal_self.testing);
	assert_int_equal(calls_ended, 1);
	/* A program that yields its CPU does not work. */
	for (unsigned int i = 0; i < 2000; i++) {
		poll_often(1, 10, 100);
		sched_yield();
	}
	assert_true(mal_self.testing);
	mal_mpi_end_tests();
}

/* Only the primary thread of a rank, outside its regions, waits in a loop of tests. */
static void tests_elsewhere_are_no_wait(void **state)
{
	(void)state;
	for (unsigned int where = 0; where < 3; where++) {
		mal_self.primary = where != 0;
		mal.active = where != 1;
		mal.region_own.depth = where == 2;
		test_often(8 * TESTS_FIRST, 100, 0);
		assert_false(mal_self.testing);
		assert_int_equal(waits_begun, 0);
	}
}

/* Calls that return at once belong to the loop. One that waits is a wait by itself. */
static void tests_and_calls(void **state)
{
	(void)state;
	mal_mpi_init(MAL_MPI_POLLS_YIELD);
	for (unsigned int i = 0; i < 20 * TESTS_FIRST; i++) {
		poll_often(1, 100, 100);
		turn_clock(250);
		mal_mpi_enter(false);
		mal_mpi_leave(false);
	}
	assert_true(mal_self.testing && mal_self.waiting);
	assert_int_equal(waits_begun, 1);
	assert_int_equal(calls_ended, waits_begun - 1 + calls_begun - 1);
	mal_mpi_enter(false);
	sched_yield();
	assert_false(mal_self.testing);
	assert_int_equal(waits_begun, 2);
	sched_yield();
	mal_mpi_leave(false);
	assert_false(mal_self.waiting);
	assert_int_equal(calls_ended, calls_begun);
	/* One left by a jump: what was lent comes back. */
	poll_often(20 * TESTS_FIRST, 10, 100);
	mal_mpi_enter(false);
	mal_mpi_end_tests();
	mal_mpi_unwound();
	assert_false(mal_self.waiting);
	assert_int_equal(calls_ended, calls_begun);
	/* Nobody sees whether it waits. */
	mal_mpi_init(MAL_MPI_POLLS_HIDDEN);
	poll_often(20 * TESTS_FIRST, 10, 100);
	assert_true(mal_self.testing);
	mal_mpi_enter(false);
	assert_false(mal_self.testing);
	mal_mpi_leave(false);
}

/* The helper saw the program compute: the wait is over at the next test. */
static void helper_ends_a_wait_of_tests(void **state)
{
	(void)state;
	test_often(2 * TESTS_FIRST, 100, 0);
	assert_true(mal_self.testing);
	is_abandoned = true;
	test_often(4000, 100, 0);
	assert_int_equal(calls_ended, 1);
	assert_false(is_abandoned);
	/* A collective call ends one too. */
	test_often(2000, 100, 0);
	assert_true(mal_self.testing);
	mal_mpi_enter(true);
	assert_false(mal_self.testing);
	mal_mpi_leave(false);
}

/* A rank of one CPU whose regions were classified. */
static void one_cpu(bool are_free)
{
	mal.home = (struct mal_cpumask){{1}};
	threads_set = procs_there = 1;
	all_free = are_free;
	mal.proofs_own.on = true;
}

/* Told 2 from the start, and always. */
static void two_are_reported_from_the_start(void **state)
{
	(void)state;
	one_cpu(true);
	assert_int_equal(omp_get_num_procs(), 2);
	assert_int_equal(omp_get_max_threads(), 2);
	assert_int_equal(mal.team.size, 1);
	assert_int_equal(threads_set, 1);
	assert_true(mal_team_is_free(&mal));
	mal_team_follow(&mal, 1);
	assert_int_equal(omp_get_max_threads(), 2);
	/* In a free region nothing is told, in another its size. */
	mal.region_own.depth = 1;
	mal.region_own.running = 1;
	mal_self.slot = thread_of(0, 0);
	mal.region_own.free = true;
	assert_true(mal_team_may_differ(&mal));
	assert_int_equal(omp_get_num_threads(), 1);
	assert_false(mal.proofs.reported_one);
	mal.region_own.free = false;
	assert_false(mal_team_may_differ(&mal));
	mal.region_own.running = 2;
	assert_int_equal(omp_get_num_threads(), 2);
	assert_true(mal_team_is_free(&mal));
	mal.region_own.depth = 0;
	/* The program chooses 1. */
	omp_set_num_threads(1);
	assert_int_equal(omp_get_max_threads(), 1);
	assert_false(mal_team_is_free(&mal));
}

/* What keeps its team: sums unless the user allows others, and what one thread may hide. */
static void what_may_change_bits_keeps_its_team(void **state)
{
	(void)state;
	one_cpu(true);
	mal.bits = MAL_BITS_KEEP;
	assert_int_equal(omp_get_max_threads(), 2);
	assert_true(mal.slot->differs & MAL_DIFFERS_ONE);
	assert_int_equal(mal.team.own, 1);
	assert_int_equal(mal.team.keeps, MAL_REGION_SUMS | MAL_REGION_ALONE);
	/* It sets what it was told: without us that were 1. */
	omp_set_num_threads(2);
	assert_int_equal(mal.team.own, 1);
	omp_set_num_threads(3);
	assert_int_equal(mal.team.own, 3);
	assert_int_equal(mal.team.keeps, MAL_REGION_SUMS);
	mal.team_own.base = 0;
	mal.bits = MAL_BITS_FREE;
	mal_team_open(&mal);
	assert_int_equal(mal.team.keeps, 0);
	/* In a region that keeps its team nothing is told. */
	mal.region_own.depth = mal.region_own.running = 1;
	mal_self.slot = thread_of(0, 0);
	mal.region_own.kept = true;
	assert_int_equal(omp_get_num_threads(), 1);
	assert_false(mal.proofs.reported_one);
}

/* Nobody asked: told 1 as without us, and no team grows. */
static void keeps_one_where_nobody_asked(void **state)
{
	(void)state;
	one_cpu(true);
	mal.bits = MAL_BITS_STRICT;
	assert_int_equal(omp_get_max_threads(), 1);
	assert_int_equal(omp_get_num_procs(), 1);
	assert_true(mal.proofs.reported_one);
	assert_false(mal.slot->differs);
	assert_int_equal(mal.slot->chosen, MAL_CHOSEN_BY_BITS);
	/* Several threads may differ. */
	mal.team_own.base = mal.team_own.reported_threads = 0;
	mal.proofs_own.reported_one = false;
	mal.home = (struct mal_cpumask){{3}};
	threads_set = procs_there = 2;
	assert_int_equal(omp_get_max_threads(), 2);
	assert_true(mal_team_is_free(&mal));
	assert_int_equal(mal.team.keeps, MAL_REGION_SUMS);
}

/* Where nothing is known of regions, all are kept if that was asked for. */
static void keeps_bits_of_unknown_regions(void **state)
{
	(void)state;
	for (mal.bits = MAL_BITS_UNSET; mal.bits <= MAL_BITS_FREE; mal.bits++) {
		mal.team_own.base = 0;
		mal.mode = MAL_MODE_AUTO;
		atomic_store(&mal.slot->reason, MAL_REASON_NONE);
		assert_int_equal(open_team(),
				 mal.bits == MAL_BITS_STRICT || mal.bits == MAL_BITS_KEEP
					 ? MAL_REASON_BITS
					 : MAL_REASON_NONE);
	}
}

/* The program runs in another thread than the first one that asked: it is told the same there. */
static void raises_in_another_thread(void **state)
{
	(void)state;
	one_cpu(true);
	assert_int_equal(omp_get_max_threads(), 2);
	/* Nobody would be told but the process's first. */
	mal_self.primary = mal_self.considered_primary = false;
	mal.team_own.base = 0;
	mal.primary_own.tid = 1;
	mal.team_own.schedule = mal.team_own.linger = 1;
	assert_int_equal(omp_get_max_threads(), 2);
	assert_true(mal_self.primary && mal.team.reported_two);
	assert_int_equal(mal.team.size, 1);
	assert_int_equal(mal.team.schedule + mal.team.linger, 0);
	/* One that has chosen another number keeps that. */
	threads_set = 5;
	mal.team_own.base = 0;
	assert_int_equal(omp_get_max_threads(), 5);
	assert_false(mal.team.reported_two);
}

/* Who only observes is told 1 as ever, and what is known is that it could be more. */
static void raises_not_the_observed(void **state)
{
	(void)state;
	one_cpu(true);
	mal.observe = true;
	assert_int_equal(omp_get_num_procs(), 1);
	assert_int_equal(omp_get_max_threads(), 1);
	assert_false(mal.proofs.reported_one);
	assert_true(mal_team_is_free(&mal));
	omp_set_num_threads(1);
	assert_true(mal.proofs.reported_one);
}

static void where_a_region_is_bound_one_is_reported(void **state)
{
	(void)state;
	/* A region is bound: told 1, and then no team differs. */
	one_cpu(false);
	mal_team_open(&mal);
	assert_true(mal_team_is_free(&mal));
	mal_team_follow(&mal, 4);
	assert_int_equal(omp_get_max_threads(), 1);
	assert_false(mal_team_is_free(&mal));
}

static void raises_not_what_was_chosen(void **state)
{
	(void)state;
	one_cpu(true);
	setenv(MAL_ENV_MAX_THREADS, "1", 1);
	assert_int_equal(omp_get_max_threads(), 1);
	assert_false(mal_team_is_free(&mal));
	assert_int_equal(mal.slot->chosen, MAL_CHOSEN_BY_KEY);
}

/* Scripts set the variable to the number of the rank's CPUs: that is no wish. */
static void variable_of_all_cpus(void **state)
{
	(void)state;
	one_cpu(true);
	setenv("OMP_NUM_THREADS", "1", 1);
	assert_int_equal(omp_get_max_threads(), 2);
	assert_true(mal_team_is_free(&mal));
	assert_int_equal(mal.slot->chosen, 0);
}

/* Another one is. */
static void variable_of_other_number(void **state)
{
	(void)state;
	setenv("OMP_NUM_THREADS", "1", 1);
	threads_set = 1;
	assert_int_equal(open_team(), MAL_REASON_NUMBER);
	assert_int_equal(mal.slot->chosen, MAL_CHOSEN_BY_VARIABLE);
}

/* A runtime that counted the CPUs of all ranks starts threads for this one's share alone. */
static void has_its_share(void **state)
{
	(void)state;
	threads_set = 4;
	mal.divided = true;
	assert_int_equal(open_team(), MAL_REASON_NONE);
	assert_int_equal(threads_set, 2);
	assert_int_equal(omp_get_max_threads(), 2);
	/* Nor for more than it would start, or for other than the user told it. */
	memset(&mal.team_own, 0, sizeof(mal.team));
	threads_set = 1;
	mal_team_open(&mal);
	assert_int_equal(threads_set, 1);
	memset(&mal.team_own, 0, sizeof(mal.team));
	setenv(MAL_ENV_MAX_THREADS, "6", 1);
	mal_team_open(&mal);
	assert_int_equal(threads_set, 6);
	unsetenv(MAL_ENV_MAX_THREADS);
	mal.mode = MAL_MODE_AUTO;
	/* But for the user who set a number. */
	memset(&mal.team_own, 0, sizeof(mal.team));
	threads_set = 4;
	setenv("OMP_NUM_THREADS", "4", 1);
	assert_int_equal(open_team(), MAL_REASON_NUMBER);
	assert_int_equal(threads_set, 4);
}

static void raises_not_above_limits(void **state)
{
	(void)state;
	one_cpu(true);
	limit_set = 1;
	assert_int_equal(omp_get_max_threads(), 1);
	assert_false(mal_team_is_free(&mal));
}

static void raises_not_without_room(void **state)
{
	(void)state;
	one_cpu(true);
	has_room = false;
	assert_int_equal(omp_get_max_threads(), 1);
	assert_false(mal_team_is_free(&mal));
}

/* Numbers of several CPUs are told as they are; names matter to regions that are bound. */
static void proofs_instead_of_names(void **state)
{
	(void)state;
	mal.proofs_own.on = true;
	changed = true;
	reason_of_objects = MAL_REASON_THREAD_DATA;
	assert_int_equal(omp_get_max_threads(), 2);
	assert_true(mal_team_is_free(&mal));
	assert_false(mal_team_may_differ(&mal));
	assert_int_equal(mal.slot->reason, MAL_REASON_THREAD_DATA);
	assert_int_equal(mal.mode, MAL_MODE_AUTO);
	mal.slot->count.region = 100;
	mal.region_own.free_ticks = 50;
	assert_int_equal(mal_team_max(&mal), 0);
	mal.region_own.free_ticks = 49;
	assert_int_equal(mal_team_max(&mal), 2);
	/* The user's words stand. */
	mal.mode = MAL_MODE_CPUSET;
	assert_false(mal_team_is_free(&mal));
}

/* Nothing is told inside a region of one thread but that; also a program that asks nothing. */
static void one_inside_is_no_answer(void **state)
{
	(void)state;
	mal.proofs_own.on = true;
	changed = true;
	mal_team_open(&mal);
	assert_false(mal_team_may_differ(&mal));
	mal.region_own.depth = 1;
	mal.region_own.running = 1;
	mal_self.slot = thread_of(0, 0);
	assert_int_equal(omp_get_num_threads(), 1);
	assert_false(mal.proofs.reported_one);
	mal.region_own.depth = 0;
	assert_true(mal_team_is_free(&mal));
	/* What the program is told stays, until it sets another number. */
	mal_team_follow(&mal, 4);
	assert_int_equal(omp_get_max_threads(), 2);
	omp_set_num_threads(3);
	mal_team_follow(&mal, 4);
	assert_int_equal(omp_get_max_threads(), 3);
	mal.region_own.free = true;
	assert_true(mal_team_may_differ(&mal));
	omp_set_num_threads(1);
	assert_false(mal_team_may_differ(&mal));
	/* Once it was 1, it may have left out what several need. */
	omp_set_num_threads(3);
	assert_false(mal_team_may_differ(&mal));
}

/* With max_threads a rank of one CPU is told that: free regions have a thread for each CPU. */
static void told_to_grow(void **state)
{
	(void)state;
	one_cpu(false);
	setenv(MAL_ENV_MAX_THREADS, "2", 1);
	assert_int_equal(omp_get_max_threads(), 2);
	assert_int_equal(mal.mode, MAL_MODE_AUTO);
	assert_int_equal(mal.slot->reason, MAL_REASON_REPORTED);
	assert_false(mal_team_may_differ(&mal));
	mal.region_own.free = true;
	assert_true(mal_team_may_differ(&mal));
	assert_false(mal.team.reported_two);
	/* 1 is the user's word too. */
	mal.team_own.base = mal.team_own.reported_threads = 0;
	threads_set = 1;
	mal.proofs_own.reported_one = false;
	all_free = true;
	setenv(MAL_ENV_MAX_THREADS, "1", 1);
	assert_int_equal(omp_get_max_threads(), 1);
	assert_false(mal_team_may_differ(&mal));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(team_follows_the_cpus),
		CASE(keeps_for_number),
		CASE(keeps_for_dynamic),
		CASE(keeps_for_reduction),
		CASE(keeps_for_display),
		CASE(what_may_change_bits_keeps_its_team),
		CASE(keeps_one_where_nobody_asked),
		CASE(keeps_bits_of_unknown_regions),
		CASE(keeps_where_loops_are_left),
		CASE(keeps_for_objects),
		CASE(user_and_system_limit_the_team),
		CASE(more_reported_threads_than_cpus),
		CASE(nonsense_variables_are_passed_over),
		CASE(linger_sets_the_blocktime),
		CASE(patience_of_the_program),
		CASE(schedule_is_set_and_given_back),
		CASE(who_asked_is_told_the_same),
		CASE(may_be_resized),
		CASE(places_of_the_user_bind_anew),
		CASE(too_short_for_more),
		CASE(inside_the_answer_is_what_there_is),
		CASE(program_sets_its_number),
		CASE(calls_nest),
		CASE(calls_in_regions_are_no_work),
		CASE(jumps_leave_the_call),
		CASE(phases_are_marked),
		CASE(asks_for_cpus),
		CASE(hears_of_changes),
		CASE(names_errors),
		CASE(bounds_its_balancing),
		CASE(named_regions_have_times),
		CASE(regions_begin_between),
		CASE(long_runs_are_looked_at),
		CASE(regions_have_names),
		CASE(waits_for_changes),
		CASE(listeners_come_and_go),
		CASE(loop_of_tests_is_a_wait),
		CASE(sleeping_tests_wait),
		CASE(tests_beside_work_are_no_wait),
		CASE(short_work_between_tests_counts),
		CASE(tests_elsewhere_are_no_wait),
		CASE(tests_and_calls),
		CASE(helper_ends_a_wait_of_tests),
		CASE(two_are_reported_from_the_start),
		CASE(raises_in_another_thread),
		CASE(where_a_region_is_bound_one_is_reported),
		CASE(raises_not_the_observed),
		CASE(raises_not_what_was_chosen),
		CASE(variable_of_all_cpus),
		CASE(variable_of_other_number),
		CASE(has_its_share),
		CASE(raises_not_above_limits),
		CASE(raises_not_without_room),
		CASE(proofs_instead_of_names),
		CASE(one_inside_is_no_answer),
		CASE(told_to_grow),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
