/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * request.c: which ranks may be granted CPUs or would borrow some, and which CPUs are free for
 * them.
 *
 * Invariant: of a region and a grant that meet, the rank sees the grant or the lender the region's
 * end (t/unit/stress_word.c).
 */
#include "libmalleable/core/request.h"

#define UNTIL_SHIFT 12

void mal_request_open(const struct mal_segment *segment, unsigned int rank, uint64_t since,
		      uint64_t until, unsigned int cpus, bool asks)
{
	union mal_request request = {.borrower = mal_request_read(segment, rank).borrower,
				     .open = 1,
				     .asks = asks,
				     .cpus = cpus,
				     .until = until >> UNTIL_SHIFT};

	atomic_store_explicit(&mal_request_own(segment, rank)->since, since, memory_order_relaxed);
	atomic_store_explicit(&mal_request_own(segment, rank)->word, request.word,
			      memory_order_release);
}

bool mal_request_grant(const struct mal_segment *segment, unsigned int rank, uint64_t now)
{
	union mal_request old = mal_request_read(segment, rank), request;

	now >>= UNTIL_SHIFT;
	do {
		request = old;
		if (!old.open)
			return false;
		if (old.until > now)
			request.until = now + (old.until - now) * old.cpus / (old.cpus + 1);
		request.cpus += old.cpus < MAL_MAX_CPUS;
	} while (!atomic_compare_exchange_weak(&mal_request_own(segment, rank)->word, &old.word,
					       request.word));
	return true;
}

void mal_request_ask(const struct mal_segment *segment, unsigned int rank, bool asks)
{
	union mal_request old = mal_request_read(segment, rank), request;

	do {
		request = old;
		request.asks = asks && old.open;
	} while (!atomic_compare_exchange_weak(&mal_request_own(segment, rank)->word, &old.word,
					       request.word));
}

void mal_request_forget(const struct mal_segment *segment, unsigned int rank)
{
	atomic_store(&mal_request_own(segment, rank)->word, 0);
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store(&segment->ranks[rank].waiting_since, 0);
	mal_borrower_check(segment, rank);
}

static void set_bit(const _Atomic uint64_t *hints, unsigned int bit, bool set)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)hints;

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
		if (mal_request_read(segment, i).borrower)
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
