/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bind.h: bind threads: those of a team to a CPU of their rank each, all others to all of its CPUs.
 *
 * Functions may be called from any thread where not said otherwise. In observe mode nothing is
 * bound.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/core/segment.h"

struct mal_rank;

/*
 * Place threads 0 .. TEAM-1 on our CPUs, neighbours together, and bind those whose place changed.
 * Threads that do not exist yet bind themselves when they start. Returns false if all were in
 * place. Primary thread, outside regions.
 */
bool mal_bind_team(struct mal_rank *rank, unsigned int team);

/* Bind the thread in SLOT, which is the calling one, to its place. */
void mal_bind_self(const struct mal_rank *rank, struct mal_thread_slot *slot);

/*
 * Bind all threads of this process that are in no team to all CPUs of our rank; to those that it
 * borrows too if it is unmanaged, as only then they are sent away again.
 */
void mal_bind_other_threads(const struct mal_rank *rank);

/* Bind the calling thread, which has just started, to these CPUs. */
void mal_bind_new_thread(const struct mal_rank *rank);

/*
 * If the calling thread is bound to one CPU by us, let it use those of WANTED that our rank owns
 * (all that it owns if these are none) until mal_bind_narrow(), so that processes it starts may
 * too. Returns whether it did. May be called in a child that shares our memory.
 */
bool mal_bind_widen(const struct mal_rank *rank, const struct mal_cpumask *wanted);
void mal_bind_narrow(const struct mal_rank *rank);

/*
 * The same until the thread's next region: a runtime that starts now believes in the CPUs that its
 * thread has. Some count these later only: COUNT lets one do so before threads are bound again.
 */
void mal_bind_release(struct mal_rank *rank);
void mal_bind_let_count(struct mal_rank *rank, int (*count)(void));

/* Whether MASK is the one CPU to which we bound thread TID (0: the calling one). */
bool mal_bind_is_ours(const struct mal_rank *rank, int32_t tid, const struct mal_cpumask *mask);

/* Whether all CPUs of MASK are our rank's own. */
bool mal_bind_owns(const struct mal_rank *rank, const struct mal_cpumask *mask);

/* Send the team's threads on a borrowed CPU home, idle ones too: they may spin there. */
void mal_bind_send_home(const struct mal_rank *rank, uint32_t cpu);

/* Our list of CPUs changed: the next mal_bind_team() must look at every thread. */
void mal_bind_outdate(struct mal_rank *rank);

/* The runtime may have moved the threads: forget where they are bound. */
void mal_bind_forget(struct mal_rank *rank);

/*
 * Send the threads of rank BORROWER on CPU to CPUs that this rank still uses. Returns the number of
 * threads sent away.
 */
unsigned int mal_bind_evict(const struct mal_rank *rank, unsigned int borrower, uint32_t cpu);

/* The result of an attempt to spread another rank's team. */
enum mal_spread {
	MAL_SPREAD_DONE,      /* a thread was sent */
	MAL_SPREAD_SATISFIED, /* every thread of the team has a CPU of its own */
	MAL_SPREAD_NOT_YET,   /* its threads are still starting */
};

/* What mal_bind_spread() would most likely return. Changes nothing. */
enum mal_spread mal_bind_can_spread(const struct mal_rank *rank, unsigned int borrower);

/* Send a thread of rank BORROWER that shares its CPU with another thread of its team to CPU. */
enum mal_spread mal_bind_spread(const struct mal_rank *rank, unsigned int borrower, uint32_t cpu);
