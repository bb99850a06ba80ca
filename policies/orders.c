/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orders.c: what is set for ranks from outside, and plans under it. */
#include "policies/orders.h"

#include <stdlib.h>
#include <string.h>

#include "policies/check.h"
#include "policies/mapping.h"

int mal_orders_open(struct mal_orders *orders, unsigned int rank_count, unsigned int cpu_count)
{
	*orders = (struct mal_orders){.rank_count = rank_count,
				      .cpu_count = cpu_count,
				      .ranks = calloc(rank_count, sizeof(*orders->ranks)),
				      .cpus = malloc((cpu_count + 1) * sizeof(*orders->cpus))};
	for (unsigned int cpu = 0; orders->cpus && cpu < cpu_count; cpu++)
		orders->cpus[cpu] = rank_count;
	return orders->ranks && orders->cpus ? 0 : -1;
}

void mal_orders_close(struct mal_orders *orders)
{
	free(orders->ranks);
	free(orders->cpus);
	*orders = (struct mal_orders){0};
}

void mal_orders_copy(struct mal_orders *to, const struct mal_orders *from)
{
	to->floor = from->floor;
	memcpy(to->ranks, from->ranks, from->rank_count * sizeof(*from->ranks));
	memcpy(to->cpus, from->cpus, from->cpu_count * sizeof(*from->cpus));
}

bool mal_orders_any(const struct mal_orders *orders)
{
	if (orders->floor > 1)
		return true;
	for (unsigned int rank = 0; rank < orders->rank_count; rank++)
		if (orders->ranks[rank].exact || orders->ranks[rank].least || orders->ranks[rank].most)
			return true;
	return false;
}

void mal_orders_free(struct mal_orders *orders, unsigned int rank)
{
	orders->ranks[rank] = (struct mal_order){0};
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++)
		if (orders->cpus[cpu] == rank)
			orders->cpus[cpu] = orders->rank_count;
}

/* A rank whose number of CPUs is for the policy, within bounds. */
static bool is_loose(const struct mal_orders *orders, const struct mal_view *view, unsigned int rank)
{
	return view->samples[rank].running && !orders->ranks[rank].exact;
}

static bool is_set(const struct mal_orders *orders, const struct mal_view *view, unsigned int rank)
{
	return rank < view->rank_count && view->samples[rank].running && orders->ranks[rank].exact;
}

/* ORDERS with a floor that all ranks can have. */
static struct mal_orders with_floor(const struct mal_orders *orders, const struct mal_view *view)
{
	unsigned int running = 0, cpus = 0;
	struct mal_orders within = *orders;

	if (orders->floor < 2)
		return within;
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		running += view->samples[rank].running;
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++)
		cpus += view->owner[cpu] < view->rank_count;
	if (running && cpus / running < orders->floor)
		within.floor = cpus / running;
	return within;
}

static unsigned int least_of(const struct mal_orders *orders, const struct mal_view *view, unsigned int rank)
{
	const struct mal_order *order = &orders->ranks[rank];
	unsigned int least = orders->floor ? orders->floor : 1, most = view->samples[rank].most;

	if (order->least)
		return order->least;
	if (order->most && order->most < least)
		least = order->most;
	return most && most < least ? most : least;
}

static unsigned int most_of(const struct mal_orders *orders, unsigned int rank)
{
	return orders->ranks[rank].most ? orders->ranks[rank].most : orders->cpu_count;
}

int mal_orders_check(const struct mal_orders *orders, const struct mal_view *view, struct mal_error *err)
{
	struct mal_orders within = with_floor(orders, view);
	unsigned int cpus = 0, least = 0, most = 0;

	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++)
		cpus += !is_set(orders, view, orders->cpus[cpu]) && view->owner[cpu] < view->rank_count &&
			view->samples[view->owner[cpu]].running;
	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		if (!is_loose(orders, view, rank))
			continue;
		least += least_of(&within, view, rank);
		most += most_of(orders, rank);
	}
	if (least > cpus)
		return mal_fail(err, "the other ranks need %u CPUs at least, and %u would be left", least, cpus);
	if (most < cpus)
		return mal_fail(err, "%u CPUs would be left to nobody: the other ranks may have %u at most",
				cpus - most, most);
	return 0;
}

int mal_orders_set_cpus(struct mal_orders *orders, unsigned int rank, const bool *chosen, struct mal_error *err)
{
	unsigned int count = 0;

	mal_orders_free(orders, rank);
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++) {
		if (!chosen[cpu])
			continue;
		if (orders->cpus[cpu] < orders->rank_count)
			return mal_fail(err, "rank %u is to have one of these CPUs", orders->cpus[cpu]);
		orders->cpus[cpu] = rank;
		count++;
	}
	orders->ranks[rank].exact = true;
	return count ? 0 : mal_fail(err, "a rank needs one CPU at least");
}

int mal_orders_set_bounds(struct mal_orders *orders, unsigned int rank, unsigned int least, unsigned int most,
			  struct mal_error *err)
{
	if (most && most < least)
		return mal_fail(err, "%u CPUs at least and %u at most cannot both be", least, most);
	mal_orders_free(orders, rank);
	orders->ranks[rank] = (struct mal_order){false, least, most};
	return 0;
}

/* The loose rank that has fewest CPUs, or most of them; the number of ranks if there is none. */
static unsigned int find_loose(const struct mal_orders *orders, const struct mal_view *view, const unsigned int *count,
			       bool fewest)
{
	unsigned int found = orders->rank_count;

	for (unsigned int rank = 0; rank < orders->rank_count; rank++)
		if (is_loose(orders, view, rank) &&
		    (found == orders->rank_count || (fewest ? count[rank] < count[found] : count[rank] > count[found])))
			found = rank;
	return found;
}

/*
 * OWNER with every rank whose CPUs are set on them, and COUNT. What they leave goes to those who have fewest; a rank that has lost all
 * gets one of those who have most. Returns false if that cannot be.
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
		taker = find_loose(orders, view, count, true);
		if (taker == orders->rank_count)
			return false;
		count[owner[cpu]]--;
		count[taker]++;
		owner[cpu] = taker;
	}
	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		unsigned int giver, cpu = 0;

		if (!is_loose(orders, view, rank) || count[rank])
			continue;
		giver = find_loose(orders, view, count, false);
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

/* The loose rank that one CPU more, or less, becomes best: by work per CPU. The number of ranks if none may. */
static unsigned int find_next(const struct mal_orders *orders, const struct mal_view *view, const unsigned int *count,
			      bool more)
{
	unsigned int found = orders->rank_count;
	double best = 0;

	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		double load = view->samples[rank].work_s / (count[rank] ? count[rank] : 1);

		if (!is_loose(orders, view, rank) ||
		    (more ? count[rank] >= most_of(orders, rank) : count[rank] <= least_of(orders, view, rank)))
			continue;
		if (found == orders->rank_count || (more ? load > best : load < best)) {
			found = rank;
			best = load;
		}
	}
	return found;
}

/* Put COUNT within the bounds. Returns false if that cannot be. */
static bool bound(const struct mal_orders *orders, const struct mal_view *view, unsigned int *count, bool *changed)
{
	long left = 0;

	*changed = false;
	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		unsigned int within = count[rank];

		if (!is_loose(orders, view, rank))
			continue;
		within = within < least_of(orders, view, rank) ? least_of(orders, view, rank) : within;
		within = within > most_of(orders, rank) ? most_of(orders, rank) : within;
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

/* What the policy is shown: SAMPLES. */
static void mask(const struct mal_orders *orders, const struct mal_view *view, const unsigned int *count,
		 struct mal_sample *samples)
{
	for (unsigned int rank = 0; rank < orders->rank_count; rank++) {
		unsigned int most = orders->ranks[rank].most;

		samples[rank] = view->samples[rank];
		samples[rank].cpus = count[rank];
		if (is_set(orders, view, rank))
			samples[rank] = (struct mal_sample){.running = false};
		else if (most && (!samples[rank].most || most < samples[rank].most))
			samples[rank].most = most;
	}
}

/* The check of a plan, in which orders are no flaw. */
static const char *find_flaw(const struct mal_orders *orders, const struct mal_view *view, const struct mal_plan *plan)
{
	struct mal_sample samples[view->rank_count];
	struct mal_view loose = *view;

	memcpy(samples, view->samples, sizeof(samples));
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (orders->ranks[rank].exact || orders->ranks[rank].least)
			samples[rank].most = 0;
	loose.samples = samples;
	return mal_plan_flaw(&loose, plan);
}

enum mal_decision mal_decide_under(const struct mal_orders *orders, const struct mal_policy *policy, void *state,
				   const struct mal_view *view, struct mal_plan *plan, const char **flaw)
{
	unsigned int owner[view->topology->cpu_count], count[view->rank_count];
	struct mal_sample samples[view->rank_count];
	struct mal_orders within = with_floor(orders, view);
	struct mal_view shown = *view;
	enum mal_decision decision = MAL_DECISION_MADE;
	bool changed;

	*flaw = NULL;
	if (!view->samples || !mal_orders_any(orders) || !place(orders, view, owner, count))
		return policy ? mal_decide(policy, state, view, plan, flaw) : MAL_DECISION_NONE;
	mask(orders, view, count, samples);
	shown.samples = samples;
	shown.owner = owner;
	if (policy)
		decision = mal_decide(policy, state, &shown, plan, flaw);
	if (decision == MAL_DECISION_UNFIT)
		return decision;
	if (!policy || decision == MAL_DECISION_NONE)
		memcpy(plan->owner, owner, sizeof(owner));
	mal_count_cpus(plan->owner, orders->cpu_count, orders->rank_count, plan->count);
	if (bound(&within, &shown, plan->count, &changed) && changed)
		mal_map(&shown, plan);
	mal_count_cpus(plan->owner, orders->cpu_count, orders->rank_count, plan->count);
	plan->move = plan->bind && memcmp(plan->owner, view->owner, sizeof(owner)) != 0;
	*flaw = find_flaw(orders, view, plan);
	return *flaw ? MAL_DECISION_UNFIT : MAL_DECISION_MADE;
}
