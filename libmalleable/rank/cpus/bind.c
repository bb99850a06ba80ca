/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bind.c: bind threads: those of a team to a CPU of their rank each, all others to all of its CPUs.
 *
 * Invariant: no thread keeps a CPU that was taken from its rank while it was bound
 * (t/unit/test_protocol.c: late_mask).
 */
#include "libmalleable/rank/cpus/bind.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/fpstate.h"
#include "libmalleable/core/changes.h"
#include "libmalleable/core/place.h"
#include "libmalleable/rank/cpus/lanes.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/state/rank.h"

/* The CPUs of rank NUMBER, of some kind; bind some threads of it to MASK, and return how many. */
typedef struct mal_cpumask cpus_function(const struct mal_rank *rank, unsigned int number);
typedef unsigned int bind_function(const struct mal_rank *rank, unsigned int number,
				   const struct mal_cpumask *mask);

/* Retries of binding a process whose CPUs changed meanwhile: only a hostile rank causes many. */
#define BIND_TRIES 64

/* A thread's place. Neighbours share a CPU, so that they share data there too. */
static uint32_t place_of(const struct mal_rank *rank, unsigned int thread, unsigned int team,
			 unsigned int cpus)
{
	unsigned int at = team > cpus ? (unsigned int)((uint64_t)thread * cpus / team) : thread;

	return at < rank->cpus.owned_count ? rank->cpus.owned[at]
					   : rank->cpus.borrowed[at - rank->cpus.owned_count];
}

/* The place that a thread returns to: one of the rank's own CPUs. */
static uint32_t home_of(const struct mal_rank *rank, unsigned int thread, unsigned int team)
{
	unsigned int at = team > rank->cpus.owned_count
				  ? (unsigned int)((uint64_t)thread * rank->cpus.owned_count / team)
				  : thread;

	return rank->cpus.owned[at];
}

static struct mal_placing placing_of(const struct mal_rank *rank, unsigned int number, bool lent)
{
	return (struct mal_placing){&rank->segment, &rank->allocation, number, lent};
}

/*
 * Whether rank NUMBER uses CPU, or was just given it and may start at once. This and the next two
 * are not inlined, so that their callers cost no more where nothing has changed.
 */
__attribute__((noinline)) static bool is_used_by(const struct mal_rank *rank, uint32_t cpu,
						 unsigned int number)
{
	const struct mal_placing placing = placing_of(rank, number, false);

	return mal_place_is_allowed(&placing, cpu);
}

/*
 * A CPU that rank NUMBER uses: HOME, or else any; if it has lent all of its own while it waits, one
 * of these; MAL_NO_CPU: none.
 */
__attribute__((noinline)) static uint32_t refuge(const struct mal_rank *rank, unsigned int number,
						 uint32_t home)
{
	const struct mal_placing placing = placing_of(rank, number, true);

	return mal_place_refuge(&placing, home);
}

/*
 * Bind the thread of rank NUMBER in SLOT to its place. The controller waits until BINDING is 0
 * after taking CPUs away.
 */
__attribute__((noinline)) static void bind_to(const struct mal_rank *rank, unsigned int number,
					      struct mal_thread_slot *slot)
{
	const struct mal_placing placing = placing_of(rank, number, true);

	atomic_fetch_add(&rank->slot->binding, 1);
	mal_place_bind(&placing, slot);
	atomic_fetch_sub(&rank->slot->binding, 1);
}

void mal_bind_self(const struct mal_rank *rank, struct mal_thread_slot *slot)
{
	uint32_t cpu = atomic_load_explicit(&slot->cpu, memory_order_acquire);

	if (!rank->observe && cpu < rank->segment.cpu_count)
		bind_to(rank, rank->me, slot);
}

/* A runtime counts with its first region or question about threads, not as it starts. */
__attribute__((noinline)) static void let_count(struct mal_rank *rank, int (*count)(void))
{
	struct mal_fpstate saved = mal_fpstate_save();

	mal_bind_release(rank);
	count();
	mal_fpstate_restore(&saved);
}

bool mal_bind_team(struct mal_rank *rank, unsigned int team)
{
	unsigned int cpus = rank->cpus.owned_count + rank->cpus.borrowed_count;
	int (*count)(void);

	if (rank->observe || !rank->cpus.owned_count || !mal_rule(rank, MAL_RULE_BIND))
		return false;
	if (team > rank->segment.thread_count)
		team = rank->segment.thread_count;
	if (team == rank->placed.team && cpus == rank->placed.cpus && !rank->placed.outdated)
		return false;
	rank->placed_own.team = team;
	rank->placed_own.cpus = cpus;
	count = atomic_exchange(&rank->placed_own.count, NULL);
	if (count)
		let_count(rank, count);
	rank->placed_own.outdated = false;
	/*
	 * Whoever takes a CPU back looks at as many threads as we say that the team has. We have
	 * said it before we look at the words.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned int i = 0; i < team; i++) {
		struct mal_thread_slot *slot = &rank->threads[i];
		uint32_t cpu = place_of(rank, i, team, cpus);

		if (atomic_load_explicit(&slot->cpu, memory_order_relaxed) != cpu)
			mal_lanes_thread(rank, i);
		atomic_store_explicit(&slot->home, home_of(rank, i, team), memory_order_relaxed);
		if (atomic_exchange(&slot->cpu, cpu) != cpu ||
		    atomic_load_explicit(&slot->bound_cpu, memory_order_relaxed) != cpu ||
		    !is_used_by(rank, cpu, rank->me))
			bind_to(rank, rank->me, slot);
	}
	return true;
}

void mal_bind_outdate(struct mal_rank *rank)
{
	rank->placed_own.outdated = true;
}

void mal_bind_forget(struct mal_rank *rank)
{
	mal_bind_outdate(rank);
	for (unsigned int i = 0; i < rank->segment.thread_count; i++)
		atomic_store_explicit(&rank->threads[i].bound_cpu, MAL_NO_CPU,
				      memory_order_relaxed);
}

/* The slot of thread TID (0: the calling one), NULL if it is in no team. */
static struct mal_thread_slot *slot_of(const struct mal_rank *rank, int32_t tid)
{
	if (!tid)
		tid = mal_self.tid;
	for (unsigned int i = 0; tid && i < rank->segment.thread_count; i++) {
		int32_t other = atomic_load_explicit(&rank->threads[i].tid, memory_order_relaxed);

		if (other == tid)
			return &rank->threads[i];
	}
	return NULL;
}

static bool is_unmanaged(const struct mal_rank *rank, unsigned int number)
{
	return atomic_load_explicit(&rank->segment.ranks[number].unmanaged, memory_order_relaxed);
}

/* The CPUs that rank NUMBER uses. */
static struct mal_cpumask used_by(const struct mal_rank *rank, unsigned int number)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count; cpu++)
		if (is_used_by(rank, cpu, number))
			mal_cpumask_add(&mask, cpu);
	return mask;
}

/*
 * The CPUs of rank NUMBER without those it borrows: what is started there may run on when they have
 * gone back.
 */
static struct mal_cpumask owned_by(const struct mal_rank *rank, unsigned int number)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count; cpu++)
		if (mal_cpumask_has(&rank->allocation, cpu) &&
		    mal_word_read(&rank->segment.cpus[cpu].word).owner == number)
			mal_cpumask_add(&mask, cpu);
	return mask;
}

/*
 * What threads of rank NUMBER that are in no team get: nobody sends them away from a borrowed CPU.
 */
static struct mal_cpumask lasting(const struct mal_rank *rank, unsigned int number)
{
	struct mal_cpumask mask =
		is_unmanaged(rank, number) ? used_by(rank, number) : owned_by(rank, number);

	return mal_cpumask_count(&mask) ? mask : used_by(rank, number);
}

/*
 * Bind the threads of rank NUMBER's process to MASK. Leave out our own team, and in an unmanaged
 * rank threads that the program bound. Returns the number of threads bound.
 */
static unsigned int bind_process(const struct mal_rank *rank, unsigned int number,
				 const struct mal_cpumask *mask)
{
	bool own = number == rank->me, unmanaged = is_unmanaged(rank, number);
	int32_t pid = own ? getpid() : atomic_load(&rank->segment.ranks[number].pid);
	char path[32];
	DIR *tasks;
	struct dirent *entry;
	unsigned int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (unmanaged)
		mal_pins_give(rank, number, mask);
	while (tasks && (entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !(own && slot_of(rank, tid)) &&
		    !(unmanaged && mal_pins_keep(rank, number, tid)))
			count += mal_cpumask_set_affinity(tid, mask) == 0;
	}
	if (tasks)
		closedir(tasks);
	return count;
}

/* The calling thread, as bind_process(). */
static unsigned int bind_caller(const struct mal_rank *rank, unsigned int number,
				const struct mal_cpumask *mask)
{
	mal_pins_give(rank, number, mask);
	return mal_cpumask_set_affinity(0, mask) == 0;
}

/*
 * The CPUs in our lists that are still ours or, in an unmanaged rank, still used by us, going by
 * their words.
 */
static struct mal_cpumask listed(const struct mal_rank *rank, unsigned int me)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int i = 0; i < rank->cpus.owned_count + rank->cpus.borrowed_count; i++) {
		unsigned int cpu = i < rank->cpus.owned_count
					   ? rank->cpus.owned[i]
					   : rank->cpus.borrowed[i - rank->cpus.owned_count];
		struct mal_cpu_state state = mal_word_read(&rank->segment.cpus[cpu].word);

		if (state.owner == me || (state.user == me && is_unmanaged(rank, me)))
			mal_cpumask_add(&mask, cpu);
	}
	return mask;
}

/*
 * Let BIND_THREADS bind threads of rank NUMBER to the CPUs that CPUS_OF it are, until these are the
 * same afterwards (core/place.h), while others wait for us. Returns how many it bound at last.
 */
static unsigned int bind_announced(const struct mal_rank *rank, unsigned int number,
				   cpus_function *cpus_of, bind_function *bind_threads)
{
	struct mal_cpumask mask, again;
	unsigned int count = 0;

	atomic_fetch_add(&rank->slot->binding, 1);
	again = cpus_of(rank, number);
	for (unsigned int i = 0; i < BIND_TRIES && mal_cpumask_count(&again); i++) {
		mask = again;
		count = bind_threads(rank, number, &mask);
		atomic_thread_fence(memory_order_seq_cst);
		again = cpus_of(rank, number);
		if (memcmp(&mask, &again, sizeof(mask)) == 0)
			break;
	}
	atomic_fetch_sub(&rank->slot->binding, 1);
	return count;
}

void mal_bind_other_threads(const struct mal_rank *rank)
{
	if (!rank->observe && mal_rule(rank, MAL_RULE_BIND) && rank->cpus.owned_count)
		bind_announced(rank, rank->me, listed, bind_process);
}

void mal_bind_new_thread(const struct mal_rank *rank)
{
	if (!rank->observe && mal_rule(rank, MAL_RULE_BIND))
		bind_announced(rank, rank->me, lasting, bind_caller);
}

bool mal_bind_is_ours(const struct mal_rank *rank, int32_t tid, const struct mal_cpumask *mask)
{
	const struct mal_thread_slot *slot = slot_of(rank, tid);
	uint32_t bound =
		slot ? atomic_load_explicit(&slot->bound_cpu, memory_order_relaxed) : MAL_NO_CPU;

	return bound < rank->segment.cpu_count && mal_cpumask_count(mask) == 1 &&
	       mal_cpumask_has(mask, bound);
}

bool mal_bind_owns(const struct mal_rank *rank, const struct mal_cpumask *mask)
{
	struct mal_cpumask rest = *mask, owned = owned_by(rank, rank->me);

	mal_cpumask_drop(&rest, &owned);
	return mal_cpumask_count(&rest) == 0;
}

bool mal_bind_widen(const struct mal_rank *rank, const struct mal_cpumask *wanted)
{
	struct mal_cpumask mask, owned, again = owned_by(rank, rank->me);
	bool done = false;

	if (rank->observe || mal_cpumask_get_affinity(0, &mask) < 0 ||
	    !mal_bind_is_ours(rank, 0, &mask))
		return false;
	/* Not announced: a child that is killed here would leave its parent's mark behind. */
	for (unsigned int i = 0; i < BIND_TRIES && mal_cpumask_count(&again); i++) {
		mask = owned = again;
		mal_cpumask_intersect(&mask, wanted);
		done = mal_cpumask_set_affinity(0, mal_cpumask_count(&mask) ? &mask : &owned) == 0;
		atomic_thread_fence(memory_order_seq_cst);
		again = owned_by(rank, rank->me);
		if (memcmp(&owned, &again, sizeof(owned)) == 0)
			break;
	}
	return done;
}

void mal_bind_release(struct mal_rank *rank)
{
	struct mal_thread_slot *slot = slot_of(rank, 0);

	if (!slot || !mal_bind_widen(rank, &rank->home))
		return;
	atomic_store_explicit(&slot->bound_cpu, MAL_NO_CPU, memory_order_relaxed);
	mal_bind_outdate(rank);
}

void mal_bind_let_count(struct mal_rank *rank, int (*count)(void))
{
	atomic_store(&rank->placed_own.count, count);
	mal_bind_release(rank);
}

void mal_bind_narrow(const struct mal_rank *rank)
{
	struct mal_thread_slot *slot = slot_of(rank, 0);

	if (slot)
		mal_bind_self(rank, slot);
}

void mal_bind_send_home(const struct mal_rank *rank, uint32_t cpu)
{
	for (unsigned int i = 0; i < rank->segment.thread_count; i++) {
		struct mal_thread_slot *slot = &rank->threads[i];
		int32_t tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);
		uint32_t home = atomic_load_explicit(&slot->home, memory_order_relaxed),
			 expected = cpu;

		if (tid <= 0)
			continue;
		if (atomic_load_explicit(&slot->cpu, memory_order_relaxed) == cpu)
			mal_lanes_thread(rank, i);
		if (home < rank->segment.cpu_count && home != cpu &&
		    mal_cpumask_has(&rank->allocation, home) &&
		    mal_place_change(slot, &expected, home))
			bind_to(rank, rank->me, slot);
	}
}

/* The team size that another rank states, bounded. */
static unsigned int team_of(const struct mal_rank *rank, unsigned int number)
{
	unsigned int team =
		atomic_load_explicit(&rank->segment.ranks[number].team, memory_order_acquire);

	return team < rank->segment.thread_count ? team : rank->segment.thread_count;
}

unsigned int mal_bind_evict(const struct mal_rank *rank, unsigned int borrower, uint32_t cpu)
{
	unsigned int team = team_of(rank, borrower);
	unsigned int sent = 0;

	if (is_unmanaged(rank, borrower))
		sent = bind_announced(rank, borrower, used_by, bind_process);
	/* Its team may be smaller by now than when a thread was sent to CPU. */
	for (unsigned int i = 0; i < rank->segment.thread_count; i++) {
		struct mal_thread_slot *slot = mal_thread_slot(&rank->segment, borrower, i);
		uint32_t expected = cpu;
		uint32_t to;

		if (i >= team && atomic_load_explicit(&slot->tid, memory_order_relaxed) <= 0)
			break;
		if (atomic_load_explicit(&slot->cpu, memory_order_seq_cst) != cpu)
			continue;
		to = refuge(rank, borrower,
			    atomic_load_explicit(&slot->home, memory_order_relaxed));
		if (to == MAL_NO_CPU || !mal_place_change(slot, &expected, to))
			continue;
		sent += atomic_load_explicit(&slot->tid, memory_order_relaxed) > 0;
		bind_to(rank, borrower, slot);
	}
	mal_changes_add(&rank->segment.ranks[borrower]);
	return sent;
}

/*
 * The last started thread of rank NUMBER that shares its CPU, AT, with another thread of its team.
 */
static enum mal_spread find_sharing(const struct mal_rank *rank, unsigned int number,
				    struct mal_thread_slot **found, uint32_t *at)
{
	enum mal_spread result = MAL_SPREAD_SATISFIED;
	uint16_t load[MAL_MAX_CPUS];
	unsigned int team = team_of(rank, number);

	memset(load, 0, rank->segment.cpu_count * sizeof(load[0]));
	for (unsigned int i = 0; i < team; i++) {
		uint32_t cpu = atomic_load_explicit(
			&mal_thread_slot(&rank->segment, number, i)->cpu, memory_order_relaxed);

		if (cpu < rank->segment.cpu_count)
			load[cpu]++;
	}
	for (unsigned int i = team; i-- > 1;) {
		struct mal_thread_slot *slot = mal_thread_slot(&rank->segment, number, i);
		uint32_t cpu = atomic_load_explicit(&slot->cpu, memory_order_relaxed);

		if (cpu >= rank->segment.cpu_count || load[cpu] < 2)
			continue;
		result = MAL_SPREAD_NOT_YET;
		if (atomic_load_explicit(&slot->tid, memory_order_relaxed) <= 0)
			continue;
		*found = slot;
		*at = cpu;
		return MAL_SPREAD_DONE;
	}
	return result;
}

enum mal_spread mal_bind_can_spread(const struct mal_rank *rank, unsigned int borrower)
{
	struct mal_thread_slot *slot;
	uint32_t at;

	if (is_unmanaged(rank, borrower)) {
		struct mal_cpumask used = used_by(rank, borrower);

		return mal_cpumask_count(&used) < team_of(rank, borrower) ? MAL_SPREAD_DONE
									  : MAL_SPREAD_SATISFIED;
	}
	return find_sharing(rank, borrower, &slot, &at);
}

enum mal_spread mal_bind_spread(const struct mal_rank *rank, unsigned int borrower, uint32_t cpu)
{
	struct mal_thread_slot *slot;
	enum mal_spread result;
	uint32_t at;

	if (is_unmanaged(rank, borrower)) {
		struct mal_cpumask used = used_by(rank, borrower);

		if (mal_cpumask_count(&used) > team_of(rank, borrower))
			return MAL_SPREAD_SATISFIED;
		return bind_announced(rank, borrower, used_by, bind_process) ? MAL_SPREAD_DONE
									     : MAL_SPREAD_NOT_YET;
	}
	result = find_sharing(rank, borrower, &slot, &at);
	if (result != MAL_SPREAD_DONE)
		return result;
	if (!mal_place_change(slot, &at, cpu))
		return MAL_SPREAD_NOT_YET;
	bind_to(rank, borrower, slot);
	return MAL_SPREAD_DONE;
}
