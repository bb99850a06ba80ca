/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mapping.c: choose CPUs from counts: near in the topology, with least movement.
 *
 * Invariant: no assignment costs less (t/unit/test_policies.c: mapping_is_the_cheapest).
 *
 * A layout counts each rank's CPUs by place. The best assignment is a flow of CPUs from rank to
 * rank at least cost. If the node is too large for that, CPUs move one by one: always the one that
 * gains the taker most and costs its giver least. The layout, kept up to date, tells how near a CPU
 * is to a rank's others, so a move costs one look at each CPU.
 */
#include "policies/mapping/mapping.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policies/interface/limits.h"

/* The CPUs of each rank by core, L3 group, NUMA node and package. */
enum level { BY_CORE, BY_L3, BY_NUMA, BY_PACKAGE, LEVELS };

struct layout {
	unsigned int rank_count;
	unsigned int groups[LEVELS];
	unsigned int group[LEVELS][MAL_MAX_CPUS]; /* by CPU: its group, numbered from 0 */
	uint16_t *count[LEVELS]; /* by rank and group: CPUs of the rank in it; one memory */
	unsigned int have[MAL_MAX_RANKS]; /* CPUs */
};

/* How many CPUs RANK has in GROUP. */
static unsigned int count_in(const struct layout *layout, enum level level, unsigned int rank,
			     unsigned int group)
{
	return layout->count[level][(size_t)rank * layout->groups[level] + group];
}

/* Number the groups in order of appearance. Returns their number. */
static unsigned int number_groups(const unsigned int *given, unsigned int cpus, unsigned int *group)
{
	unsigned int names[MAL_MAX_CPUS], groups = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		/* Unknown: each CPU is a group of its own. */
		unsigned int name = given ? given[cpu] : cpu, after = given ? groups : 0;

		/* Neighbours mostly share one. */
		while (after && names[after - 1] != name)
			after--;
		if (!after) {
			names[groups] = name;
			after = ++groups;
		}
		group[cpu] = after - 1;
	}
	return groups;
}

/* Add CPU to RANK (CHANGE 1) or remove it (-1). Ranks that do not exist are ignored. */
static void add_cpu(struct layout *layout, unsigned int cpu, unsigned int rank, int change)
{
	if (rank >= layout->rank_count)
		return;
	layout->have[rank] += (unsigned int)change;
	for (int level = 0; level < LEVELS; level++) {
		uint16_t *count = &layout->count[level][(size_t)rank * layout->groups[level] +
							layout->group[level][cpu]];

		*count = (uint16_t)(*count + change);
	}
}

/* Fill LAYOUT from OWNER, the rank of each CPU. Returns 0, or -1: out of memory. */
static int open_layout(struct layout *layout, const struct mal_view *view,
		       const unsigned int *owner)
{
	const struct mal_topology *topology = view->topology;
	const unsigned int *given[LEVELS] = {topology->core, topology->l3, topology->numa,
					     topology->package};
	unsigned int cpus = topology->cpu_count;
	size_t ranks = view->rank_count, groups = 0;
	uint16_t *count;

	layout->rank_count = view->rank_count;
	memset(layout->have, 0, sizeof(layout->have));
	for (int level = 0; level < LEVELS; level++) {
		layout->groups[level] = number_groups(given[level], cpus, layout->group[level]);
		groups += layout->groups[level];
	}
	count = calloc(ranks, groups * sizeof(*count));
	if (!count)
		return -1;
	for (int level = 0; level < LEVELS; level++) {
		layout->count[level] = count;
		count += ranks * layout->groups[level];
	}
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		add_cpu(layout, cpu, owner[cpu], 1);
	return 0;
}

/*
 * The assignment at least cost. CPUs of an L3 group are equal, except that a rank prefers CPUs
 * whose core it already has. A CPU costs its rank nothing in an L3 group where the rank already is,
 * on a NUMA node where it is at home (it has half as many CPUs there as anywhere). It costs a
 * little elsewhere on that node, more elsewhere on the package, and most beyond. Each CPU that
 * changes hands costs too.
 *
 * The cheapest answer may be a chain: a rank gets a near CPU of a neighbour, which gets one of the
 * rank that has too many. Cheapest augmenting paths and cancelling of negative cycles find it
 * exactly (Ahuja, Magnanti, Orlin: Network Flows, 1993, sect. 9.6 and 9.7), unless the node is too
 * large.
 */

/* Cost of a CPU for a rank, by its place. */
#define COST_MOVE 2
#define COST_L3 1
#define COST_NUMA 3
#define COST_PACKAGE 6
#define NEVER (INT_MAX / 4)
/* Budget of looks at a rank and a group, some 2 ns each. */
#define MAX_LOOKS 200000u

struct flow {
	const struct mal_view *view;
	struct layout *layout;
	unsigned int ranks, groups;
	int *hold;	   /* by rank and L3 group: what a CPU there costs the rank */
	int *have;	   /* by rank and L3 group: CPUs, now; layout has what they were */
	int *cost;	   /* by giver and taker: of the cheapest CPU */
	unsigned int *via; /* its group */
	int *distance;
	unsigned int *parent;
	int *excess;  /* by rank: CPUs that it has too many */
	size_t looks; /* at ranks and groups, that are left */
};

static bool is_running(const struct flow *flow, unsigned int rank)
{
	return flow->view->samples[rank].running;
}

static int was(const struct flow *flow, unsigned int rank, unsigned int group)
{
	return (int)count_in(flow->layout, BY_L3, rank, group);
}

/* Returns the largest number of CPUs that RANK has in one group of LEVEL. */
static unsigned int find_max(const struct layout *layout, enum level level, unsigned int rank)
{
	unsigned int max = 0;

	for (unsigned int group = 0; group < layout->groups[level]; group++)
		if (count_in(layout, level, rank, group) > max)
			max = count_in(layout, level, rank, group);
	return max;
}

/* Is RANK at home in CPU's group of LEVEL? That is, does it have half of MAX or more CPUs there? */
static bool is_home(const struct layout *layout, enum level level, unsigned int rank,
		    unsigned int cpu, unsigned int max)
{
	return 2 * count_in(layout, level, rank, layout->group[level][cpu]) >= max;
}

static void fill_hold(struct flow *flow)
{
	const struct layout *layout = flow->layout;

	for (unsigned int rank = 0; rank < flow->ranks; rank++) {
		unsigned int in_numa = find_max(layout, BY_NUMA, rank);
		unsigned int in_package = find_max(layout, BY_PACKAGE, rank);

		for (unsigned int cpu = 0; cpu < flow->view->topology->cpu_count; cpu++) {
			unsigned int group = layout->group[BY_L3][cpu];
			int *hold = &flow->hold[rank * flow->groups + group];

			if (is_home(layout, BY_NUMA, rank, cpu, in_numa))
				*hold = was(flow, rank, group) ? 0 : COST_L3;
			else if (is_home(layout, BY_PACKAGE, rank, cpu, in_package))
				*hold = COST_NUMA;
			else
				*hold = COST_PACKAGE;
		}
	}
}

/* Price the cheapest CPU that GIVER can give to TAKER. Moving a CPU back refunds its cost. */
static void price(struct flow *flow, unsigned int giver, unsigned int taker)
{
	const int *holds = &flow->hold[giver * flow->groups],
		  *takes = &flow->hold[taker * flow->groups];
	const int *has = &flow->have[giver * flow->groups],
		  *gets = &flow->have[taker * flow->groups];
	size_t arc = (size_t)giver * flow->ranks + taker;

	flow->cost[arc] = NEVER;
	for (unsigned int group = 0; giver != taker && group < flow->groups; group++) {
		int cost;

		if (has[group] <= 0)
			continue;
		cost = takes[group] - holds[group];
		cost += gets[group] >= was(flow, taker, group) ? COST_MOVE : 0;
		cost -= has[group] > was(flow, giver, group) ? COST_MOVE : 0;
		if (cost < flow->cost[arc]) {
			flow->cost[arc] = cost;
			flow->via[arc] = group;
		}
	}
}

/* Update the prices after RANK's CPUs have changed. */
static void price_rank(struct flow *flow, unsigned int rank)
{
	for (unsigned int other = 0; other < flow->ranks; other++) {
		if (!is_running(flow, other) || !is_running(flow, rank))
			continue;
		price(flow, rank, other);
		price(flow, other, rank);
	}
}

/* Spend LOOKS. Returns false when the budget is used up. */
static bool spend(struct flow *flow, size_t looks)
{
	flow->looks = flow->looks > looks ? flow->looks - looks : 0;
	return flow->looks > 0;
}

/*
 * Relax all paths by one giver each. Returns the last rank that is nearer now, or the number of
 * ranks.
 */
static unsigned int relax(struct flow *flow)
{
	unsigned int changed = flow->ranks;

	for (unsigned int giver = 0; giver < flow->ranks; giver++) {
		const int *cost = &flow->cost[(size_t)giver * flow->ranks];

		if (flow->distance[giver] >= NEVER / 2)
			continue;
		for (unsigned int taker = 0; taker < flow->ranks; taker++) {
			if (cost[taker] >= NEVER ||
			    flow->distance[giver] + cost[taker] >= flow->distance[taker])
				continue;
			flow->distance[taker] = flow->distance[giver] + cost[taker];
			flow->parent[taker] = giver;
			changed = taker;
		}
	}
	return changed;
}

/*
 * Find shortest paths (Bellman and Ford) from the ranks with too many CPUs, or from all with
 * CYCLES. Returns a rank on or behind a negative cycle, or the number of ranks if there is none.
 */
static unsigned int find_paths(struct flow *flow, bool cycles)
{
	unsigned int changed;

	for (unsigned int rank = 0; rank < flow->ranks; rank++) {
		flow->distance[rank] =
			is_running(flow, rank) && (cycles || flow->excess[rank] > 0) ? 0 : NEVER;
		flow->parent[rank] = flow->ranks;
	}
	for (unsigned int round = 0; round <= flow->ranks; round++) {
		changed = relax(flow);
		if (changed == flow->ranks || !spend(flow, (size_t)flow->ranks * flow->ranks))
			break;
	}
	return changed;
}

static void pass_on(struct flow *flow, unsigned int giver, unsigned int taker)
{
	unsigned int group = flow->via[(size_t)giver * flow->ranks + taker];

	flow->have[giver * flow->groups + group]--;
	flow->have[taker * flow->groups + group]++;
}

/* Pass a CPU from giver to taker along the parents of LAST, up to FIRST. */
static void augment(struct flow *flow, unsigned int first, unsigned int last)
{
	unsigned int rank = last;

	do {
		pass_on(flow, flow->parent[rank], rank);
		rank = flow->parent[rank];
	} while (rank != first);
	rank = last;
	do {
		unsigned int parent = flow->parent[rank];

		price_rank(flow, rank);
		rank = parent;
	} while (rank != first);
	price_rank(flow, first);
	spend(flow, (size_t)4 * flow->ranks * flow->groups);
}

/*
 * Make the exchanges that cheapen the layout by themselves. Returns false when the budget is used
 * up.
 */
static bool cancel_cycles(struct flow *flow)
{
	unsigned int rank;

	while ((rank = find_paths(flow, true)) != flow->ranks) {
		if (!flow->looks)
			return false;
		/* After as many steps back as there are ranks, RANK is on the cycle. */
		for (unsigned int step = 0; step < flow->ranks; step++)
			rank = flow->parent[rank];
		augment(flow, rank, rank);
	}
	return flow->looks > 0;
}

/*
 * Move CPUs from ranks with too many to ranks with too few, cheapest first. Returns false when the
 * budget is used up.
 */
static bool move_all(struct flow *flow)
{
	for (;;) {
		unsigned int last = flow->ranks, first;

		/*
		 * Cheapest paths leave no negative cycle, so a rank here means the budget is used
		 * up.
		 */
		if (find_paths(flow, false) != flow->ranks || !flow->looks)
			return false;
		for (unsigned int rank = 0; rank < flow->ranks; rank++)
			if (flow->excess[rank] < 0 && flow->distance[rank] < NEVER / 2 &&
			    (last == flow->ranks || flow->distance[rank] < flow->distance[last]))
				last = rank;
		if (last == flow->ranks)
			return true;
		for (first = last; flow->parent[first] != flow->ranks;)
			first = flow->parent[first];
		augment(flow, first, last);
		flow->excess[first]--;
		flow->excess[last]++;
	}
}

/* Value of CPU to TAKER over its owner within the L3 group: whole cores first, then neighbours. */
static int worth(const struct layout *layout, const unsigned int *owner, unsigned int cpus,
		 unsigned int cpu, unsigned int taker)
{
	unsigned int core = layout->group[BY_CORE][cpu];
	int mates = (int)count_in(layout, BY_CORE, taker, core);
	int left = (int)count_in(layout, BY_CORE, owner[cpu], core) - 1;

	return 8 * (mates - left) + (cpu > 0 && owner[cpu - 1] == taker) +
	       (cpu + 1 < cpus && owner[cpu + 1] == taker);
}

/* Pick the CPU of GROUP that TAKER gets from a giver; the number of CPUs if nobody gives. */
static unsigned int pick(const struct flow *flow, const unsigned int *owner, unsigned int group,
			 unsigned int taker)
{
	unsigned int cpus = flow->view->topology->cpu_count, best = cpus;
	int max = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		int value;

		if (flow->layout->group[BY_L3][cpu] != group || owner[cpu] >= flow->ranks ||
		    flow->have[owner[cpu] * flow->groups + group] >= 0)
			continue;
		value = worth(flow->layout, owner, cpus, cpu, taker);
		if (best == cpus || value > max) {
			best = cpu;
			max = value;
		}
	}
	return best;
}

/* Turn flows into CPUs. flow->have now says how many more CPUs each rank gets in a group. */
static void carry_out(struct flow *flow, unsigned int *owner)
{
	unsigned int cpus = flow->view->topology->cpu_count;

	for (size_t cell = 0; cell < (size_t)flow->ranks * flow->groups; cell++) {
		unsigned int taker = (unsigned int)(cell / flow->groups),
			     group = (unsigned int)(cell % flow->groups);

		while (flow->have[cell] > 0) {
			unsigned int cpu = pick(flow, owner, group, taker);

			if (cpu == cpus)
				break;
			flow->have[owner[cpu] * flow->groups + group]++;
			flow->have[cell]--;
			add_cpu(flow->layout, cpu, owner[cpu], -1);
			owner[cpu] = taker;
			add_cpu(flow->layout, cpu, taker, 1);
		}
	}
}

static bool open_flow(struct flow *flow)
{
	size_t cells = (size_t)flow->ranks * flow->groups, arcs = (size_t)flow->ranks * flow->ranks;
	int *room = calloc(2 * cells + 2 * arcs + 3 * (size_t)flow->ranks, sizeof(*room));

	flow->hold = room;
	if (!room)
		return false;
	flow->have = flow->hold + cells;
	flow->cost = flow->have + cells;
	flow->via = (unsigned int *)flow->cost + arcs;
	flow->distance = (int *)flow->via + arcs;
	flow->parent = (unsigned int *)flow->distance + flow->ranks;
	flow->excess = (int *)flow->parent + flow->ranks;
	return true;
}

static void fill(struct flow *flow, const struct mal_plan *plan)
{
	size_t cells = (size_t)flow->ranks * flow->groups, arcs = (size_t)flow->ranks * flow->ranks;

	for (size_t cell = 0; cell < cells; cell++)
		flow->have[cell] = flow->layout->count[BY_L3][cell];
	for (size_t arc = 0; arc < arcs; arc++)
		flow->cost[arc] = NEVER;
	fill_hold(flow);
	for (unsigned int rank = 0; rank < flow->ranks; rank++) {
		if (!is_running(flow, rank))
			continue;
		flow->excess[rank] = (int)flow->layout->have[rank] - (int)plan->count[rank];
		for (unsigned int other = 0; other < flow->ranks; other++)
			if (is_running(flow, other))
				price(flow, rank, other);
	}
}

/*
 * Fill plan->owner from plan->count at least cost. plan->owner and LAYOUT start with the present
 * owners; LAYOUT is kept up to date. Returns false, with nothing changed, if there are too many
 * ranks and groups to be exact in bounded time (some 0.5 ms), or no memory.
 */
static bool assign(const struct mal_view *view, struct layout *layout, struct mal_plan *plan)
{
	struct flow flow = {.view = view,
			    .layout = layout,
			    .ranks = view->rank_count,
			    .groups = layout->groups[BY_L3],
			    .looks = MAX_LOOKS};
	size_t cells = (size_t)flow.ranks * flow.groups;
	bool found;

	if (!spend(&flow, cells * flow.ranks) || !open_flow(&flow))
		return false;
	fill(&flow, plan);
	found = cancel_cycles(&flow) && move_all(&flow);
	for (size_t cell = 0; found && cell < cells; cell++)
		flow.have[cell] -= layout->count[BY_L3][cell];
	if (found)
		carry_out(&flow, plan->owner);
	free(flow.hold);
	return found;
}

/* Value of one more CPU of the rank in the same group. */
#define WORTH_CORE 1000000000L
#define WORTH_L3 1000000L
#define WORTH_NUMA 1000L
#define WORTH_PACKAGE 1L

struct map {
	const struct mal_view *view;
	struct mal_plan *plan;
	struct layout layout;
};

/* How near CPU is to RANK's other CPUs. */
static long closeness(const struct map *map, unsigned int cpu, unsigned int rank)
{
	long count[LEVELS], self = map->plan->owner[cpu] == rank;

	for (enum level level = BY_CORE; level < LEVELS; level++)
		count[level] =
			count_in(&map->layout, level, rank, map->layout.group[level][cpu]) - self;
	return count[BY_CORE] * WORTH_CORE + (count[BY_L3] - count[BY_CORE]) * WORTH_L3 +
	       (count[BY_NUMA] - count[BY_L3]) * WORTH_NUMA +
	       (count[BY_PACKAGE] - count[BY_NUMA]) * WORTH_PACKAGE;
}

/* CPUs without an owner, and those of ranks that do not run, stay: such ranks may come back. */
static bool can_give(const struct map *map, unsigned int rank)
{
	return rank < map->view->rank_count && map->view->samples[rank].running &&
	       map->layout.have[rank] > map->plan->count[rank];
}

/* Find the best CPU for RANK among ranks with too many; the number of CPUs if there is none. */
static unsigned int best_for(const struct map *map, unsigned int rank)
{
	unsigned int cpus = map->view->topology->cpu_count, best = cpus;
	long best_gain = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		unsigned int giver = map->plan->owner[cpu];
		long gain;

		if (giver == rank || !can_give(map, giver))
			continue;
		gain = closeness(map, cpu, rank) - closeness(map, cpu, giver);
		if (best == cpus || gain > best_gain) {
			best = cpu;
			best_gain = gain;
		}
	}
	return best;
}

static void map_one_by_one(struct map *map)
{
	const struct mal_view *view = map->view;
	struct mal_plan *plan = map->plan;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		while (map->layout.have[rank] < plan->count[rank]) {
			unsigned int cpu = best_for(map, rank);

			if (cpu == view->topology->cpu_count)
				break;
			add_cpu(&map->layout, cpu, plan->owner[cpu], -1);
			plan->owner[cpu] = rank;
			add_cpu(&map->layout, cpu, rank, 1);
		}
	}
}

void mal_map(const struct mal_view *view, struct mal_plan *plan)
{
	struct map map;

	map.view = view;
	map.plan = plan;
	memcpy(plan->owner, view->owner, view->topology->cpu_count * sizeof(plan->owner[0]));
	/* Without memory the owners stay as they are, and the check rejects the plan. */
	if (open_layout(&map.layout, view, plan->owner) < 0)
		return;
	if (!assign(view, &map.layout, plan))
		map_one_by_one(&map);
	free(map.layout.count[0]);
}

void mal_map_to(const unsigned int *owner, size_t cpu_count, const struct mal_view *view,
		struct mal_plan *plan)
{
	if (owner)
		memcpy(plan->owner, owner, cpu_count * sizeof(plan->owner[0]));
	else
		mal_map(view, plan);
}
