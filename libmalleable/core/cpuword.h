/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpuword.h: the fast-path word of a CPU: its owner, its user, and whether it is lent.
 *
 * Every transition is one compare-and-swap on one 64-bit word. There is no lock, so a process may
 * die between any two instructions and the word stays valid. A generation in the word makes every
 * state distinct, so a comparison never succeeds on an old value (ABA). The transitions are
 * modelled on LeWI's lend, borrow and reclaim (Garcia et al., ICPP 2009).
 *
 * - owner == user, not lent: the owner computes on it
 * - owner != user, lent: the user borrowed it
 * - no user, lent: free, the first rank that asks borrows it
 * - no user, not lent: moved, its new owner has not taken it yet
 *
 * All functions are safe between threads and processes, where not said otherwise.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* No rank. */
#define MAL_NOBODY 0xffffu

/* The word, unpacked. */
struct mal_cpu_state {
	unsigned int owner;
	unsigned int user;
	bool lent;
};

typedef _Atomic uint64_t mal_word;

static inline struct mal_cpu_state mal_word_unpack(uint64_t value)
{
	return (struct mal_cpu_state){
		.owner = (unsigned int)(value & 0xffff),
		.user = (unsigned int)(value >> 16 & 0xffff),
		.lent = value >> 32 & 1,
	};
}

static inline uint64_t mal_word_pack(uint64_t generation_of, struct mal_cpu_state state)
{
	uint64_t generation = (generation_of >> 33) + 1;

	return (uint64_t)(state.owner & 0xffff) | (uint64_t)(state.user & 0xffff) << 16 |
	       (uint64_t)state.lent << 32 | generation << 33;
}

static inline struct mal_cpu_state mal_word_read(const mal_word *word)
{
	return mal_word_unpack(atomic_load_explicit(word, memory_order_acquire));
}

/*
 * Replace *OLD by NEXT if the word is still *OLD; otherwise set *OLD to the current value. The
 * caller's next reads come after the change, also on weakly ordered CPUs. So if one changes a word
 * and then reads the places of threads, and another writes a place and then reads the word, at
 * least one of them sees the other's write.
 */
bool mal_word_replace(mal_word *word, uint64_t *old, struct mal_cpu_state next);

/* Set the word unconditionally. Only while no other process uses the segment. */
void mal_word_set(mal_word *word, struct mal_cpu_state state);

/* ME, owner and user, lends its CPU. False if ME is not both. */
bool mal_word_lend(mal_word *word, unsigned int me);

/*
 * ME, owner, lends its own or free CPU to TO. False if ME is not the owner or the CPU has a
 * borrower.
 */
bool mal_word_grant(mal_word *word, unsigned int me, unsigned int to);

/* ME borrows a free CPU of another owner. False if it is not lent or has a user. */
bool mal_word_borrow(mal_word *word, unsigned int me);

/*
 * ME returns a borrowed CPU, which is free again. False if ME is not, or no longer, the borrower.
 */
bool mal_word_release(mal_word *word, unsigned int me);

/*
 * ME, owner, takes its lent CPU back from any user. Returns the borrower whose threads ME must now
 * send away, or MAL_NOBODY: it had no user, ME has it already, or ME is not its owner.
 */
unsigned int mal_word_reclaim(mal_word *word, unsigned int me);

/*
 * ME, owner, gives the CPU to TO for good, after its threads have left it. A borrower stays, and TO
 * may reclaim. False if ME is not the owner.
 */
bool mal_word_move(mal_word *word, unsigned int me, unsigned int to);

/* ME takes a CPU that was moved to it. False if it has a user, is not ME's, or is lent. */
bool mal_word_take(mal_word *word, unsigned int me);

/*
 * Give a CPU that has no owner to TO, who has to take it. False if it has an owner. Controller
 * only.
 */
bool mal_word_give(mal_word *word, unsigned int to);

/*
 * Take the CPU from its owner and user: it has none then. Returns the state before; the threads of
 * a user must be sent away. Controller only.
 */
struct mal_cpu_state mal_word_revoke(mal_word *word);

/*
 * The rank DEAD is gone: a CPU that it borrowed becomes free, one that it owned becomes free for
 * good (the owner stays, lent). Returns whether the word changed.
 */
bool mal_word_recover(mal_word *word, unsigned int dead);
