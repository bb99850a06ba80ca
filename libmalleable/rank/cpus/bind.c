/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bind.c: bind threads: those of a team to a CPU of their rank each, all others to all of its CPUs.
 */
#include "libmalleable/rank/cpus/bind.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/place.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/state/state.h"

/* Retries of binding a process whose CPUs changed meanwhile: only a hostile rank causes many. */
#define BIND_TRIES 64

/* A thread's place. Neighbours share a CPU, so that they share data there too. */
static uint32_t place_of(unsigned int thread, unsigned int team, unsigned int cpus)
{
	unsigned int at = team > cpus ? (unsigned int)((uint64_t)thread * cpus / team) : thread;

	return at < mal.own_count ? mal.own[at] : mal.borrowed[at - mal.own_count];
}

/* The place that a thread returns to: one of the rank's own CPUs. */
static uint32_t home_of(unsigned int thread, unsigned int team)
{
	unsigned int at = team > mal.own_count
				  ? (unsigned int)((uint64_t)thread * mal.own_count / team)
				  : thread;

	return mal.own[at];
}

static struct mal_placing placing_of(unsigned int rank, bool lent)
{
	return (struct mal_placing){&mal.segment, &mal.allocation, rank, lent};
}

/*
 * Whether RANK uses CPU, or was just given it and may start at once. This and the next two are not
 * inlined, so that their callers cost no more where nothing has changed.
 */
__attribute__((noinline)) static bool is_used_by(uint32_t cpu, unsigned int rank)
{
	const struct mal_placing placing = placing_of(rank, false);

	return mal_place_is_allowed(&placing, cpu);
}

/*
 * A CPU that RANK uses: HOME, or else any; if it has lent all of its own while it waits, one of
 * these; MAL_NO_CPU: none.
 */
__attribute__((noinline)) static uint32_t refuge(unsigned int rank, uint32_t home)
{
	const struct mal_placing placing = placing_of(rank, true);

	return mal_place_refuge(&placing, home);
}

/*
 * Bind the thread of RANK in SLOT to its place. The controller waits until BINDING is 0 after
 * taking CPUs away.
 */
__attribute__((noinline)) static void bind_to(unsigned int rank, struct mal_thread_slot *slot)
{
	const struct mal_placing placing = placing_of(rank, true);

	atomic_fetch_add(&mal.slot->binding, 1);
	mal_place_bind(&placing, slot);
	atomic_fetch_sub(&mal.slot->binding, 1);
}

void mal_bind_self(struct mal_thread_slot *slot)
{
	uint32_t cpu = atomic_load_explicit(&slot->cpu, memory_order_acquire);

	if (!mal.observe && cpu < mal.segment.cpu_count)
		bind_to(mal.me, slot);
}

bool mal_bind_team(unsigned int team)
{
	unsigned int cpus = mal.own_count + mal.borrowed_count;

	if (mal.observe || !mal.own_count || !mal_rule(MAL_RULE_BIND))
		return false;
	if (team > mal.segment.thread_count)
		team = mal.segment.thread_count;
	if (team == mal.placed.team && cpus == mal.placed.cpus && !mal.placed.outdated)
		return false;
	mal.placed.team = team;
	mal.placed.cpus = cpus;
	mal.placed.outdated = false;
	/*
	 * Whoever takes a CPU back looks at as many threads as we say that the team has. We have
	 * said it before we look at the words.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned int i = 0; i < team; i++) {
		struct mal_thread_slot *slot = &mal.threads[i];
		uint32_t cpu = place_of(i, team, cpus);

		atomic_store_explicit(&slot->home, home_of(i, team), memory_order_relaxed);
		if (atomic_exchange(&slot->cpu, cpu) != cpu ||
		    atomic_load_explicit(&slot->bound, memory_order_relaxed) != cpu ||
		    !is_used_by(cpu, mal.me))
			bind_to(mal.me, slot);
	}
	return true;
}

void mal_bind_outdate(void)
{
	mal.placed.outdated = true;
}

void mal_bind_forget(void)
{
	mal_bind_outdate();
	for (unsigned int i = 0; i < mal.segment.thread_count; i++)
		atomic_store_explicit(&mal.threads[i].bound, MAL_NO_CPU, memory_order_relaxed);
}

static bool in_team(int32_t tid)
{
	for (unsigned int i = 0; i < mal.segment.thread_count; i++) {
		int32_t other = atomic_load_explicit(&mal.threads[i].tid, memory_order_relaxed);

		if (other == tid)
			return true;
	}
	return false;
}

static bool is_unmanaged(unsigned int rank)
{
	return atomic_load_explicit(&mal.segment.ranks[rank].unmanaged, memory_order_relaxed);
}

/* The CPUs that RANK uses. */
static struct mal_cpumask used_by(unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++)
		if (is_used_by(cpu, rank))
			mal_cpumask_add(&mask, cpu);
	return mask;
}

/*
 * The CPUs of RANK without those it borrows: what is started there may run on when they have gone
 * back.
 */
static struct mal_cpumask owned_by(unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++)
		if (mal_cpumask_has(&mal.allocation, cpu) &&
		    mal_word_read(&mal.segment.cpus[cpu].word).owner == rank)
			mal_cpumask_add(&mask, cpu);
	return mask;
}

/* What threads of RANK that are in no team get: nobody sends them away from a borrowed CPU. */
static struct mal_cpumask lasting(unsigned int rank)
{
	struct mal_cpumask mask = is_unmanaged(rank) ? used_by(rank) : owned_by(rank);

	return mal_cpumask_count(&mask) ? mask : used_by(rank);
}

/*
 * Bind the threads of RANK's process to MASK. Leave out our own team, and in an unmanaged rank
 * threads that the program bound. Returns the number of threads bound.
 */
static unsigned int bind_process(unsigned int rank, const struct mal_cpumask *mask)
{
	bool own = rank == mal.me, unmanaged = is_unmanaged(rank);
	int32_t pid = own ? getpid() : atomic_load(&mal.segment.ranks[rank].pid);
	char path[32];
	DIR *tasks;
	struct dirent *entry;
	unsigned int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (unmanaged)
		mal_pins_give(rank, mask);
	while (tasks && (entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !(own && in_team(tid)) && !(unmanaged && mal_pins_keep(rank, tid)))
			count += mal_cpumask_set_affinity(tid, mask) == 0;
	}
	if (tasks)
		closedir(tasks);
	return count;
}

/* The calling thread, as bind_process(). */
static unsigned int bind_caller(unsigned int rank, const struct mal_cpumask *mask)
{
	mal_pins_give(rank, mask);
	return mal_cpumask_set_affinity(0, mask) == 0;
}

/*
 * The CPUs in our lists that are still ours or, in an unmanaged rank, still used by us, going by
 * their words.
 */
static struct mal_cpumask listed(unsigned int me)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int i = 0; i < mal.own_count + mal.borrowed_count; i++) {
		unsigned int cpu = i < mal.own_count ? mal.own[i] : mal.borrowed[i - mal.own_count];
		struct mal_cpu_state state = mal_word_read(&mal.segment.cpus[cpu].word);

		if (state.owner == me || (state.user == me && is_unmanaged(me)))
			mal_cpumask_add(&mask, cpu);
	}
	return mask;
}

/*
 * Let BIND bind threads of RANK to the CPUs that CPUS_OF it are, until these are the same
 * afterwards (core/place.h). Returns how many it bound at last.
 */
static unsigned int
bind_and_look(unsigned int rank, struct mal_cpumask (*cpus_of)(unsigned int rank),
	      unsigned int (*bind)(unsigned int rank, const struct mal_cpumask *mask))
{
	struct mal_cpumask mask, again = cpus_of(rank);
	unsigned int count = 0;

	for (unsigned int i = 0; i < BIND_TRIES && mal_cpumask_count(&again); i++) {
		mask = again;
		count = bind(rank, &mask);
		atomic_thread_fence(memory_order_seq_cst);
		again = cpus_of(rank);
		if (memcmp(&mask, &again, sizeof(mask)) == 0)
			break;
	}
	return count;
}

/* The same, while others wait for us. */
static unsigned int
bind_announced(unsigned int rank, struct mal_cpumask (*cpus_of)(unsigned int rank),
	       unsigned int (*bind)(unsigned int rank, const struct mal_cpumask *mask))
{
	unsigned int count;

	atomic_fetch_add(&mal.slot->binding, 1);
	count = bind_and_look(rank, cpus_of, bind);
	atomic_fetch_sub(&mal.slot->binding, 1);
	return count;
}

void mal_bind_other_threads(void)
{
	if (!mal.observe && mal_rule(MAL_RULE_BIND) && mal.own_count)
		bind_announced(mal.me, listed, bind_process);
}

void mal_bind_new_thread(void)
{
	if (!mal.observe && mal_rule(MAL_RULE_BIND))
		bind_announced(mal.me, lasting, bind_caller);
}

/* The slot of thread TID (0: the calling one), NULL if it is in no team. */
static struct mal_thread_slot *slot_of(int32_t tid)
{
	if (!tid)
		tid = mal_self.tid;
	for (unsigned int i = 0; tid && i < mal.segment.thread_count; i++) {
		int32_t other = atomic_load_explicit(&mal.threads[i].tid, memory_order_relaxed);

		if (other == tid)
			return &mal.threads[i];
	}
	return NULL;
}

bool mal_bind_is_ours(int32_t tid, const struct mal_cpumask *mask)
{
	const struct mal_thread_slot *slot = slot_of(tid);
	uint32_t bound =
		slot ? atomic_load_explicit(&slot->bound, memory_order_relaxed) : MAL_NO_CPU;

	return bound < mal.segment.cpu_count && mal_cpumask_count(mask) == 1 &&
	       mal_cpumask_has(mask, bound);
}

bool mal_bind_owns(const struct mal_cpumask *mask)
{
	struct mal_cpumask rest = *mask, owned = owned_by(mal.me);

	mal_cpumask_drop(&rest, &owned);
	return mal_cpumask_count(&rest) == 0;
}

bool mal_bind_widen(const struct mal_cpumask *wanted)
{
	struct mal_cpumask mask, owned, again = owned_by(mal.me);
	bool done = false;

	if (mal.observe || mal_cpumask_get_affinity(0, &mask) < 0 || !mal_bind_is_ours(0, &mask))
		return false;
	/* Not announced: a child that is killed here would leave its parent's mark behind. */
	for (unsigned int i = 0; i < BIND_TRIES && mal_cpumask_count(&again); i++) {
		mask = owned = again;
		mal_cpumask_keep(&mask, wanted);
		done = mal_cpumask_set_affinity(0, mal_cpumask_count(&mask) ? &mask : &owned) == 0;
		atomic_thread_fence(memory_order_seq_cst);
		again = owned_by(mal.me);
		if (memcmp(&owned, &again, sizeof(owned)) == 0)
			break;
	}
	return done;
}

void mal_bind_release(void)
{
	struct mal_thread_slot *slot = slot_of(0);

	if (!slot || !mal_bind_widen(&mal.home))
		return;
	atomic_store_explicit(&slot->bound, MAL_NO_CPU, memory_order_relaxed);
	mal_bind_outdate();
}

void mal_bind_narrow(void)
{
	struct mal_thread_slot *slot = slot_of(0);

	if (slot)
		mal_bind_self(slot);
}

void mal_bind_send_home(uint32_t cpu)
{
	for (unsigned int i = 0; i < mal.segment.thread_count; i++) {
		struct mal_thread_slot *slot = &mal.threads[i];
		int32_t tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);
		uint32_t home = atomic_load_explicit(&slot->home, memory_order_relaxed),
			 expected = cpu;

		if (tid <= 0)
			continue;
		if (home < mal.segment.cpu_count && home != cpu &&
		    mal_cpumask_has(&mal.allocation, home) &&
		    atomic_compare_exchange_strong(&slot->cpu, &expected, home))
			bind_to(mal.me, slot);
	}
}

/* Bind all threads of an unmanaged rank to the CPUs that it uses now. */
static unsigned int bind_unmanaged(unsigned int rank)
{
	return bind_announced(rank, used_by, bind_process);
}

/* The team size that another rank states, bounded. */
static unsigned int team_of(unsigned int rank)
{
	unsigned int team =
		atomic_load_explicit(&mal.segment.ranks[rank].team, memory_order_acquire);

	return team < mal.segment.thread_count ? team : mal.segment.thread_count;
}

unsigned int mal_bind_evict(unsigned int borrower, uint32_t cpu)
{
	unsigned int team = team_of(borrower);
	unsigned int sent = 0;

	if (is_unmanaged(borrower))
		sent = bind_unmanaged(borrower);
	/* Its team may be smaller by now than when a thread was sent to CPU. */
	for (unsigned int i = 0; i < mal.segment.thread_count; i++) {
		struct mal_thread_slot *slot = mal_thread_slot(&mal.segment, borrower, i);
		uint32_t expected = cpu;
		uint32_t to;

		if (i >= team && atomic_load_explicit(&slot->tid, memory_order_relaxed) <= 0)
			break;
		if (atomic_load_explicit(&slot->cpu, memory_order_seq_cst) != cpu)
			continue;
		to = refuge(borrower, atomic_load_explicit(&slot->home, memory_order_relaxed));
		if (to == MAL_NO_CPU || !atomic_compare_exchange_strong(&slot->cpu, &expected, to))
			continue;
		sent += atomic_load_explicit(&slot->tid, memory_order_relaxed) > 0;
		bind_to(borrower, slot);
	}
	atomic_fetch_add_explicit(&mal.segment.ranks[borrower].changes, 1, memory_order_release);
	return sent;
}

/* The last started thread of RANK that shares its CPU, AT, with another thread of its team. */
static enum mal_spread find_sharing(unsigned int rank, struct mal_thread_slot **found, uint32_t *at)
{
	enum mal_spread result = MAL_SPREAD_SATISFIED;
	uint16_t load[MAL_MAX_CPUS];
	unsigned int team = team_of(rank);

	memset(load, 0, mal.segment.cpu_count * sizeof(load[0]));
	for (unsigned int i = 0; i < team; i++) {
		uint32_t cpu = atomic_load_explicit(&mal_thread_slot(&mal.segment, rank, i)->cpu,
						    memory_order_relaxed);

		if (cpu < mal.segment.cpu_count)
			load[cpu]++;
	}
	for (unsigned int i = team; i-- > 1;) {
		struct mal_thread_slot *slot = mal_thread_slot(&mal.segment, rank, i);
		uint32_t cpu = atomic_load_explicit(&slot->cpu, memory_order_relaxed);

		if (cpu >= mal.segment.cpu_count || load[cpu] < 2)
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

enum mal_spread mal_bind_can_spread(unsigned int borrower)
{
	struct mal_thread_slot *slot;
	uint32_t at;

	if (is_unmanaged(borrower)) {
		struct mal_cpumask used = used_by(borrower);

		return mal_cpumask_count(&used) < team_of(borrower) ? MAL_SPREAD_DONE
								    : MAL_SPREAD_SATISFIED;
	}
	return find_sharing(borrower, &slot, &at);
}

enum mal_spread mal_bind_spread(unsigned int borrower, uint32_t cpu)
{
	struct mal_thread_slot *slot;
	enum mal_spread result;
	uint32_t at;

	if (is_unmanaged(borrower)) {
		struct mal_cpumask used = used_by(borrower);

		if (mal_cpumask_count(&used) > team_of(borrower))
			return MAL_SPREAD_SATISFIED;
		return bind_unmanaged(borrower) ? MAL_SPREAD_DONE : MAL_SPREAD_NOT_YET;
	}
	result = find_sharing(borrower, &slot, &at);
	if (result != MAL_SPREAD_DONE)
		return result;
	if (!atomic_compare_exchange_strong(&slot->cpu, &at, cpu))
		return MAL_SPREAD_NOT_YET;
	bind_to(borrower, slot);
	return MAL_SPREAD_DONE;
}
