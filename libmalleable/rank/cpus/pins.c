/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pins.c: remember threads whose CPUs the program chose.
 *
 * Invariant: threads whose CPUs the program chose keep them (t/unit/test_threads.c:
 * pins_of_the_program_stay; t/t2006-builds.t).
 *
 * A mask that we never gave was set by the program, in whatever way. If it chose just a mask that
 * we give too, only its call says so, which is interposed here.
 */
#include "libmalleable/rank/cpus/pins.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/symbols.h"
#include "libmalleable/rank/state/rank.h"

/* Yields, at most, until ranks that bind threads of this one have finished. */
#define WAITS_MAX 1000

/* The masks behind the pins; one that is just being written does not have its pin's hash. */
static struct mal_cpumask masks[MAL_PINS];

/* Hash of MASK, never 0. */
static uint64_t hash_of(const struct mal_cpumask *mask)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < MAL_MAX_CPUS / 64; i++) {
		hash = (hash ^ mask->bits[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash | 1;
}

static uint64_t pin_of(int32_t tid, const struct mal_cpumask *mask)
{
	return (uint64_t)(uint32_t)tid << 32 | (uint32_t)hash_of(mask);
}

static bool was_given(const struct mal_rank_slot *slot, const struct mal_cpumask *mask)
{
	uint64_t hash = hash_of(mask);

	for (unsigned int i = 0; i < MAL_GIVEN_MASKS; i++)
		if (atomic_load(&slot->given[i]) == hash)
			return true;
	return false;
}

static bool is_pinned(const struct mal_rank_slot *slot, int32_t tid, const struct mal_cpumask *mask)
{
	unsigned int count = atomic_load(&slot->pin_count);
	uint64_t pin = pin_of(tid, mask);

	for (unsigned int i = 0; i < count && i < MAL_PINS; i++)
		if (atomic_load(&slot->pins[i]) == pin)
			return true;
	return false;
}

void mal_pins_give(const struct mal_rank *rank, unsigned int number, const struct mal_cpumask *mask)
{
	struct mal_rank_slot *slot = &rank->segment.ranks[number];

	if (!was_given(slot, mask))
		atomic_store(
			&slot->given[atomic_fetch_add(&slot->given_count, 1) % MAL_GIVEN_MASKS],
			hash_of(mask));
}

void mal_pins_open(const struct mal_rank *rank, const struct mal_cpumask *mask)
{
	for (unsigned int i = 0; i < MAL_GIVEN_MASKS; i++)
		atomic_store(&rank->slot->given[i], 0);
	for (unsigned int i = 0; i < MAL_PINS; i++)
		atomic_store(&rank->slot->pins[i], 0);
	atomic_store(&rank->slot->pin_count, 0);
	mal_pins_give(rank, rank->me, mask);
	mal_pins_give(rank, rank->me, &rank->home);
}

bool mal_pins_keep(const struct mal_rank *rank, unsigned int number, int32_t tid)
{
	const struct mal_rank_slot *slot = &rank->segment.ranks[number];
	struct mal_cpumask mask;

	if (mal_cpumask_get_affinity(tid, &mask) < 0)
		return true;
	return !was_given(slot, &mask) || is_pinned(slot, tid, &mask);
}

/* Overwrite pins of threads that have ended, or have other CPUs now, before others. */
static struct mal_pin remember(struct mal_rank_slot *slot, int32_t tid,
			       const struct mal_cpumask *mask)
{
	struct mal_pin pin = {.now = pin_of(tid, mask)};
	unsigned int count = atomic_load(&slot->pin_count);

	if (is_pinned(slot, tid, mask))
		return (struct mal_pin){0};
	for (; pin.at < count && pin.at < MAL_PINS; pin.at++) {
		int32_t other;

		pin.before = atomic_load(&slot->pins[pin.at]);
		other = (int32_t)(pin.before >> 32);
		if ((other == tid || syscall(SYS_tgkill, getpid(), other, 0) < 0) &&
		    atomic_compare_exchange_strong(&slot->pins[pin.at], &pin.before, pin.now)) {
			pin.mask = masks[pin.at];
			masks[pin.at] = *mask;
			return pin;
		}
	}
	pin.at = atomic_fetch_add(&slot->pin_count, 1) % MAL_PINS;
	pin.before = atomic_exchange(&slot->pins[pin.at], pin.now);
	pin.mask = masks[pin.at];
	masks[pin.at] = *mask;
	return pin;
}

static void forget(struct mal_rank_slot *slot, int32_t tid)
{
	for (unsigned int i = 0; i < MAL_PINS; i++) {
		uint64_t old = atomic_load(&slot->pins[i]);

		if ((int32_t)(old >> 32) == tid)
			atomic_compare_exchange_strong(&slot->pins[i], &old, 0);
	}
}

struct mal_pin mal_pins_set(const struct mal_rank *rank, int32_t tid,
			    const struct mal_cpumask *mask)
{
	struct mal_cpumask rest = rank->home;

	if (!tid)
		tid = (int32_t)syscall(SYS_gettid);
	mal_cpumask_drop(&rest, mask);
	/*
	 * All CPUs that the program knows: it unbinds the thread, as when it restores the mask it
	 * first read.
	 */
	if (mal_cpumask_count(&rest) == 0 && mal_cpumask_count(&rank->home) > 1) {
		forget(rank->slot, tid);
		return (struct mal_pin){0};
	}
	return remember(rank->slot, tid, mask);
}

void mal_pins_undo(const struct mal_rank *rank, const struct mal_pin *pin)
{
	uint64_t now = pin->now;

	if (now && atomic_compare_exchange_strong(&rank->slot->pins[pin->at], &now, pin->before))
		masks[pin->at] = pin->mask;
}

bool mal_pins_has(const struct mal_rank *rank, int32_t tid, const struct mal_cpumask *mask)
{
	return is_pinned(rank->slot, tid ? tid : (int32_t)syscall(SYS_gettid), mask);
}

bool mal_pins_find(const struct mal_rank *rank, int32_t tid, struct mal_cpumask *mask)
{
	unsigned int count = atomic_load(&rank->slot->pin_count);

	if (!tid)
		tid = (int32_t)syscall(SYS_gettid);
	for (unsigned int i = 0; i < count && i < MAL_PINS; i++) {
		uint64_t pin = atomic_load(&rank->slot->pins[i]);

		if ((int32_t)(pin >> 32) != tid)
			continue;
		*mask = masks[i];
		if (pin_of(tid, mask) == pin)
			return true;
	}
	return false;
}

bool mal_pins_gave(const struct mal_rank *rank, int32_t tid, const struct mal_cpumask *mask)
{
	return was_given(rank->slot, mask) &&
	       (!tid || tid == getpid() || syscall(SYS_tgkill, getpid(), tid, 0) == 0);
}

bool mal_pins_inherit(const struct mal_rank *rank, struct mal_cpumask *mask)
{
	if (!atomic_load(&rank->slot->pin_count) && !rank->unmanaged)
		return false;
	if (mal_cpumask_get_affinity(0, mask) < 0)
		return false;
	return is_pinned(rank->slot, (int32_t)syscall(SYS_gettid), mask) ||
	       (rank->unmanaged && !was_given(rank->slot, mask));
}

/*
 * Another rank may have read our threads' masks before the program's call, and bind a thread after
 * it. Wait until none is binding; returns whether any was.
 */
static bool wait_for_binders(const struct mal_rank *rank)
{
	bool any = false;

	for (unsigned int number = 0; number < rank->segment.rank_count; number++)
		for (unsigned int i = 0;
		     i < WAITS_MAX && atomic_load(&rank->segment.ranks[number].binding); i++) {
			any = true;
			syscall(SYS_sched_yield);
		}
	return any;
}

struct mal_cpumask mal_pins_mask(const struct mal_rank *rank, size_t size, const cpu_set_t *set)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count && cpu < 8 * size; cpu++)
		if (CPU_ISSET_S(cpu, size, set))
			mal_cpumask_add(&mask, cpu);
	mal_cpumask_intersect(&mask, &rank->allocation);
	return mask;
}

/* Its CPU-time clock encodes it: glibc has no other way to ask for it. */
int32_t mal_pins_number(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 ? (int32_t)~(clock >> 3) : -1;
}

/* The program chooses the CPUs of THREAD, whose number is TID. */
#define CHOOSES(name, type, tid) \
	int name(type thread, size_t size, const cpu_set_t *set) \
	{ \
		MAL_NEXT(name); \
		struct mal_cpumask mask; \
		struct mal_pin pin; \
		int result; \
\
		if (!mal.active || (tid) < 0) \
			return next(thread, size, set); \
		mask = mal_pins_mask(&mal, size, set); \
		pin = mal_pins_set(&mal, tid, &mask); \
		result = next(thread, size, set); \
		if (result == 0 && wait_for_binders(&mal)) \
			result = next(thread, size, set); \
		if (result != 0) \
			mal_pins_undo(&mal, &pin); \
		return result; \
	}
CHOOSES(sched_setaffinity, pid_t, thread)
CHOOSES(pthread_setaffinity_np, pthread_t, mal_pins_number(thread))
