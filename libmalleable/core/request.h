/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * request.h: which ranks may be granted CPUs or would borrow some, and which CPUs are free for
 * them.
 *
 * Nothing else writes these. A rank opens and closes its request; lenders change one that is open.
 */
#ifndef MAL_CORE_REQUEST_H
#define MAL_CORE_REQUEST_H

#include "libmalleable/core/segment.h"

/*
 * RANK's region has begun at tick SINCE and may keep CPUs that others grant, beside the CPUS that
 * it has. It is expected to end at tick UNTIL. ASKS: threads of it share CPUs.
 */
void mal_request_open(const struct mal_segment *segment, unsigned int rank, uint64_t since,
		      uint64_t until, unsigned int cpus, bool asks);

/* Whether threads of RANK's region share CPUs: lenders look for such ranks. */
static inline void mal_request_ask(const struct mal_segment *segment, unsigned int rank, bool asks)
{
	_Atomic uint64_t *word = &segment->header->requests[rank / 64];
	uint64_t bit = UINT64_C(1) << rank % 64;

	if (asks)
		atomic_fetch_or_explicit(word, bit, memory_order_release);
	else
		atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed);
}

/*
 * RANK's region is over. CPUs granted from now on do not stay with it; earlier grants have changed
 * its mal_rank_slot.changes.
 */
static inline void mal_request_close(const struct mal_segment *segment, unsigned int rank)
{
	atomic_store_explicit(&segment->ranks[rank].request_since, 0, memory_order_relaxed);
	mal_request_ask(segment, rank, false);
	atomic_thread_fence(memory_order_seq_cst);
}

/* Whether RANK may be granted CPUs. */
static inline bool mal_request_is_open(const struct mal_segment *segment, unsigned int rank)
{
	return atomic_load_explicit(&segment->ranks[rank].request_since, memory_order_seq_cst) != 0;
}

/* RANK was granted a CPU at tick NOW: expect its region to end earlier accordingly. */
void mal_request_grant(const struct mal_segment *segment, unsigned int rank, uint64_t now);

/* Threads of RANK's region share CPUs again, if that is still open. */
void mal_request_ask_again(const struct mal_segment *segment, unsigned int rank);

/* RANK has ended or died: it neither computes nor waits, and borrows nothing. */
void mal_request_forget(const struct mal_segment *segment, unsigned int rank);

/*
 * Update header.free_cpus after the word of CPU changed, or header.borrowers after
 * mal_rank_slot.borrower of RANK did. Called by the process that made the change; if that died, by
 * any. The last to write looks again afterwards, so that the bits end up right.
 */
void mal_free_check(const struct mal_segment *segment, unsigned int cpu);
void mal_borrower_check(const struct mal_segment *segment, unsigned int rank);

/* Whether RANK, the caller's, would borrow at all: others lend only while some rank would. */
static inline void mal_borrower_set(const struct mal_segment *segment, unsigned int rank,
				    bool borrower)
{
	_Atomic uint32_t *now = &segment->ranks[rank].borrower;

	if (atomic_load_explicit(now, memory_order_relaxed) == borrower)
		return;
	atomic_store(now, borrower);
	mal_borrower_check(segment, rank);
}

#endif
