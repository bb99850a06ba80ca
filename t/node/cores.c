/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cores.c: queues of the cores: turns, ends of work, choice of a core, the price of a move. */
#include "cores.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void ring(struct node_thread *thread)
{
	atomic_fetch_add(&thread->bell, 1);
	syscall(SYS_futex, &thread->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void ring_all(struct node_table *table, const struct node_core *core)
{
	for (uint32_t tid = core->first; tid; tid = table->thread[tid].next)
		ring(&table->thread[tid]);
}

/* The pointer to the one that has TID; to the last one if nobody has. */
static uint32_t *link_to(struct node_table *table, struct node_core *core, uint32_t tid)
{
	uint32_t *link = &core->first;

	while (*link && *link != tid)
		link = &table->thread[*link].next;
	return link;
}

static void append(struct node_table *table, struct node_core *core, uint32_t tid)
{
	table->thread[tid].next = 0;
	*link_to(table, core, 0) = tid;
}

static void take_out(struct node_table *table, struct node_core *core, uint32_t tid)
{
	uint32_t *link = link_to(table, core, tid);

	if (*link)
		*link = table->thread[tid].next;
}

static void add_worked(struct node_table *table, struct node_thread *thread, uint64_t ns)
{
	thread->left -= ns;
	thread->used += ns;
	atomic_fetch_add(&thread->worked, ns);
	atomic_fetch_add(&table->thread[thread->process].all_worked, ns);
	atomic_fetch_add(&table->worked, ns);
}

void node_count(struct node_table *table, unsigned int number, uint64_t now)
{
	struct node_core *core = &table->core[number];

	while (core->first && core->at < now) {
		uint32_t tid = core->first;
		struct node_thread *thread = &table->thread[tid];
		uint64_t turn = thread->next ? table->slice - thread->used : thread->left;
		uint64_t run = least(least(thread->left, turn), now - core->at);

		add_worked(table, thread, run);
		core->at += run;
		if (!thread->left) {
			thread->ended = core->at;
			core->first = thread->next;
			core->last = tid;
			atomic_store(&thread->working, false);
		} else if (thread->next && thread->used >= table->slice) {
			core->first = thread->next;
			append(table, core, tid);
		}
		thread->used %= table->slice;
	}
}

/*
 * Of the others each has its turns until this one's last: as many as it, one less who comes after
 * it.
 */
uint64_t node_end(const struct node_table *table, uint32_t tid)
{
	const struct node_thread *thread = &table->thread[tid];
	const struct node_core *core = &table->core[thread->core - 1];
	uint64_t turns = (thread->left + thread->used + table->slice - 1) / table->slice;
	uint64_t end = core->at + thread->left;

	for (uint32_t other = core->first; other; other = table->thread[other].next) {
		const struct node_thread *there = &table->thread[other];

		if (other == tid)
			turns--;
		else if (turns)
			end += least(there->left, turns * table->slice - there->used);
	}
	return end;
}

/* How far a core is from another: 0 the same one, 1 the same L3, 2 the same socket, 3 else. */
static unsigned int distance(const struct node_table *table, unsigned int a, unsigned int b)
{
	const struct node_core *one = &table->core[a], *other = &table->core[b];

	return a == b ? 0 : one->l3 == other->l3 ? 1 : one->socket == other->socket ? 2 : 3;
}

/* Nobody works on it, but one that did a moment ago may go on. */
static bool is_awaited(const struct node_core *core, uint32_t tid, uint64_t now)
{
	return !core->first && core->last != tid && now < core->at + NODE_STAYS_NS;
}

/* How much speaks against a core: threads on it, one that may go on, the way there. */
static unsigned int against(struct node_table *table, uint32_t tid, unsigned int number,
			    uint64_t now)
{
	const struct node_thread *thread = &table->thread[tid];
	struct node_core *core = &table->core[number];
	unsigned int sum = thread->place ? distance(table, thread->place - 1, number) : 0;

	node_count(table, number, now);
	for (uint32_t other = core->first; other; other = table->thread[other].next)
		sum += other == tid ? 0 : 8;
	return sum + (is_awaited(core, tid, now) ? 4 : 0);
}

int node_choose_core(struct node_table *table, uint32_t tid, uint64_t now)
{
	const struct node_thread *thread = &table->thread[tid];
	unsigned int fewest = ~0u;
	int best = -1;

	for (unsigned int core = 0; core < table->cores && fewest; core++) {
		unsigned int sum;

		if (!node_mask_has(&thread->mask, core))
			continue;
		sum = node_mask_weight(&thread->mask) == 1 ? 0 : against(table, tid, core, now);
		if (sum < fewest) {
			fewest = sum;
			best = (int)core;
		}
	}
	return best;
}

/* The thread is on a core now: what it pays for another one than before, and for far memory. */
static void settle(struct node_table *table, struct node_thread *thread, unsigned int core)
{
	struct node_thread *process = &table->thread[thread->process];
	unsigned int way = thread->core ? distance(table, thread->core - 1, core) : 0;
	bool away;

	if (!process->home)
		process->home = table->core[process->place ? process->place - 1 : core].numa + 1;
	away = table->core[core].numa + 1 != process->home;
	if (way)
		thread->left += table->cold[way - 1];
	if (away != thread->away)
		thread->left =
			(uint64_t)((double)thread->left * (away ? table->slow : 1 / table->slow));
	thread->away = away;
	thread->core = core + 1;
	atomic_store(&thread->place, core + 1);
}

/* Put it at the end of a core's queue, or before the others if it still has its turn. */
static void put_in(struct node_table *table, uint32_t tid, unsigned int number, uint64_t begin)
{
	struct node_thread *thread = &table->thread[tid];
	struct node_core *core = &table->core[number];
	bool stays = thread->core == number + 1 && core->last == tid && thread->used &&
		     begin < thread->ended + NODE_STAYS_NS;

	node_count(table, number, begin);
	if (core->at < begin)
		core->at = begin;
	settle(table, thread, number);
	if (!stays)
		thread->used = 0;
	atomic_store(&thread->working, true);
	if (stays) {
		thread->next = core->first;
		core->first = tid;
	} else {
		append(table, core, tid);
	}
}

uint64_t node_begin(struct node_table *table, uint32_t tid, uint64_t ns, uint64_t begin)
{
	struct node_thread *thread = &table->thread[tid];
	int core = node_choose_core(table, tid, begin);

	thread->left = ns;
	thread->away = false;
	put_in(table, tid, (unsigned int)core, begin);
	return table->core[core].at;
}

static void move_to(struct node_table *table, uint32_t tid, unsigned int core, uint64_t now)
{
	node_drop(table, tid, now);
	put_in(table, tid, core, now);
	ring(&table->thread[tid]);
}

void node_move(struct node_table *table, uint32_t tid, uint64_t now)
{
	struct node_thread *thread = &table->thread[tid];
	unsigned int from = thread->working ? thread->core - 1 : thread->place - 1;
	int to;

	if (thread->working)
		node_count(table, from, now);
	if (thread->place && node_mask_has(&thread->mask, from))
		return;
	to = node_choose_core(table, tid, now);
	if (!thread->working) {
		atomic_store(&thread->place, (uint32_t)to + 1);
		return;
	}
	move_to(table, tid, (unsigned int)to, now);
}

void node_balance(struct node_table *table, uint32_t tid, uint64_t now)
{
	struct node_thread *thread = &table->thread[tid];
	int to = node_choose_core(table, tid, now);

	if (thread->working && !table->core[to].first && !is_awaited(&table->core[to], tid, now))
		move_to(table, tid, (unsigned int)to, now);
}

void node_drop(struct node_table *table, uint32_t tid, uint64_t now)
{
	struct node_thread *thread = &table->thread[tid];
	struct node_core *core;

	if (!thread->working)
		return;
	core = &table->core[thread->core - 1];
	node_count(table, thread->core - 1, now);
	take_out(table, core, tid);
	atomic_store(&thread->working, false);
	ring_all(table, core);
}
