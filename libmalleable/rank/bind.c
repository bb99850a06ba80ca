/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bind.c: every thread of a team on a CPU that its rank uses. */
#include "libmalleable/rank/bind.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/rank/state.h"

/* What the team was placed for: regions that find nothing changed touch no other thread's cache line. */
static struct {
	unsigned int team;
	unsigned int cpus;
	bool outdated;
} placed;

/* A thread's place; neighbours share a CPU, so that more threads than CPUs keep the same data near. */
static uint32_t place_of(unsigned int thread, unsigned int team, unsigned int cpus)
{
	unsigned int at = team > cpus ? (unsigned int)((uint64_t)thread * cpus / team) : thread;

	return at < mal.own_count ? mal.own[at] : mal.borrowed[at - mal.own_count];
}

static uint32_t home_of(unsigned int thread, unsigned int team)
{
	unsigned int at = team > mal.own_count ? (unsigned int)((uint64_t)thread * mal.own_count / team) : thread;

	return mal.own[at];
}

static void bind_to(struct mal_thread_slot *slot, int32_t tid, uint32_t cpu)
{
	atomic_store_explicit(&slot->bound, cpu, memory_order_relaxed);
	mal_bind_thread(tid, cpu);
}

/* RANK uses CPU, or it was just handed over and RANK may begin at once. */
static bool is_used_by(uint32_t cpu, unsigned int rank)
{
	struct mal_cpu_state state = mal_word_read(&mal.segment.cpus[cpu].word);

	return state.user == rank || (state.owner == rank && state.user == MAL_NOBODY && !state.lent);
}

/* A borrowed CPU may have been taken back since we chose it: then nobody else sends the thread away. */
static void leave_if_reclaimed(struct mal_thread_slot *slot, int32_t tid, uint32_t cpu)
{
	uint32_t expected = cpu;
	uint32_t home = atomic_load_explicit(&slot->home, memory_order_relaxed);

	if (home == cpu || home >= mal.segment.cpu_count || !mal_cpumask_has(&mal.allocation, home) ||
	    is_used_by(cpu, mal.me))
		return;
	if (atomic_compare_exchange_strong(&slot->cpu, &expected, home))
		bind_to(slot, tid, home);
}

void mal_bind_self(struct mal_thread_slot *slot, int32_t tid)
{
	uint32_t cpu = atomic_load_explicit(&slot->cpu, memory_order_acquire);

	if (mal.observe || cpu >= mal.segment.cpu_count || !mal_cpumask_has(&mal.allocation, cpu))
		return;
	bind_to(slot, tid, cpu);
	leave_if_reclaimed(slot, tid, cpu);
}

bool mal_bind_team(unsigned int team)
{
	unsigned int cpus = mal.own_count + mal.borrowed_count;

	if (mal.observe || !mal.own_count || !mal_rule(MAL_RULE_BIND))
		return false;
	if (team > mal.segment.thread_count)
		team = mal.segment.thread_count;
	if (team == placed.team && cpus == placed.cpus && !placed.outdated)
		return false;
	placed.team = team;
	placed.cpus = cpus;
	placed.outdated = false;
	for (unsigned int i = 0; i < team; i++) {
		struct mal_thread_slot *slot = &mal.threads[i];
		int32_t tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);
		uint32_t cpu = place_of(i, team, cpus);

		atomic_store_explicit(&slot->home, home_of(i, team), memory_order_relaxed);
		atomic_store_explicit(&slot->cpu, cpu, memory_order_release);
		if (tid > 0 && atomic_load_explicit(&slot->bound, memory_order_relaxed) != cpu) {
			bind_to(slot, tid, cpu);
			leave_if_reclaimed(slot, tid, cpu);
		}
	}
	return true;
}

void mal_bind_outdate(void)
{
	placed.outdated = true;
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
		if (!other)
			break;
	}
	return false;
}

/* The CPUs that RANK uses. */
static struct mal_cpumask used_by(unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++)
		if (mal_cpumask_has(&mal.allocation, cpu) && is_used_by(cpu, rank))
			mal_cpumask_add(&mask, cpu);
	return mask;
}

/* Threads of process PID to MASK; where it is our own, not those of the team. Returns how many. */
static unsigned int bind_process(int32_t pid, const struct mal_cpumask *mask)
{
	char path[32];
	DIR *tasks;
	struct dirent *entry;
	unsigned int count = 0;
	bool own = pid == getpid();

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !(own && in_team(tid)))
			count += mal_cpumask_set_affinity(tid, mask) == 0;
	}
	if (tasks)
		closedir(tasks);
	return count;
}

void mal_bind_other_threads(void)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int i = 0; i < mal.own_count; i++)
		mal_cpumask_add(&mask, mal.own[i]);
	for (unsigned int i = 0; i < mal.borrowed_count; i++)
		mal_cpumask_add(&mask, mal.borrowed[i]);
	if (!mal.observe && mal_rule(MAL_RULE_BIND) && mal.own_count)
		bind_process(getpid(), &mask);
}

void mal_bind_new_thread(void)
{
	struct mal_cpumask mask = used_by(mal.me);

	if (!mal.observe && mal_rule(MAL_RULE_BIND) && mal_cpumask_count(&mask))
		mal_cpumask_set_affinity(0, &mask);
}

static bool is_loose(unsigned int rank)
{
	return atomic_load_explicit(&mal.segment.ranks[rank].loose, memory_order_relaxed);
}

/* All threads of a loose rank to all CPUs that it uses now. */
static unsigned int bind_loose(unsigned int rank)
{
	int32_t pid = atomic_load_explicit(&mal.segment.ranks[rank].pid, memory_order_relaxed);
	struct mal_cpumask mask = used_by(rank);

	return pid > 0 && mal_cpumask_count(&mask) ? bind_process(pid, &mask) : 0;
}

/* The team size that another rank claims, bounded. */
static unsigned int team_of(unsigned int rank)
{
	unsigned int team = atomic_load_explicit(&mal.segment.ranks[rank].team, memory_order_acquire);

	return team < mal.segment.thread_count ? team : mal.segment.thread_count;
}

/* A CPU that RANK uses: the thread's home, or else any. MAL_NO_CPU: it has none. */
static uint32_t refuge(unsigned int rank, uint32_t home)
{
	if (home < mal.segment.cpu_count && mal_cpumask_has(&mal.allocation, home) &&
	    mal_word_read(&mal.segment.cpus[home].word).user == rank)
		return home;
	for (uint32_t cpu = 0; cpu < mal.segment.cpu_count; cpu++)
		if (mal_word_read(&mal.segment.cpus[cpu].word).user == rank && mal_cpumask_has(&mal.allocation, cpu))
			return cpu;
	return MAL_NO_CPU;
}

unsigned int mal_bind_evict(unsigned int borrower, uint32_t cpu)
{
	unsigned int team = team_of(borrower);
	unsigned int sent = 0;

	if (is_loose(borrower))
		sent = bind_loose(borrower);
	for (unsigned int i = 0; i < team; i++) {
		struct mal_thread_slot *slot = mal_thread_slot(&mal.segment, borrower, i);
		int32_t tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);
		uint32_t expected = cpu;
		uint32_t to;

		if (atomic_load_explicit(&slot->cpu, memory_order_acquire) != cpu || tid <= 0)
			continue;
		to = refuge(borrower, atomic_load_explicit(&slot->home, memory_order_relaxed));
		if (to == MAL_NO_CPU || !atomic_compare_exchange_strong(&slot->cpu, &expected, to))
			continue;
		bind_to(slot, tid, to);
		sent++;
	}
	atomic_fetch_add_explicit(&mal.segment.ranks[borrower].changes, 1, memory_order_release);
	return sent;
}

enum mal_spread mal_bind_spread(unsigned int borrower, uint32_t cpu)
{
	enum mal_spread result = MAL_SPREAD_SATISFIED;
	uint16_t load[MAL_MAX_CPUS];
	unsigned int team = team_of(borrower);

	if (is_loose(borrower)) {
		struct mal_cpumask used = used_by(borrower);

		if (mal_cpumask_count(&used) > team)
			return MAL_SPREAD_SATISFIED;
		return bind_loose(borrower) ? MAL_SPREAD_DONE : MAL_SPREAD_NOT_YET;
	}
	memset(load, 0, mal.segment.cpu_count * sizeof(load[0]));
	for (unsigned int i = 0; i < team; i++) {
		uint32_t at =
			atomic_load_explicit(&mal_thread_slot(&mal.segment, borrower, i)->cpu, memory_order_relaxed);

		if (at < mal.segment.cpu_count)
			load[at]++;
	}
	for (unsigned int i = team; i-- > 1;) {
		struct mal_thread_slot *slot = mal_thread_slot(&mal.segment, borrower, i);
		uint32_t at = atomic_load_explicit(&slot->cpu, memory_order_relaxed);
		int32_t tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);

		if (at >= mal.segment.cpu_count || load[at] < 2)
			continue;
		result = MAL_SPREAD_NOT_YET;
		if (tid <= 0 || !atomic_compare_exchange_strong(&slot->cpu, &at, cpu))
			continue;
		bind_to(slot, tid, cpu);
		return MAL_SPREAD_DONE;
	}
	return result;
}
