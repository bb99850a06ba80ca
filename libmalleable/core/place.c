/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * place.c: put the place of a rank's thread right, and bind the thread to it.
 *
 * Invariant: a thread is bound to a CPU that its rank may use now, or bound again
 * (t/unit/test_protocol.c: late_mask; t/t3002-moves.t).
 */
#include "libmalleable/core/place.h"

#include "libmalleable/base/clock.h"

/*
 * Retries of binding a thread whose place or CPU's word changed meanwhile: only a hostile rank
 * causes many.
 */
#define BIND_TRIES 64

static bool is_inside(const struct mal_placing *placing, uint32_t cpu)
{
	return cpu < placing->segment->cpu_count && mal_cpumask_has(placing->allocation, cpu);
}

static struct mal_cpu_state state_of(const struct mal_placing *placing, uint32_t cpu)
{
	return mal_word_read(&placing->segment->cpus[cpu].word);
}

bool mal_place_is_allowed(const struct mal_placing *placing, uint32_t cpu)
{
	struct mal_cpu_state state;

	if (!is_inside(placing, cpu))
		return false;
	state = state_of(placing, cpu);
	return state.user == placing->rank ||
	       (state.owner == placing->rank &&
		(placing->lent || (state.user == MAL_NOBODY && !state.lent)));
}

static bool is_used(const struct mal_placing *placing, uint32_t cpu)
{
	return is_inside(placing, cpu) && state_of(placing, cpu).user == placing->rank;
}

uint32_t mal_place_refuge(const struct mal_placing *placing, uint32_t home)
{
	if (is_used(placing, home))
		return home;
	for (uint32_t cpu = 0; cpu < placing->segment->cpu_count; cpu++)
		if (is_used(placing, cpu))
			return cpu;
	for (uint32_t cpu = 0; placing->lent && cpu < placing->segment->cpu_count; cpu++)
		if (mal_place_is_allowed(placing, cpu))
			return cpu;
	return MAL_NO_CPU;
}

bool mal_place_change(struct mal_thread_slot *slot, uint32_t *expected, uint32_t to)
{
	if (!atomic_compare_exchange_strong(&slot->cpu, expected, to))
		return false;
	atomic_store_explicit(&slot->from, *expected, memory_order_relaxed);
	atomic_store_explicit(&slot->moved, mal_ticks(), memory_order_relaxed);
	return true;
}

/*
 * The thread's place if its rank may use that CPU; else make a CPU that the rank uses its place.
 * MAL_NO_CPU: none.
 */
static uint32_t right_place(const struct mal_placing *placing, struct mal_thread_slot *slot)
{
	uint32_t cpu = atomic_load_explicit(&slot->cpu, memory_order_seq_cst);

	for (unsigned int i = 0; i < BIND_TRIES && cpu != MAL_NO_CPU; i++) {
		uint32_t to;

		if (mal_place_is_allowed(placing, cpu))
			return cpu;
		to = mal_place_refuge(placing,
				      atomic_load_explicit(&slot->home, memory_order_relaxed));
		if (to == MAL_NO_CPU)
			break;
		if (mal_place_change(slot, &cpu, to))
			cpu = to;
	}
	return MAL_NO_CPU;
}

/*
 * Several processes may do this at once, and the CPU may be reclaimed meanwhile. So one that
 * changes a place or a word does so first, and one that binds looks at both again afterwards: the
 * last one sees what all wrote. (BOUND may be wrong then; binding once more does no harm.)
 */
void mal_place_bind(const struct mal_placing *placing, struct mal_thread_slot *slot)
{
	for (unsigned int i = 0; i < BIND_TRIES; i++) {
		int32_t tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);
		uint32_t cpu = right_place(placing, slot);

		if (tid <= 0 || cpu == MAL_NO_CPU)
			return;
		atomic_store_explicit(&slot->bound_cpu, cpu, memory_order_relaxed);
		mal_bind_thread(tid, cpu);
		atomic_thread_fence(memory_order_seq_cst);
		/*
		 * A place that has changed is bound to once more, even if it changes back to CPU:
		 * whoever changed it may have bound the thread meanwhile.
		 */
		if (atomic_load_explicit(&slot->cpu, memory_order_seq_cst) == cpu &&
		    mal_place_is_allowed(placing, cpu) &&
		    atomic_load_explicit(&slot->tid, memory_order_relaxed) == tid)
			return;
	}
}
