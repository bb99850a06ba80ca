/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * api.c: the public interface.
 *
 * Invariant: in a program that is no rank marks do nothing (t/unit/test_team.c: phases_are_marked).
 */
#include "libmalleable/malleable.h"

#include <errno.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/fpstate.h"
#include "libmalleable/core/changes.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/bounds.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/lock.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/listeners.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/named_regions.h"
#include "libmalleable/rank/offered.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/primary.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/wait_helper.h"

/* Whether the process is a rank, which the first call makes it. */
static bool is_rank(void)
{
	if (!mal.active)
		mal_attach();
	return mal.active;
}

/* What the program is told where its CPUs may have changed; what it has. */
static int tell_changes(void)
{
	int cpus = malleable_cpus();

	if (mal_listeners_any())
		mal_listeners_tell(cpus);
	return cpus;
}

void malleable_phase(void)
{
	if (!is_rank())
		return;
	if (!mal_self.considered_primary)
		mal_become_primary(&mal);
	if (mal_self.testing)
		mal_mpi_end_tests();
	mal_wait_helper_withdraw(&mal);
	if (!mal_self.primary)
		return;
	mal_phase_boundary(MAL_BOUNDARY_MARK);
	if (mal_listeners_any() && !mal.region.depth)
		tell_changes();
}

/* With an underscore at the end: called from Fortran. */
void omp_balanced(void) __attribute__((alias("malleable_phase")));
void malleable_phase_(void) __attribute__((alias("malleable_phase")));
void omp_balanced_(void) __attribute__((alias("malleable_phase")));

/*
 * The CPUs that the rank uses of those that it owns, or of others', behind the first COUNT of
 * CPUS[MAX]. Returns how many there are then.
 */
static int add_used(bool owned, int *cpus, int max, int count)
{
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++) {
		struct mal_cpu_state state = mal_word_read(&mal.segment.cpus[cpu].word);

		if (state.user != mal.me || (state.owner == mal.me) != owned)
			continue;
		if (count < max)
			cpus[count] = (int)cpu;
		count++;
	}
	return count;
}

int malleable_cpu_list(int *cpus, int max)
{
	return is_rank() ? add_used(false, cpus, max, add_used(true, cpus, max, 0)) : 0;
}

int malleable_cpus(void)
{
	return malleable_cpu_list(NULL, 0);
}

int malleable_cpus_owned(void)
{
	int count = 0;

	for (unsigned int cpu = 0; is_rank() && cpu < mal.segment.cpu_count; cpu++)
		count += mal_word_read(&mal.segment.cpus[cpu].word).owner == mal.me;
	return count;
}

unsigned int malleable_changes(void)
{
	if (!is_rank())
		return 0;
	/* Others count what they change, and the rank the plans that it has carried out. */
	return atomic_load_explicit(&mal.slot->changes, memory_order_relaxed);
}

/* A sleep ends at least so often: at the end of the step nobody wakes it. */
#define SLEEP_MAX_NS UINT64_C(1000000000)

/* Whether the CPUs have changed since SEEN; false also where nothing can change any more. */
static bool await_change(const struct mal_rank *rank, unsigned int seen, int timeout_ms)
{
	uint64_t begin = mal_clock_ns(CLOCK_MONOTONIC), now = begin, left = SLEEP_MAX_NS;

	while (rank->active && atomic_load(&rank->slot->changes) == seen &&
	       !atomic_load_explicit(&rank->segment.header->over, memory_order_relaxed)) {
		if (timeout_ms >= 0)
			left = (uint64_t)timeout_ms * 1000000u - (now - begin);
		if (timeout_ms >= 0 && now - begin >= (uint64_t)timeout_ms * 1000000u)
			return false;
		mal_changes_sleep(rank->slot, seen, left < SLEEP_MAX_NS ? left : SLEEP_MAX_NS);
		now = mal_clock_ns(CLOCK_MONOTONIC);
	}
	return atomic_load(&rank->slot->changes) != seen;
}

int malleable_await_change(unsigned int seen, int timeout_ms)
{
	int saved = errno, changed;

	if (!is_rank())
		return 0;
	changed = await_change(&mal, seen, timeout_ms);
	errno = saved;
	return changed;
}

/* What calls must leave as it was. */
struct kept {
	struct mal_fpstate state;
	int error;
};

static struct kept keep(void)
{
	return (struct kept){mal_fpstate_save(), errno};
}

static int restore(struct kept kept, int result)
{
	mal_fpstate_restore(&kept.state);
	errno = kept.error;
	return result;
}

/*
 * Whether the calling thread is the primary one. The process's first thread is by that; others
 * become it by regions and MPI alone, so that one beside the program takes nothing from it.
 */
static bool is_primary(void)
{
	if (!mal_self.considered_primary && !mal_self.beside) {
		int saved = errno;

		mal_self.beside = mal_own_tid() != getpid();
		if (!mal_self.beside)
			mal_become_primary(&mal);
		errno = saved;
	}
	return mal_self.primary;
}

/* Whether the calling thread is the primary one, outside regions and MPI. */
static bool is_serial(void)
{
	return is_primary() && !mal.region.depth && (!mal_self.mpi_depth || mal_self.declared);
}

/* Whether the calling thread may not wait or borrow here: it is in a region, or a call of MPI. */
static bool is_inside(void)
{
	bool primary = is_primary();

	return (mal.region.depth && (primary || mal_self.slot)) ||
	       (mal_self.mpi_depth && !mal_self.declared);
}

/* Apart, as those below: short waits save no register. */
__attribute__((noinline)) static int begin_wait(int how)
{
	int saved = errno, offered;

	if (!is_rank())
		return 0;
	if (how != MALLEABLE_WAIT_BLOCKS && how != MALLEABLE_WAIT_POLLS)
		return MALLEABLE_E_INVALID;
	if (is_inside())
		return MALLEABLE_E_THREAD;
	offered = mal_offer_begin(&mal, how == MALLEABLE_WAIT_BLOCKS);
	errno = saved;
	return offered;
}

int malleable_waiting_begin(int how)
{
	bool blocks = how == MALLEABLE_WAIT_BLOCKS;

	if (mal.active && (blocks || how == MALLEABLE_WAIT_POLLS) &&
	    mal_offer_begin_short(&mal, blocks))
		return mal_offer_count(&mal, blocks);
	return begin_wait(how);
}

__attribute__((noinline)) static int end_wait(void)
{
	int saved = errno;

	if (!mal.active)
		return 0;
	if (is_inside())
		return MALLEABLE_E_THREAD;
	if (!mal_offer_end())
		return MALLEABLE_E_NESTING;
	errno = saved;
	if (!mal_self.declared && mal_self.primary && mal_listeners_any())
		tell_changes();
	return 0;
}

int malleable_waiting_end(void)
{
	return mal.active && mal_offer_end_short(&mal) ? 0 : end_wait();
}

/* Before the rank borrows or returns: why it may not, or 0. */
static int prepare_to_borrow(int cpus)
{
	if (cpus < 0)
		return MALLEABLE_E_INVALID;
	if (mal.ompt.on)
		return MALLEABLE_E_REFUSED;
	if (is_inside() || mal_self.declared)
		return MALLEABLE_E_THREAD;
	mal_unmanaged_wish(&mal, (unsigned int)cpus);
	mal_cpus_refresh(&mal);
	return 0;
}

static void borrow(struct mal_rank *rank, unsigned int max)
{
	unsigned int have = rank->cpus.owned_count + rank->cpus.borrowed_count;

	max = mal_cpus_to_use(rank, max);
	if (max > have && rank->cpus.owned_count && mal_rule(rank, MAL_RULE_LEND) &&
	    atomic_load_explicit(&rank->segment.header->free_cpus, memory_order_relaxed) &&
	    mal_cpus_borrow(rank, max - have))
		mal_bind_other_threads(rank);
}

static void give_back(struct mal_rank *rank, unsigned int keep)
{
	unsigned int owned = rank->cpus.owned_count;

	mal_cpus_release_beyond(rank, keep > owned ? keep - owned : 0);
}

/* Have the rank use CPUS by CHANGE. */
static int use(int cpus, void (*change)(struct mal_rank *rank, unsigned int cpus))
{
	struct kept kept = keep();
	bool locked;
	int result;

	if (mal_self.testing)
		mal_mpi_end_tests();
	locked = mal_cpus_lock(&mal);
	result = prepare_to_borrow(cpus);
	if (!result)
		change(&mal, (unsigned int)cpus);
	mal_cpus_unlock(&mal, locked);
	if (restore(kept, result))
		return result;
	return mal_self.primary ? tell_changes() : malleable_cpus();
}

int malleable_borrow(int most)
{
	return is_rank() ? use(most, borrow) : 0;
}

int malleable_return(int keep)
{
	return mal.active ? use(keep, give_back) : 0;
}

int malleable_limit(int most)
{
	struct kept kept;

	if (!is_rank())
		return 0;
	if (most < 0)
		return MALLEABLE_E_INVALID;
	if (!is_serial())
		return MALLEABLE_E_THREAD;
	kept = keep();
	mal_bounds_limit(&mal, (unsigned int)most);
	restore(kept, 0);
	return tell_changes();
}

int malleable_disable(void)
{
	struct kept kept;

	if (!is_rank())
		return 0;
	if (!is_serial() || mal_self.declared)
		return MALLEABLE_E_THREAD;
	kept = keep();
	mal_bounds_disable(&mal);
	return restore(kept, 0);
}

int malleable_enable(void)
{
	struct kept kept;

	if (!mal.active)
		return 0;
	if (!is_serial() || mal_self.declared)
		return MALLEABLE_E_THREAD;
	kept = keep();
	return restore(kept, mal_bounds_enable(&mal) ? 0 : MALLEABLE_E_NESTING);
}

/* Whether a named region may begin or end here: what was counted so far is of this side. */
static bool is_between(void)
{
	if (!is_serial() || mal_self.mpi_depth)
		return false;
	if (mal_self.testing)
		mal_mpi_end_tests();
	return true;
}

int malleable_region(const char *name)
{
	struct kept kept;

	if (!is_rank())
		return 0;
	if (!is_serial())
		return MALLEABLE_E_THREAD;
	kept = keep();
	return restore(kept, mal_named_find(&mal, name));
}

/* What the rank waited outside MPI so far is of this side, too. */
__attribute__((noinline)) static void look_outside(void)
{
	struct kept kept = keep();

	mal_phase_look_outside(&mal);
	restore(kept, 0);
}

int malleable_region_begin(int region)
{
	if (!is_rank())
		return 0;
	if (!is_between())
		return MALLEABLE_E_THREAD;
	if (mal_named_looks(region, true))
		look_outside();
	return mal_named_begin(&mal, region);
}

int malleable_region_end(int region)
{
	if (!mal.active)
		return 0;
	if (!is_between())
		return MALLEABLE_E_THREAD;
	if (mal_named_looks(region, false))
		look_outside();
	return mal_named_end(&mal, region);
}

int malleable_region_times(int region, struct malleable_times *times)
{
	struct kept kept;

	if (!is_rank())
		return 0;
	if (!is_between())
		return MALLEABLE_E_THREAD;
	kept = keep();
	return restore(kept, mal_named_times(&mal, region, times));
}

int malleable_state(void)
{
	if (!is_rank())
		return 0;
	if (mal.bounds.disabled)
		return MALLEABLE_RANK | MALLEABLE_DISABLED;
	if (mal.observe || !mal_rule(&mal, MAL_RULE_BIND))
		return MALLEABLE_RANK | MALLEABLE_OBSERVED;
	return MALLEABLE_RANK | MALLEABLE_MOVES |
	       (mal_rule(&mal, MAL_RULE_LEND) ? MALLEABLE_LENDS : 0);
}

int malleable_on_change(malleable_change_function *function, void *argument)
{
	if (!is_rank())
		return 0;
	if (!function)
		return MALLEABLE_E_INVALID;
	if (!is_serial())
		return MALLEABLE_E_THREAD;
	/* From now on the end of each wait tells. */
	mal_offer_time_next(&mal);
	return mal_listeners_add(function, argument) ? 0 : MALLEABLE_E_FULL;
}

int malleable_on_change_remove(malleable_change_function *function, void *argument)
{
	if (!mal.active)
		return 0;
	if (!is_serial())
		return MALLEABLE_E_THREAD;
	mal_listeners_remove(function, argument);
	return 0;
}

int malleable_poll(void)
{
	if (!is_rank())
		return 0;
	return is_serial() ? tell_changes() : MALLEABLE_E_THREAD;
}
