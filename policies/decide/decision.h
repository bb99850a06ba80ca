/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decision.h: ask a policy, turn its counts into CPUs, and check the plan, for all callers alike;
 * under orders from outside (malleable set): a rank's exact CPUs, or its minimum and maximum.
 *
 * Orders override every policy. The policy sees ranks with exact CPUs as ranks that do not run, so
 * it leaves their CPUs alone. Counts out of bounds are corrected after the policy has decided. The
 * model is DROM (D'Amico et al., "DROM: Enabling efficient and effortless malleability for resource
 * managers", ICPP 2018).
 */
#pragma once

#include "libmalleable/base/error.h"
#include "policies/interface/limits.h"
#include "policies/interface/policy.h"

enum mal_decision {
	MAL_DECISION_NONE,     /* the policy has no opinion: nothing changes */
	MAL_DECISION_MADE,     /* the plan holds */
	MAL_DECISION_REJECTED, /* the plan must not be carried out */
};

/*
 * Ask POLICY with its STATE about VIEW and fill PLAN. PLAN's arrays are the caller's; they start
 * with the present counts and owners. If the plan is unfit, *REJECTION is a static text that says
 * why, else NULL.
 */
enum mal_decision mal_decide(const struct mal_policy *policy, void *state,
			     const struct mal_view *view, struct mal_plan *plan,
			     const char **rejection);

/* Count in COUNT how many of the CPUS CPUs each of RANK_COUNT ranks owns, according to OWNER. */
void mal_count_cpus(const unsigned int *owner, unsigned int cpus, unsigned int rank_count,
		    unsigned int *count);

struct mal_order {
	bool exact;	  /* its CPUs are those in cpus[] */
	unsigned int min; /* 0: one */
	unsigned int max; /* 0: any number */
};

struct mal_orders {
	unsigned int rank_count, cpu_count;
	unsigned int floor; /* minimum for every rank if there are enough CPUs; 0: one */
	struct mal_order ranks[MAL_MAX_RANKS];
	unsigned int cpus[MAL_MAX_CPUS]; /* the rank ordered to have it, rank_count: none */
};

/* Start without orders. */
void mal_orders_open(struct mal_orders *orders, unsigned int rank_count, unsigned int cpu_count);

/* Is anything ordered? */
bool mal_orders_any(const struct mal_orders *orders);

/* Drop all orders for RANK: the policy decides about it again. */
void mal_orders_clear_rank(struct mal_orders *orders, unsigned int rank);

/*
 * Order that RANK has exactly the CPUs with CHOSEN true. Returns 0, or -1 with ERR: none is chosen,
 * or another rank was ordered to have one of them.
 */
int mal_orders_set_cpus(struct mal_orders *orders, unsigned int rank, const bool *chosen,
			struct mal_error *err);

/*
 * Order that RANK has at least MIN CPUs (0: one) and at most MAX (0: any number). Returns 0, or -1
 * with ERR: MIN is above MAX.
 */
int mal_orders_set_bounds(struct mal_orders *orders, unsigned int rank, unsigned int min,
			  unsigned int max, struct mal_error *err);

/*
 * Can ORDERS be carried out in VIEW? Returns 0, or -1 with ERR: ranks would have too few CPUs, or
 * CPUs would be left without an owner.
 */
int mal_orders_check(const struct mal_orders *orders, const struct mal_view *view,
		     struct mal_error *err);

/*
 * Decide as mal_decide does, but obey ORDERS. With POLICY NULL only the orders are
 * carried out, under the rules in PLAN. Orders that became impossible because ranks ended are
 * ignored.
 */
enum mal_decision mal_decide_under(const struct mal_orders *orders, const struct mal_policy *policy,
				   void *state, const struct mal_view *view, struct mal_plan *plan,
				   const char **rejection);
