/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * request.c: which ranks may be granted CPUs or would borrow some, and which CPUs are free for
 * them.
 *
 * Invariant: no rank asks whose region is over (t/unit/test_protocol.c: late_request).
 */
#include "libmalleable/core/request.h"

void mal_request_open(const struct mal_segment *segment, unsigned int rank, uint64_t since,
		      uint64_t until, unsigned int cpus, bool asks)
{
	struct mal_rank_slot *slot = &segment->ranks[rank];

	atomic_store_explicit(&slot->request_since, since, memory_order_relaxed);
	atomic_store_explicit(&slot->request_until, until, memory_order_relaxed);
	atomic_store_explicit(&slot->request_cpus, cpus, memory_order_relaxed);
	if (asks)
		mal_request_ask(segment, rank, true);
}

void mal_request_grant(const struct mal_segment *segment, unsigned int rank, uint64_t now)
{
	struct mal_rank_slot *slot = &segment->ranks[rank];
	uint64_t until = atomic_load_explicit(&slot->request_until, memory_order_relaxed);
	uint32_t cpus = atomic_fetch_add_explicit(&slot->request_cpus, 1, memory_order_relaxed);

	if (until > now && cpus < MAL_MAX_CPUS)
		atomic_store_explicit(&slot->request_until, now + (until - now) * cpus / (cpus + 1),
				      memory_order_relaxed);
}

void mal_request_ask_again(const struct mal_segment *segment, unsigned int rank)
{
	bool open;

	do {
		open = mal_request_is_open(segment, rank);
		mal_request_ask(segment, rank, open);
		atomic_thread_fence(memory_order_seq_cst);
	} while (open != mal_request_is_open(segment, rank));
}

void mal_request_forget(const struct mal_segment *segment, unsigned int rank)
{
	mal_request_close(segment, rank);
	atomic_store(&segment->ranks[rank].waiting_since, 0);
	atomic_store(&segment->ranks[rank].borrower, false);
	mal_borrower_check(segment, rank);
}

static void set_bit(_Atomic uint64_t *word, unsigned int bit, bool set)
{
	if (set)
		atomic_fetch_or(word, UINT64_C(1) << bit);
	else
		atomic_fetch_and(word, ~(UINT64_C(1) << bit));
	atomic_thread_fence(memory_order_seq_cst);
}

/* Whether a CPU is free among those that share CPU's bit. */
static bool any_free(const struct mal_segment *segment, unsigned int cpu)
{
	for (unsigned int i = cpu % 64; i < segment->cpu_count; i += 64) {
		struct mal_cpu_state state = mal_word_read(&segment->cpus[i].word);

		if (state.lent && state.user == MAL_NOBODY)
			return true;
	}
	return false;
}

void mal_free_check(const struct mal_segment *segment, unsigned int cpu)
{
	bool any;

	do {
		any = any_free(segment, cpu);
		set_bit(&segment->header->free_cpus, cpu % 64, any);
	} while (any != any_free(segment, cpu));
}

static bool any_borrower(const struct mal_segment *segment, unsigned int rank)
{
	for (unsigned int i = rank % 64; i < segment->rank_count; i += 64)
		if (atomic_load(&segment->ranks[i].borrower))
			return true;
	return false;
}

void mal_borrower_check(const struct mal_segment *segment, unsigned int rank)
{
	bool any;

	do {
		any = any_borrower(segment, rank);
		set_bit(&segment->header->borrowers, rank % 64, any);
	} while (any != any_borrower(segment, rank));
}
