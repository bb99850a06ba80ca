/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decision.c: ask a policy under orders from outside, turn its counts into CPUs, and check the
 * plan.
 *
 * Invariant: orders hold whatever the policy wants (t/unit/test_orders.c; t/t3004-control.t).
 */
#include "policies/decide/decision.h"

#include <string.h>

#include "policies/interface/limits.h"
#include "policies/interface/plan_check.h"
#include "policies/mapping/mapping.h"

void mal_count_cpus(const unsigned int *owner, unsigned int cpus, unsigned int rank_count,
		    unsigned int *count)
{
	memset(count, 0, rank_count * sizeof(*count));
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (owner[cpu] < rank_count)
			count[owner[cpu]]++;
}

void mal_orders_open(struct mal_orders *orders, unsigned int rank_count, unsigned int cpu_count)
{
	*orders = (struct mal_orders){.rank_count = rank_count, .cpu_count = cpu_count};
	for (unsigned int cpu = 0; cpu < cpu_count; cpu++)
		orders->cpus[cpu] = rank_count;
}

bool mal_orders_any(const struct mal_orders *orders)
{
	if (orders->floor > 1)
		return true;
	for (unsigned int rank = 0; rank < orders->rank_count; rank++)
		if (orders->ranks[rank].exact || orders->ranks[rank].min || orders->ranks[rank].max)
			return true;
	return false;
}

void mal_orders_clear_rank(struct mal_orders *orders, unsigned int rank)
{
	orders->ranks[rank] = (struct mal_order){0};
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++)
		if (orders->cpus[cpu] == rank)
			orders->cpus[cpu] = orders->rank_count;
}

/* Does the policy choose the rank's number of CPUs, within bounds? */
static bool policy_decides(const struct mal_orders *orders, const struct mal_view *view,
			   unsigned int rank)
{
	return view->samples[rank].running && !orders->ranks[rank].exact;
}

static bool is_set(const struct mal_orders *orders, const struct mal_view *view, unsigned int rank)
{
	return rank < view->rank_count && view->samples[rank].running && orders->ranks[rank].exact;
}

/* Copy ORDERS, with the floor lowered to what all ranks can have. */
static struct mal_orders with_floor(const struct mal_orders *orders, const struct mal_view *view)
{
	unsigned int running = 0, cpus = 0;
	struct mal_orders within = *orders;

	/* Before the first samples it is not known who runs. */
	if (orders->floor < 2 || !view->samples)
		return within;
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		running += view->samples[rank].running;
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++)
		cpus += view->owner[cpu] < view->rank_count;
	if (running && cpus / running < orders->floor)
		within.floor = cpus / running;
	return within;
}

static unsigned int min_of(const struct mal_orders *orders, const struct mal_view *view,
			   unsigned int rank)
{
	const struct mal_order *order = &orders->ranks[rank];
	unsigned int min = orders->floor ? orders->floor : 1, max = view->samples[rank].max;

	if (order->min)
		return order->min;
	if (order->max && order->max < min)
		min = order->max;
	return max && max < min ? max : min;
}

static unsigned int max_of(const struct mal_orders *orders, unsigned int rank)
{
	return orders->ranks[rank].max ? orders->ranks[rank].max : orders->cpu_count;
}

int mal_orders_check(const struct mal_orders *orders, const struct mal_view *view,
		     struct mal_error *err)
{
	struct mal_orders within = with_floor(orders, view);
	unsigned int cpus = 0, min = 0, max = 0;
	const char *who = "the ranks";

	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++)
		cpus += !is_set(orders, view, orders->cpus[cpu]) &&
			view->owner[cpu] < view->rank_count &&
			view->samples[view->owner[cpu]].running;
	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		if (is_set(orders, view, rank))
			who = "the ranks whose CPUs are not set";
		if (!policy_decides(orders, view, rank))
			continue;
		min += min_of(&within, view, rank);
		max += max_of(orders, rank);
	}
	if (min > cpus)
		return mal_fail(err, "%s would need at least %u CPUs, and there are %u", who, min,
				cpus);
	if (max < cpus)
		return mal_fail(err, "%u CPU%s would belong to no rank: %s could have at most %u",
				cpus - max, mal_plural(cpus - max), who, max);
	return 0;
}

int mal_orders_set_cpus(struct mal_orders *orders, unsigned int rank, const bool *chosen,
			struct mal_error *err)
{
	unsigned int count = 0;

	mal_orders_clear_rank(orders, rank);
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++) {
		if (!chosen[cpu])
			continue;
		if (orders->cpus[cpu] < orders->rank_count)
			return mal_fail(err, "an order gives rank %u one of these CPUs",
					orders->cpus[cpu]);
		orders->cpus[cpu] = rank;
		count++;
	}
	orders->ranks[rank].exact = true;
	return count ? 0 : mal_fail(err, "a rank needs at least one CPU");
}

int mal_orders_set_bounds(struct mal_orders *orders, unsigned int rank, unsigned int min,
			  unsigned int max, struct mal_error *err)
{
	if (max && max < min)
		return mal_fail(err, "the minimum of %u CPUs is above the maximum of %u", min, max);
	mal_orders_clear_rank(orders, rank);
	orders->ranks[rank] = (struct mal_order){false, min, max};
	return 0;
}

/*
 * Find the rank with the fewest CPUs, or the most, of those about which the policy decides; the
 * number of ranks if there is none.
 */
static unsigned int find_rank(const struct mal_orders *orders, const struct mal_view *view,
			      const unsigned int *count, bool fewest)
{
	unsigned int found = orders->rank_count;

	for (unsigned int rank = 0; rank < orders->rank_count; rank++)
		if (policy_decides(orders, view, rank) &&
		    (found == orders->rank_count ||
		     (fewest ? count[rank] < count[found] : count[rank] > count[found])))
			found = rank;
	return found;
}

/*
 * Fill OWNER and COUNT with every rank that has an exact order on its CPUs. CPUs that those ranks
 * leave go to the ranks with fewest; a rank that lost all gets one from the rank with most. Returns
 * false if that is impossible.
 */
static bool place(const struct mal_orders *orders, const struct mal_view *view, unsigned int *owner,
		  unsigned int *count)
{
	memcpy(owner, view->owner, orders->cpu_count * sizeof(*owner));
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++)
		if (is_set(orders, view, orders->cpus[cpu]))
			owner[cpu] = orders->cpus[cpu];
	mal_count_cpus(owner, orders->cpu_count, orders->rank_count, count);
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++) {
		unsigned int taker;

		if (!is_set(orders, view, owner[cpu]) || orders->cpus[cpu] == owner[cpu])
			continue;
		taker = find_rank(orders, view, count, true);
		if (taker == orders->rank_count)
			return false;
		count[owner[cpu]]--;
		count[taker]++;
		owner[cpu] = taker;
	}
	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		unsigned int giver, cpu = 0;

		if (!policy_decides(orders, view, rank) || count[rank])
			continue;
		giver = find_rank(orders, view, count, false);
		if (count[giver] < 2)
			return false;
		while (owner[cpu] != giver)
			cpu++;
		owner[cpu] = rank;
		count[giver]--;
		count[rank]++;
	}
	return true;
}

/*
 * Find the rank that should gain or lose a CPU, by work per CPU, of those about which the policy
 * decides; the number of ranks: none.
 */
static unsigned int find_next(const struct mal_orders *orders, const struct mal_view *view,
			      const unsigned int *count, bool more)
{
	unsigned int found = orders->rank_count;
	double best = 0;

	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		double load = view->samples[rank].work_s / (count[rank] ? count[rank] : 1);

		if (!policy_decides(orders, view, rank) ||
		    (more ? count[rank] >= max_of(orders, rank)
			  : count[rank] <= min_of(orders, view, rank)))
			continue;
		if (found == orders->rank_count || (more ? load > best : load < best)) {
			found = rank;
			best = load;
		}
	}
	return found;
}

/* Bring COUNT within the bounds. Returns false if that is impossible. */
static bool bound(const struct mal_orders *orders, const struct mal_view *view, unsigned int *count,
		  bool *changed)
{
	long left = 0;

	*changed = false;
	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		unsigned int within = count[rank];

		if (!policy_decides(orders, view, rank))
			continue;
		within = within < min_of(orders, view, rank) ? min_of(orders, view, rank) : within;
		within = within > max_of(orders, rank) ? max_of(orders, rank) : within;
		*changed |= within != count[rank];
		left += (long)count[rank] - within;
		count[rank] = within;
	}
	while (left) {
		unsigned int rank = find_next(orders, view, count, left > 0);

		if (rank == orders->rank_count)
			return false;
		count[rank] += left > 0 ? 1 : -1u;
		left += left > 0 ? -1 : 1;
	}
	return true;
}

/* Fill SAMPLES with what the policy may see. */
static void mask(const struct mal_orders *orders, const struct mal_view *view,
		 const unsigned int *count, struct mal_sample *samples)
{
	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		unsigned int max = orders->ranks[rank].max;

		samples[rank] = view->samples[rank];
		samples[rank].cpus = count[rank];
		if (is_set(orders, view, rank))
			samples[rank] = (struct mal_sample){.running = false};
		else if (max && (!samples[rank].max || max < samples[rank].max))
			samples[rank].max = max;
	}
}

/* Check a plan; CPUs beyond a rank's maximum are no flaw if an order asks for them. */
static const char *check_plan(const struct mal_orders *orders, const struct mal_view *view,
			      const struct mal_plan *plan)
{
	struct mal_sample samples[MAL_MAX_RANKS];
	struct mal_view unbounded = *view;

	memcpy(samples, view->samples, view->rank_count * sizeof(samples[0]));
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (orders->ranks[rank].exact || orders->ranks[rank].min)
			samples[rank].max = 0;
	unbounded.samples = samples;
	return mal_plan_check(&unbounded, plan);
}

/* A loadable policy may return any number: map only counts that the node can have. */
static bool counts_are_possible(const struct mal_view *view, const struct mal_plan *plan)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (plan->count[rank] > view->topology->cpu_count)
			return false;
	return true;
}

static bool leaves_rank_without(const struct mal_view *view, const struct mal_plan *plan)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running && !plan->count[rank])
			return true;
	return false;
}

enum mal_decision mal_decide(const struct mal_policy *policy, void *state,
			     const struct mal_view *view, struct mal_plan *plan,
			     const char **rejection)
{
	unsigned int cpus = view->topology->cpu_count;

	*rejection = NULL;
	if (view->rank_count > MAL_MAX_RANKS || cpus > MAL_MAX_CPUS)
		return MAL_DECISION_NONE;
	/* Before the first samples no rank owns CPUs. */
	mal_count_cpus(view->owner, view->samples ? cpus : 0, view->rank_count, plan->count);
	if (plan->use)
		memset(plan->use, 0, view->rank_count * sizeof(plan->use[0]));
	memcpy(plan->owner, view->owner, cpus * sizeof(plan->owner[0]));
	if (policy->decide(state, view, plan) < 0)
		return MAL_DECISION_NONE;
	if (plan->broken) {
		*rejection = plan->broken;
		return MAL_DECISION_REJECTED;
	}
	if (!view->samples) {
		plan->move = false;
		return MAL_DECISION_MADE;
	}
	if (plan->move && leaves_rank_without(view, plan)) {
		*rejection = "it leaves a rank without a CPU";
		return MAL_DECISION_REJECTED;
	}
	if (plan->move && !counts_are_possible(view, plan)) {
		*rejection = "its CPUs do not match its counts";
		return MAL_DECISION_REJECTED;
	}
	if (plan->move && policy->map)
		policy->map(state, view, plan);
	else if (plan->move)
		mal_map(view, plan);
	*rejection = mal_plan_check(view, plan);
	return *rejection ? MAL_DECISION_REJECTED : MAL_DECISION_MADE;
}

enum mal_decision mal_decide_under(const struct mal_orders *orders, const struct mal_policy *policy,
				   void *state, const struct mal_view *view, struct mal_plan *plan,
				   const char **rejection)
{
	unsigned int owner[MAL_MAX_CPUS], count[MAL_MAX_RANKS];
	struct mal_sample samples[MAL_MAX_RANKS];
	struct mal_orders within = with_floor(orders, view);
	struct mal_view shown = *view;
	enum mal_decision decision = MAL_DECISION_MADE;
	size_t cpus = view->topology->cpu_count;
	bool changed;

	*rejection = NULL;
	if (view->rank_count > MAL_MAX_RANKS || cpus > MAL_MAX_CPUS)
		return MAL_DECISION_NONE;
	if (!view->samples || !mal_orders_any(orders) || !place(orders, view, owner, count))
		return policy ? mal_decide(policy, state, view, plan, rejection)
			      : MAL_DECISION_NONE;
	mask(orders, view, count, samples);
	shown.samples = samples;
	shown.owner = owner;
	if (policy)
		decision = mal_decide(policy, state, &shown, plan, rejection);
	if (decision == MAL_DECISION_REJECTED)
		return decision;
	if (!policy || decision == MAL_DECISION_NONE)
		memcpy(plan->owner, owner, cpus * sizeof(owner[0]));
	mal_count_cpus(plan->owner, orders->cpu_count, orders->rank_count, plan->count);
	if (bound(&within, &shown, plan->count, &changed) && changed)
		mal_map(&shown, plan);
	mal_count_cpus(plan->owner, orders->cpu_count, orders->rank_count, plan->count);
	plan->move = plan->bind && memcmp(plan->owner, view->owner, cpus * sizeof(owner[0])) != 0;
	*rejection = check_plan(orders, view, plan);
	return *rejection ? MAL_DECISION_REJECTED : MAL_DECISION_MADE;
}
