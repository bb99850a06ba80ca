/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cpuword.c: transitions of a CPU's fast-path word. */
#include "libmalleable/core/cpuword.h"

bool mal_word_replace(mal_word *word, uint64_t *old, struct mal_cpu_state next)
{
	bool replaced = atomic_compare_exchange_strong_explicit(
		word, old, mal_word_pack(*old, next), memory_order_acq_rel, memory_order_acquire);

	atomic_thread_fence(memory_order_seq_cst);
	return replaced;
}

void mal_word_set(mal_word *word, struct mal_cpu_state state)
{
	atomic_store_explicit(word, mal_word_pack(atomic_load(word), state), memory_order_release);
}

bool mal_word_lend(mal_word *word, unsigned int me)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	for (;;) {
		struct mal_cpu_state now = mal_word_unpack(old);

		if (now.owner != me || now.user != me || now.lent)
			return false;
		now.user = MAL_NOBODY;
		now.lent = true;
		if (mal_word_replace(word, &old, now))
			return true;
	}
}

bool mal_word_grant(mal_word *word, unsigned int me, unsigned int to)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	for (;;) {
		struct mal_cpu_state now = mal_word_unpack(old);

		if (now.owner != me || to == me || (now.user != me && now.user != MAL_NOBODY))
			return false;
		if (now.user == me ? now.lent : !now.lent)
			return false;
		now.user = to;
		now.lent = true;
		if (mal_word_replace(word, &old, now))
			return true;
	}
}

bool mal_word_borrow(mal_word *word, unsigned int me)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	for (;;) {
		struct mal_cpu_state now = mal_word_unpack(old);

		if (!now.lent || now.user != MAL_NOBODY || now.owner == me)
			return false;
		now.user = me;
		if (mal_word_replace(word, &old, now))
			return true;
	}
}

bool mal_word_release(mal_word *word, unsigned int me)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	for (;;) {
		struct mal_cpu_state now = mal_word_unpack(old);

		if (!now.lent || now.user != me)
			return false;
		now.user = MAL_NOBODY;
		if (mal_word_replace(word, &old, now))
			return true;
	}
}

unsigned int mal_word_reclaim(mal_word *word, unsigned int me)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	for (;;) {
		struct mal_cpu_state now = mal_word_unpack(old);
		unsigned int borrower = now.user;

		if (now.owner != me || !now.lent)
			return MAL_NOBODY;
		now.user = me;
		now.lent = false;
		if (mal_word_replace(word, &old, now))
			return borrower == me ? MAL_NOBODY : borrower;
	}
}

bool mal_word_move(mal_word *word, unsigned int me, unsigned int to)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	for (;;) {
		struct mal_cpu_state now = mal_word_unpack(old);

		if (now.owner != me || to == me)
			return false;
		now.owner = to;
		if (now.user == me || now.user == MAL_NOBODY) {
			now.user = MAL_NOBODY;
			now.lent = false;
		} else if (now.user == to) {
			now.lent = false;
		}
		if (mal_word_replace(word, &old, now))
			return true;
	}
}

bool mal_word_take(mal_word *word, unsigned int me)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	for (;;) {
		struct mal_cpu_state now = mal_word_unpack(old);

		if (now.owner != me || now.user != MAL_NOBODY || now.lent)
			return false;
		now.user = me;
		if (mal_word_replace(word, &old, now))
			return true;
	}
}

bool mal_word_give(mal_word *word, unsigned int to)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	while (mal_word_unpack(old).owner == MAL_NOBODY)
		if (mal_word_replace(word, &old, (struct mal_cpu_state){to, MAL_NOBODY, false}))
			return true;
	return false;
}

struct mal_cpu_state mal_word_revoke(mal_word *word)
{
	const struct mal_cpu_state nobodys = {MAL_NOBODY, MAL_NOBODY, false};
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);
	struct mal_cpu_state before;

	do
		before = mal_word_unpack(old);
	while (!mal_word_replace(word, &old, nobodys));
	return before;
}

bool mal_word_recover(mal_word *word, unsigned int dead)
{
	uint64_t old = atomic_load_explicit(word, memory_order_acquire);

	for (;;) {
		struct mal_cpu_state now = mal_word_unpack(old);

		if (now.owner != dead && now.user != dead)
			return false;
		if (now.owner == dead && now.lent && now.user != dead)
			return false;
		if (now.user == dead)
			now.user = MAL_NOBODY;
		if (now.owner == dead)
			now.lent = true;
		if (mal_word_replace(word, &old, now))
			return true;
	}
}
