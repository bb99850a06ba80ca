/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * word.h: the fast-path word of a CPU: who owns it, who uses it, whether it is lent.
 *
 * Every transition is one compare-and-swap on one 64-bit word. There is no lock, so a process may die between
 * any two instructions and the word stays valid. A generation in the word makes every state distinct, so a
 * comparison never succeeds on an old value (ABA). LeWI's lend, borrow and reclaim (Garcia et al., ICPP 2009)
 * are the model; the word is ours.
 *
 *   owner == user, not lent      the owner computes on it
 *   owner != user, lent          the user borrowed it
 *   no user, lent                free: whoever asks first borrows it
 *   no user, not lent            moved: its new owner has not come yet
 */
#ifndef MAL_CORE_WORD_H
#define MAL_CORE_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* No rank. */
#define MAL_NOBODY 0xffffu

/* The word, taken apart. */
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

	return (uint64_t)(state.owner & 0xffff) | (uint64_t)(state.user & 0xffff) << 16 | (uint64_t)state.lent << 32 |
	       generation << 33;
}

static inline struct mal_cpu_state mal_word_read(const mal_word *word)
{
	return mal_word_unpack(atomic_load_explicit(word, memory_order_acquire));
}

/* Replace *OLD by NEXT if the word is still *OLD; otherwise *OLD becomes what it is now. */
static inline bool mal_word_replace(mal_word *word, uint64_t *old, struct mal_cpu_state next)
{
	return atomic_compare_exchange_strong_explicit(word, old, mal_word_pack(*old, next), memory_order_acq_rel,
						       memory_order_acquire);
}

/* Set the word whatever it was; only while nobody else looks (creation, recovery of a whole segment). */
void mal_word_set(mal_word *word, struct mal_cpu_state state);

/* ME, owner and user, leaves its CPU to whoever wants it. False if ME is not both. */
bool mal_word_lend(mal_word *word, unsigned int me);

/* ME, owner, gives its own or free CPU to TO, who borrows it. False if ME is not the owner or it has a borrower. */
bool mal_word_grant(mal_word *word, unsigned int me, unsigned int to);

/* ME takes a free CPU of another owner. False if it is not lent or has a user. */
bool mal_word_borrow(mal_word *word, unsigned int me);

/* ME stops using a borrowed CPU: it is free again. False if ME was not the borrower (any more). */
bool mal_word_release(mal_word *word, unsigned int me);

/*
 * ME, owner, takes its lent CPU back, whoever uses it. Returns the borrower whose threads ME must now send away,
 * or MAL_NOBODY: nobody used it, ME has it already, or ME is not its owner.
 */
unsigned int mal_word_reclaim(mal_word *word, unsigned int me);

/*
 * ME, owner, gives the CPU to TO for good. ME's threads must have left it. A borrower stays and TO may reclaim.
 * False if ME is not the owner.
 */
bool mal_word_move(mal_word *word, unsigned int me, unsigned int to);

/* ME enters a CPU that was moved to it. False if it has a user, or is not ME's, or is lent. */
bool mal_word_take(mal_word *word, unsigned int me);

/* Nobody's CPU becomes TO's, who has to take it. False if it has an owner. For the controller alone. */
bool mal_word_give(mal_word *word, unsigned int to);

/*
 * Whoever owns or uses the CPU has lost it: it is nobody's. Returns what was: threads of a user must be sent away. For the
 * controller alone.
 */
struct mal_cpu_state mal_word_revoke(mal_word *word);

/*
 * The rank DEAD is gone: what it borrowed becomes free, what it owned becomes free for good (owner stays, lent).
 * Returns true if the word changed.
 */
bool mal_word_recover(mal_word *word, unsigned int dead);

#endif
