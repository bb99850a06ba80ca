/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * request.h: which ranks may be granted CPUs or would borrow some, and which CPUs are free for
 * them.
 *
 * Nothing else writes these. What a rank asks is one word, so that none of it can contradict the
 * rest, and a lender that grants a CPU knows whether the region that it is for has ended: a rank
 * opens and closes its request, and lenders change an open one by compare-and-swap.
 */
#pragma once

#include "libmalleable/core/segment.h"

union mal_request {
	uint64_t word;
	struct {
		uint64_t borrower : 1; /* the rank would borrow */
		uint64_t open : 1;     /* a region runs that may keep CPUs that others grant */
		uint64_t asks : 1;     /* threads of that region share CPUs */
		uint64_t cpus : 12;  /* that it has, and that were granted, if taken back or not */
		uint64_t until : 49; /* when it should end with these, in 4096 ticks */
	};
};

_Static_assert(sizeof(union mal_request) == sizeof(uint64_t), "a request is one word");

/* Constant elsewhere, as the two words of hints: t/t0002-walls.t. */
static inline struct mal_request_slot *mal_request_own(const struct mal_segment *segment,
						       unsigned int rank)
{
	return (struct mal_request_slot *)&segment->requests[rank];
}

static inline union mal_request mal_request_read(const struct mal_segment *segment,
						 unsigned int rank)
{
	return (union mal_request){atomic_load(&segment->requests[rank].word)};
}

/*
 * The caller's region has begun at tick SINCE and may keep CPUs that others grant, beside the CPUS
 * that it has. By past runs it should end at tick UNTIL. ASKS: threads of it share CPUs.
 */
void mal_request_open(const struct mal_segment *segment, unsigned int rank, uint64_t since,
		      uint64_t until, unsigned int cpus, bool asks);

/*
 * The caller's region is over. CPUs granted from now on do not stay with it; earlier grants have
 * changed its mal_rank_slot.changes.
 */
static inline void mal_request_close(const struct mal_segment *segment, unsigned int rank)
{
	union mal_request bits = {.open = 1, .asks = 1};

	atomic_fetch_and(&mal_request_own(segment, rank)->word, ~bits.word);
	atomic_thread_fence(memory_order_seq_cst);
}

/*
 * RANK has got a CPU at tick NOW: its region should end earlier accordingly. False: it has ended.
 */
bool mal_request_grant(const struct mal_segment *segment, unsigned int rank, uint64_t now);

/* Whether threads of RANK's region share CPUs now. None does if the region has ended. */
void mal_request_ask(const struct mal_segment *segment, unsigned int rank, bool asks);

/* RANK has ended or died: it neither computes nor waits, and borrows nothing. */
void mal_request_forget(const struct mal_segment *segment, unsigned int rank);

/*
 * Update header.free_cpus after the word of CPU changed, or header.borrowers after the request of
 * RANK did. Called by the process that made the change; if that died, by any. The last to write
 * looks again afterwards, so that the bits end up right.
 */
void mal_free_check(const struct mal_segment *segment, unsigned int cpu);
void mal_borrower_check(const struct mal_segment *segment, unsigned int rank);

/* Whether RANK, the caller's, would borrow at all: others lend only while some rank would. */
static inline void mal_borrower_set(const struct mal_segment *segment, unsigned int rank,
				    bool borrower)
{
	if (mal_request_read(segment, rank).borrower == borrower)
		return;
	atomic_fetch_xor(&mal_request_own(segment, rank)->word,
			 (union mal_request){.borrower = 1}.word);
	mal_borrower_check(segment, rank);
}
