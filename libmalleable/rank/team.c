/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * team.c: the OpenMP team's size, and what the program has been told about it.
 *
 * Invariant: what the program was told of its threads stays true (t/unit/test_team.c:
 * who_asked_is_told_the_same; t/t2008-identity.t, t/t2003-run.t).
 */
#include "libmalleable/rank/team.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libmalleable/base/number.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/prover/prove.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/length.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/objects.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/region_table.h"
#include "libmalleable/rank/state/rank.h"

/* Of omp_sched_t. */
#define OMP_SCHED_STATIC 1
#define OMP_SCHED_GUIDED 3

/* Above any runtime's limit. */
#define NO_LIMIT 0x10000u
/*
 * Threads that must remain available when the team grows: for other ranks that grow too, and for
 * the program.
 */
#define SPARE_THREADS 16

/* Keep the team's size from now on, unless the user chose otherwise. */
static void keep_size(struct mal_rank *rank, enum mal_mode_reason reason)
{
	if (rank->mode != MAL_MODE_AUTO)
		return;
	rank->mode = MAL_MODE_CPUSET;
	atomic_store(&rank->slot->reason, reason);
}

/* LLVM's runtime accepts these words as "no"; anything else may mean "yes". */
static bool is_asked_for(const char *variable)
{
	static const char *const no[] = {"",   "0", "false", ".false.",	 ".f.", "f",
					 "no", "n", "off",   "disabled", NULL};
	const char *value = getenv(variable);

	for (int i = 0; value && no[i]; i++)
		if (strcasecmp(value, no[i]) == 0)
			return false;
	return value != NULL;
}

/* The runtime prints each thread, and all of them again whenever a team has another size. */
static bool threads_are_printed(void)
{
	const char *affinity = getenv("KMP_AFFINITY");

	return is_asked_for("OMP_DISPLAY_AFFINITY") ||
	       (affinity && strcasestr(affinity, "verbose") && !strcasestr(affinity, "noverbose"));
}

static bool keeps_bits(const struct mal_rank *rank)
{
	return rank->bits == MAL_BITS_STRICT || rank->bits == MAL_BITS_KEEP;
}

static void look_at_objects(struct mal_rank *rank)
{
	enum mal_mode_reason reason;

	if (rank->mode != MAL_MODE_AUTO || !mal_objects_changed())
		return;
	reason = mal_objects_keep_size();
	/* libomp 19.1.7 aborts where a team of several threads leaves a dynamic loop early. */
	if (reason == MAL_REASON_CANCELS && !is_asked_for("OMP_CANCELLATION"))
		reason = MAL_REASON_NONE;
	if (reason == MAL_REASON_NONE)
		return;
	/* It holds for the regions that are bound. */
	if (rank->proofs.on)
		atomic_store(&rank->slot->reason, reason);
	else
		keep_size(rank, reason);
}

static void choose_mode(struct mal_rank *rank)
{
	const struct mal_runtime *runtime = rank->team.managed;

	/*
	 * A number of threads that differs from the number of CPUs was chosen on purpose. One that
	 * the program is told so that it can grow matters to bound regions alone.
	 */
	if (rank->team.base != mal_cpumask_count(&rank->home) &&
	    !(rank->team.reported_more && rank->proofs.on))
		keep_size(rank, MAL_REASON_NUMBER);
	else if (runtime->get_dynamic && runtime->get_dynamic())
		keep_size(rank, MAL_REASON_DYNAMIC);
	else if (is_asked_for("KMP_DETERMINISTIC_REDUCTION"))
		keep_size(rank, MAL_REASON_REDUCTION);
	else if (threads_are_printed())
		keep_size(rank, MAL_REASON_DISPLAY);
	else if (!rank->proofs.on && keeps_bits(rank))
		keep_size(rank, MAL_REASON_BITS);
	look_at_objects(rank);
}

/* The user's limit: beyond it the runtime gives no more threads, or only with a warning. */
static unsigned int get_limit(const struct mal_rank *rank)
{
	const struct mal_runtime *runtime = rank->team.managed;
	int limit = runtime->get_thread_limit ? runtime->get_thread_limit() : 0;

	if (rank->team.all_limited)
		return rank->team.base;
	if (limit <= 0 || (unsigned int)limit >= NO_LIMIT)
		return NO_LIMIT;
	/* The limit includes threads of nested regions. */
	if (runtime->get_max_active_levels && runtime->get_max_active_levels() > 1)
		return rank->team.base;
	return (unsigned int)limit > rank->team.base ? (unsigned int)limit : rank->team.base;
}

/* Whether the system has room for a team of so many. Where it has not, libomp ends the program. */
static bool system_has_room(const struct mal_rank *rank, unsigned int threads)
{
	const struct mal_runtime *runtime = rank->team.managed;

	return mal_threads_have_room(rank, threads, SPARE_THREADS,
				     runtime->get_stack_size ? runtime->get_stack_size() : 0);
}

/*
 * A program that is told 1 thread may leave out what several need. With one CPU tell it 2, where no
 * region is bound and the user left the number to us.
 */
static void raise_base(struct mal_rank *rank, bool chosen)
{
	bool reported_two = rank->team.reported_two; /* while another thread was the primary one */

	rank->team_own.reported_two = false;
	if (!rank->proofs.on || rank->mode != MAL_MODE_AUTO || rank->team.base != 1)
		return;
	if (rank->bits == MAL_BITS_STRICT) {
		atomic_fetch_or(&rank->slot->chosen, MAL_CHOSEN_BY_BITS);
		chosen = true;
	}
	if (!chosen && (reported_two || !atomic_load(&rank->team.reported_threads)) &&
	    !rank->proofs.reported_one && rank->team.managed->set_num_threads &&
	    get_limit(rank) >= 2 && mal_prove_all_free() && system_has_room(rank, 2)) {
		/* Who only observes changes nothing, but tells what balancing could do. */
		if (!rank->observe)
			rank->team_own.base = 2;
		rank->team_own.reported_two = true;
	} else if (chosen) {
		mal_prove_reported_one();
	}
}

/* Which regions that cannot tell have the program's own team all the same, and what it is. */
static void learn_own(struct mal_rank *rank)
{
	rank->team_own.own = rank->team.reported_more ? rank->team.base : rank->team.unbalanced;
	rank->team_own.keeps =
		(uint8_t)((keeps_bits(rank) ? (unsigned int)MAL_REGION_SUMS : 0u) |
			  (rank->team.own == 1 ? (unsigned int)MAL_REGION_ALONE : 0u));
}

/*
 * Who chose the number of threads, bits of enum mal_chosen. Scripts set OMP_NUM_THREADS to the
 * rank's number of CPUs, which is what the runtime takes without it.
 */
static unsigned int who_chose(const struct mal_rank *rank, const char *numbers)
{
	if (rank->team.reported_more)
		return MAL_CHOSEN_BY_KEY;
	return numbers && rank->team.base != mal_cpumask_count(&rank->home) ? MAL_CHOSEN_BY_VARIABLE
									    : 0;
}

/*
 * The launcher bound no rank, and the step's CPUs were divided: a runtime that counted them before
 * would start as many threads as all ranks have together.
 */
static void take_share(struct mal_rank *rank)
{
	unsigned int share = mal_cpumask_count(&rank->home);

	if (rank->team.base <= share || rank->team.reported_more ||
	    !rank->team.managed->set_num_threads)
		return;
	rank->team_own.base = rank->team_own.unbalanced = share;
	rank->team.managed->set_num_threads((int)share);
}

/* Where the user wants the calling thread, which the runtime knows. */
static bool find_place(const struct mal_rank *rank, struct mal_cpumask *mask)
{
	const struct mal_runtime *runtime = rank->team.managed;
	int ids[MAL_MAX_CPUS / 4], place, count;

	place = runtime->get_place_num ? runtime->get_place_num() : -1;
	count = place >= 0 && runtime->get_place_num_procs ? runtime->get_place_num_procs(place)
							   : 0;
	if (count <= 0 || count > MAL_MAX_CPUS / 4 || !runtime->get_place_proc_ids)
		return false;
	*mask = (struct mal_cpumask){{0}};
	runtime->get_place_proc_ids(place, ids);
	for (int i = 0; i < count; i++)
		if (ids[i] >= 0)
			mal_cpumask_add(mask, (unsigned int)ids[i]);
	mal_cpumask_intersect(mask, &rank->home);
	return mal_cpumask_count(mask) > 0;
}

void mal_team_open(struct mal_rank *rank)
{
	const struct mal_runtime *runtime;
	const char *numbers;
	unsigned int told, chosen;
	int threads;

	if (rank->team.base)
		return;
	runtime = mal_runtime_managed();
	numbers = getenv("OMP_NUM_THREADS");
	rank->team_own.managed = runtime;
	threads = runtime->get_max_threads ? runtime->get_max_threads() : 1;
	rank->team_own.base = rank->team_own.unbalanced = threads > 0 ? (unsigned int)threads : 1;
	rank->team_own.all_limited = getenv("KMP_DEVICE_THREAD_LIMIT") || getenv("KMP_ALL_THREADS");
	if (runtime->set_num_threads &&
	    mal_number_parse(getenv(MAL_ENV_MAX_THREADS), 1, NO_LIMIT, &told)) {
		unsigned int limit = get_limit(rank);

		rank->team_own.base = told < limit ? told : limit;
		runtime->set_num_threads((int)rank->team.base);
		rank->team_own.reported_more = true;
	}
	if (rank->divided && !numbers)
		take_share(rank);
	chosen = who_chose(rank, numbers);
	atomic_store(&rank->slot->chosen, chosen);
	rank->team_own.size = rank->team.base;
	rank->team_own.linger = MAL_LINGER_USUAL;
	rank->team_own.schedule = 0;
	rank->team_own.mimic_primary_fp = rank->team.base == 1 && mal_gomp_original(runtime);
	choose_mode(rank);
	raise_base(rank, chosen);
	learn_own(rank);
	rank->team_own.levels_differ = numbers && strchr(numbers, ',');
	rank->team_own.rebinds = getenv("OMP_PROC_BIND") || getenv("OMP_PLACES") ||
				 getenv("KMP_AFFINITY") || getenv("GOMP_CPU_AFFINITY");
	rank->team_own.place = rank->team.rebinds ? find_place : NULL;
	rank->team_own.block_fixed |=
		getenv("KMP_BLOCKTIME") || getenv("OMP_WAIT_POLICY") || !runtime->set_blocktime;
	rank->team_own.schedule_fixed |= getenv("OMP_SCHEDULE") != NULL;
	rank->team_own.usual_kind = OMP_SCHED_STATIC;
	/* It ends programs whose OMP_SCHEDULE names a kind of LLVM's own. */
	if (runtime->get_schedule && !rank->team.schedule_fixed)
		runtime->get_schedule(&rank->team_own.usual_kind, &rank->team_own.usual_chunk);
	rank->team_own.usual_blocktime = runtime->get_blocktime ? runtime->get_blocktime() : 200;
}

void mal_team_look(struct mal_rank *rank)
{
	unsigned int asked = atomic_load_explicit(&rank->team.asked_inside, memory_order_relaxed);

	look_at_objects(rank);
	if (asked <= rank->team.base)
		return;
	rank->team_own.base = asked;
	rank->team_own.reported_more = true;
	learn_own(rank);
}

unsigned int mal_team_clamp(struct mal_rank *rank, unsigned int threads)
{
	unsigned int limit;

	if (threads <= rank->team.base)
		return threads;
	limit = get_limit(rank);
	if (threads > limit)
		threads = limit;
	if (rank->team.room < rank->team.base)
		rank->team_own.room = rank->team.base;
	if (threads <= rank->team.room)
		return threads;
	if (rank->team.no_room || !system_has_room(rank, threads)) {
		rank->team_own.no_room = true;
		keep_size(rank, MAL_REASON_SYSTEM);
		return rank->team.room;
	}
	rank->team_own.room = threads;
	return threads;
}

bool mal_team_hides_size(void)
{
	return !mal.team.levels_differ && mal.team.managed->set_num_threads;
}

void mal_team_hide_size(void)
{
	mal.team.managed->set_num_threads((int)mal.team.base);
}

void mal_team_keep_dynamic(struct mal_rank *rank)
{
	mal_team_open(rank);
	keep_size(rank, MAL_REASON_DYNAMIC);
}

void mal_team_keep_schedule(struct mal_rank *rank)
{
	rank->team_own.schedule_fixed = true;
}

void mal_team_keep_blocktime(struct mal_rank *rank)
{
	rank->team_own.block_fixed = true;
}

void mal_team_chosen(struct mal_rank *rank, unsigned int threads)
{
	mal_team_open(rank);
	/* As many as it has because of us it may have chosen because it was told so. */
	if (threads > rank->team.base || threads < rank->team.unbalanced)
		rank->team_own.unbalanced = threads;
	rank->team_own.base = threads;
	rank->team_own.size = threads;
	rank->team_own.reported_two = false;
	learn_own(rank);
	atomic_store(&rank->team_own.asked_inside, 0);
	mal_team_report(rank, (int)threads);
}

int mal_team_report(struct mal_rank *rank, int threads)
{
	unsigned int told =
		atomic_load_explicit(&rank->team.reported_threads, memory_order_relaxed);

	/* A region of one thread because of its if clause says nothing of others. */
	if (threads == 1 && rank->team.base <= 1 && !rank->team.reported_two)
		mal_prove_reported_one();
	if (threads > 1 && rank->team.reported_two)
		atomic_fetch_or(&rank->slot->differs, MAL_DIFFERS_ONE);
	if (threads > 0 && (unsigned int)threads > told) {
		uint32_t reason = MAL_REASON_NONE;

		atomic_store(&rank->team_own.reported_threads, (uint32_t)threads);
		atomic_store(&rank->slot->reported, (uint32_t)threads);
		if (rank->mode == MAL_MODE_AUTO)
			atomic_compare_exchange_strong(&rank->slot->reason, &reason,
						       MAL_REASON_REPORTED);
	}
	return threads;
}

int mal_team_report_inside(struct mal_rank *rank, int threads)
{
	/* It was proved that nothing comes of it. */
	if (mal_self.slot && (rank->region.free || rank->region.kept))
		return threads;
	/*
	 * The answer must stay true: later regions are at least as large as this one. But the user
	 * may have said that it need not.
	 */
	if (mal_self.slot && rank->region.widened && rank->mode != MAL_MODE_TEAM) {
		atomic_store(&rank->team_own.asked_inside, rank->region.running);
		threads = threads > (int)rank->region.running ? threads : (int)rank->region.running;
	}
	return mal_team_report(rank, threads);
}

/* A plan may come before the first region, where the team is opened. */
static bool can_resize(const struct mal_rank *rank)
{
	return rank->team.managed && rank->team.managed->set_num_threads;
}

bool mal_team_is_free(const struct mal_rank *rank)
{
	if (rank->proofs.on)
		return rank->mode == MAL_MODE_AUTO && can_resize(rank) &&
		       !atomic_load_explicit(&rank->proofs.reported_one, memory_order_relaxed);
	if (rank->mode == MAL_MODE_TEAM)
		return can_resize(rank);
	return rank->mode != MAL_MODE_CPUSET &&
	       !atomic_load_explicit(&rank->team.reported_threads, memory_order_relaxed) &&
	       can_resize(rank);
}

bool mal_team_may_differ(const struct mal_rank *rank)
{
	return mal_team_is_free(rank) && (!rank->proofs.on || rank->region.free);
}

bool mal_team_is_mostly_free(const struct mal_rank *rank)
{
	return rank->proofs.on && mal_team_is_free(rank) &&
	       2 * rank->region.free_ticks >= atomic_load(&rank->slot->count.region);
}

static unsigned int max_threads(const struct mal_rank *rank)
{
	unsigned int told =
		atomic_load_explicit(&rank->team.reported_threads, memory_order_relaxed);

	if (rank->mode == MAL_MODE_TEAM || mal_team_is_mostly_free(rank))
		told = 0;
	else if (rank->proofs.on)
		told = rank->team.own;
	if (rank->team.no_room && !told)
		return rank->team.room;
	return rank->mode == MAL_MODE_CPUSET && rank->team.base > told ? rank->team.base : told;
}

unsigned int mal_team_max(const struct mal_rank *rank)
{
	unsigned int max = max_threads(rank), home = mal_cpumask_count(&rank->home);

	/* What it was told may be more. */
	if (home < rank->team.base)
		home = rank->team.base;
	if (!rank->slot->count.regions || !mal_length_is_mostly_short())
		return max;
	return max && max < home ? max : home;
}

void mal_team_set(struct mal_rank *rank, unsigned int threads)
{
	if (threads == rank->team.size || !can_resize(rank))
		return;
	rank->team.managed->set_num_threads((int)threads);
	rank->team_own.size = threads;
	if (rank->team.rebinds)
		mal_bind_forget(rank);
}

void mal_team_follow(struct mal_rank *rank, unsigned int cpus)
{
	/*
	 * A plan may come before the first region, where the team is opened: it has no size until
	 * then.
	 */
	if (!rank->team.base || !cpus || rank->mode == MAL_MODE_CPUSET || rank->proofs.on ||
	    (atomic_load(&rank->team.reported_threads) && rank->mode != MAL_MODE_TEAM))
		return;
	cpus = mal_team_clamp(rank, cpus);
	rank->team_own.base = cpus;
	mal_team_set(rank, cpus);
}

bool mal_team_set_linger(struct mal_rank *rank, enum mal_linger linger)
{
	if (linger == rank->team.linger || rank->team.block_fixed)
		return false;
	rank->team.managed->set_blocktime(linger == MAL_LINGER_USUAL ? rank->team.usual_blocktime
								     : linger == MAL_LINGER_SHORT);
	rank->team_own.linger = linger;
	return true;
}

int mal_team_report_blocktime(const struct mal_rank *rank, int ms)
{
	bool ours = rank->team.linger != MAL_LINGER_USUAL && !rank->team.block_fixed &&
		    ms == (rank->team.linger == MAL_LINGER_SHORT);

	return ours ? rank->team.usual_blocktime : ms;
}

void mal_team_set_schedule(struct mal_rank *rank, uint32_t schedule)
{
	const struct mal_runtime *runtime = rank->team.managed;
	uint32_t kind = schedule & 0xffff;

	if (schedule == rank->team.schedule || rank->team.schedule_fixed || !runtime->set_schedule)
		return;
	/* libomp aborts on kinds other than omp_sched_static, dynamic and guided. */
	if (kind > OMP_SCHED_GUIDED)
		return;
	if (kind)
		runtime->set_schedule((int)kind, (int)(schedule >> 16));
	else
		runtime->set_schedule(rank->team.usual_kind, rank->team.usual_chunk);
	rank->team_own.schedule = schedule;
}
