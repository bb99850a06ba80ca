/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * planning.h: from samples to a plan in the segment, by way of the policy.
 *
 * Invariant: No plan that mal_plan_check() refuses reaches the segment (t/unit/test_planning.c:
 * leaves_rank_without).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"
#include "policies/interface/policy.h"

/* No policy yet, and no orders. */
void mal_plan_open(struct mal_controller *controller);

/* The policy ends too. Safe on a controller that is all 0. */
void mal_plan_close(struct mal_controller *controller);

/*
 * POLICY with VALUES decides from now on, in place of the one before; NULL: none does. Returns 0,
 * or -1 with ERR: it does not start, and the one before stays.
 */
int mal_plan_set_policy(struct mal_controller *controller, const struct mal_policy *policy,
			const double *values, struct mal_error *err);

/*
 * Ask the policy, check its plan, and publish it. WINDOW is NULL at the start of the step. Returns
 * true if CPUs move. A policy whose plan is unfit is not asked again: the step is only observed
 * from then on.
 */
bool mal_plan_make(struct mal_controller *controller, const struct mal_window *window);

/*
 * CPUs go back to OWNER, by CPU of the step, as far as orders allow it. Those that were withdrawn
 * or handed out since stay so.
 */
void mal_plan_take_back(struct mal_controller *controller, const unsigned int *owner);

/* The policy begins: its rules hold from now on, before there are samples. */
void mal_plan_begin(struct mal_controller *controller);

/* Ranks get back the CPUs that Slurm gave them, and lend none. */
void mal_plan_home(struct mal_controller *controller);

/*
 * ORDERS from outside hold from now on, and are carried out at once, without the policy. Returns 0,
 * or -1 with ERR, and nothing changes: CPUs would have to change hands at one moment.
 */
int mal_plan_obey(struct mal_controller *controller, const struct mal_orders *orders,
		  struct mal_error *err);

/* Room for a view of things as they are. */
struct mal_planning {
	struct mal_topology topology;
	struct mal_view view;
	unsigned int owner[MAL_MAX_CPUS];
	struct mal_sample samples[MAL_MAX_RANKS];
};

/* Fill PLANNING: who runs, with how many CPUs, and what it did in the last window. */
const struct mal_view *mal_planning_view(const struct mal_controller *controller,
					 struct mal_planning *planning);
