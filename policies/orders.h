/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * orders.h: what is set for ranks from outside (malleable set): the CPUs they are to have, or the least and the most of them.
 *
 * Orders stand above every policy. Ranks whose CPUs are set exactly are shown to the policy as ranks that do not run,
 * whose CPUs it leaves alone; numbers out of bounds are put right after it has decided. DROM (D'Amico et al., "DROM: Enabling
 * efficient and effortless malleability for resource managers", ICPP 2018) is the model.
 */
#ifndef MAL_POLICIES_ORDERS_H
#define MAL_POLICIES_ORDERS_H

#include "libmalleable/core/error.h"
#include "policies/decision.h"

struct mal_order {
	bool exact;	    /* its CPUs are those in cpus[] */
	unsigned int least; /* 0: one */
	unsigned int most;  /* 0: any number */
};

struct mal_orders {
	unsigned int rank_count, cpu_count;
	unsigned int floor; /* the least for every rank, where there are enough CPUs for all; 0: one */
	struct mal_order *ranks;
	unsigned int *cpus; /* by CPU: the rank that is to have it, rank_count: none */
};

/* No orders yet. Returns 0, or -1: out of memory. */
int mal_orders_open(struct mal_orders *orders, unsigned int rank_count, unsigned int cpu_count);

/* TO, that is open and as large, becomes as FROM. */
void mal_orders_copy(struct mal_orders *to, const struct mal_orders *from);

/* Safe on one that is all 0. */
void mal_orders_close(struct mal_orders *orders);

/* Is anything ordered? */
bool mal_orders_any(const struct mal_orders *orders);

/* RANK is the policy's again. */
void mal_orders_free(struct mal_orders *orders, unsigned int rank);

/* RANK is to have exactly the CPUs with CHOSEN true. Returns 0, or -1 with ERR: none is chosen, or another is to have one of them. */
int mal_orders_set_cpus(struct mal_orders *orders, unsigned int rank, const bool *chosen, struct mal_error *err);

/* RANK is to have LEAST CPUs at least (0: one) and MOST at most (0: any number). Returns 0, or -1 with ERR: that cannot be. */
int mal_orders_set_bounds(struct mal_orders *orders, unsigned int rank, unsigned int least, unsigned int most,
			  struct mal_error *err);

/*
 * Can they be carried out, as things are in VIEW? Returns 0, or -1 with ERR: ranks would have too few CPUs, or CPUs would be left to
 * nobody.
 */
int mal_orders_check(const struct mal_orders *orders, const struct mal_view *view, struct mal_error *err);

/*
 * As mal_decide (decision.h), under ORDERS. POLICY NULL: only they are carried out, from the rules in PLAN. Orders that can no
 * longer be carried out, since ranks have ended, are passed over.
 */
enum mal_decision mal_decide_under(const struct mal_orders *orders, const struct mal_policy *policy, void *state,
				   const struct mal_view *view, struct mal_plan *plan, const char **flaw);

#endif
