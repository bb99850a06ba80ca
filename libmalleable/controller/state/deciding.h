/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* deciding.h: the policy that decides, orders from outside, and what came of them so far. */
#ifndef MAL_CONTROLLER_STATE_DECIDING_H
#define MAL_CONTROLLER_STATE_DECIDING_H

#include "libmalleable/controller/state/controller.h"
#include "policies/decide/orders.h"
#include "policies/interface/policy.h"

/* No policy yet, and no orders. NULL: out of memory. */
struct mal_deciding *mal_deciding_create(const struct mal_step_facts *step);

/* The policy ends too. NULL-safe. */
void mal_deciding_destroy(struct mal_deciding *deciding);

/*
 * POLICY with VALUES decides from now on, in place of the one before; NULL: none does. Returns 0,
 * or -1 with ERR: it does not start, and the one before stays.
 */
int mal_deciding_use(struct mal_controller *controller, const struct mal_policy *policy,
		     const double *values, struct mal_error *err);

/* The policy that decides now: malleable set may have changed it. */
const struct mal_policy *mal_deciding_policy(const struct mal_controller *controller);

/*
 * The policy broke its word, as WHY says (static storage): the step is only observed from now on.
 */
void mal_deciding_reject(struct mal_controller *controller, const char *why);

/* Why the policy was rejected, NULL: it was not. */
const char *mal_deciding_rejected(const struct mal_controller *controller);

/* May threads be bound, and may CPUs change hands? Not while they are only observed. */
bool mal_deciding_binds(const struct mal_controller *controller);
void mal_deciding_set_binds(struct mal_controller *controller, bool binds);

/* RULES (MAL_RULE_...) hold for the ranks from now on. */
void mal_deciding_set_rules(struct mal_controller *controller, uint32_t rules);

/* What is ordered from outside. */
const struct mal_orders *mal_deciding_orders(const struct mal_controller *controller);
void mal_deciding_set_orders(struct mal_controller *controller, const struct mal_orders *orders);

/* Ask the policy, under the orders (mal_decide_under). */
enum mal_decision mal_deciding_ask(struct mal_controller *controller, const struct mal_view *view,
				   struct mal_plan *plan, const char **rejection);

/*
 * What the policy measured, for the report, by its last decision: the time of a phase with moves
 * (lending) over that without. 0: not compared.
 */
double mal_deciding_move_times(const struct mal_controller *controller);
double mal_deciding_lend_times(const struct mal_controller *controller);

/* Plans so far; the number of a new one. */
uint32_t mal_deciding_plans(const struct mal_controller *controller);
uint32_t mal_deciding_next_plan(struct mal_controller *controller);

#endif
