/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_policies.c: mapping, and the policies sabo and explore. */
#include "t/unit/policy_view.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "policies/interface/builtin.h"
#include "policies/interface/plan_check.h"
#include "policies/interface/registry.h"
#include "policies/mapping/mapping.h"
#include "policies/mapping/sockets.h"
#include "policies/model/bracket.h"

/* CPUs come from the nearest place, and each rank keeps what it had. */
static void mapping_stays_near(void **state)
{
	static struct policy_view node;

	(void)state;
	make_view(&node, 4, 4, 8);
	node.plan.move = node.plan.bind = true;
	memcpy(node.count, (unsigned int[]){6, 2, 4, 4}, 4 * sizeof(unsigned int));
	mal_map(&node.view, &node.plan);
	for (unsigned int cpu = 0; cpu < 16; cpu++)
		if (cpu >= 8 || cpu < 4)
			assert_int_equal(node.new_owner[cpu], node.owner[cpu]);
	assert_null(mal_plan_check(&node.view, &node.plan));
}

/* Of CPUs that are equally near a rank gets the one beside its own. */
static void mapping_takes_neighbours(void **state)
{
	static struct policy_view node;

	(void)state;
	make_view(&node, 2, 4, 8);
	node.plan.move = node.plan.bind = true;
	memcpy(node.count, (unsigned int[]){3, 5}, 2 * sizeof(unsigned int));
	mal_map(&node.view, &node.plan);
	assert_int_equal(node.new_owner[3], 1);
	memcpy(node.count, (unsigned int[]){5, 3}, 2 * sizeof(unsigned int));
	mal_map(&node.view, &node.plan);
	assert_int_equal(node.new_owner[4], 0);
}

/*
 * Rank 1 has CPUs on both packages: it gives a near one to rank 0 and takes one of rank 2 for it.
 */
static void mapping_moves_in_chains(void **state)
{
	static struct policy_view node;

	(void)state;
	make_view(&node, 3, 8, 4);
	node.plan.move = node.plan.bind = true;
	memcpy(node.count, (unsigned int[]){10, 8, 6}, 3 * sizeof(unsigned int));
	mal_map(&node.view, &node.plan);
	assert_null(mal_plan_check(&node.view, &node.plan));
	for (unsigned int cpu = 0; cpu < 24; cpu++)
		if (node.new_owner[cpu] == 0 || node.new_owner[cpu] == 2)
			assert_int_equal(node.numa[cpu], node.new_owner[cpu] / 2);
}

/* Two ranks that each have a CPU on the other's package exchange these with the next plan. */
static void mapping_brings_ranks_together(void **state)
{
	static struct policy_view node;
	unsigned int away = 0;

	(void)state;
	make_view(&node, 2, 8, 4);
	node.owner[0] = 1;
	node.owner[15] = 0;
	node.plan.move = node.plan.bind = true;
	memcpy(node.count, (unsigned int[]){9, 7}, 2 * sizeof(unsigned int));
	mal_map(&node.view, &node.plan);
	assert_null(mal_plan_check(&node.view, &node.plan));
	for (unsigned int cpu = 0; cpu < 16; cpu++)
		away += node.numa[cpu] != node.new_owner[cpu];
	assert_int_equal(away, 1);
	assert_int_equal(node.new_owner[0], 0);
}

/* CPUs k and k + 4 are hardware threads of one core: whole cores move, there and back. */
/*
 * Of RANKS ranks with four CPUs each, those of each two exchange one over the packages. Returns how
 * many CPUs the next plan gives back.
 */
static unsigned int exchanged_back(unsigned int ranks)
{
	static struct policy_view node;
	unsigned int back = 0, cpus = 4 * ranks;

	make_view(&node, ranks, 4, 2 * ranks);
	for (unsigned int rank = 0; rank < ranks; rank++)
		node.count[rank] = 4;
	for (unsigned int i = 0; i < cpus / 2; i += 4) {
		node.owner[i] = (i + cpus / 2) / 4;
		node.owner[i + cpus / 2] = i / 4;
	}
	mal_map(&node.view, &node.plan);
	for (unsigned int i = 0; i < cpus; i++)
		back += node.new_owner[i] != node.owner[i];
	return back;
}

/* Of many ranks none is exchanged: to find the cheapest exchanges of all would take long. */
static void mapping_takes_bounded_time(void **state)
{
	(void)state;
	assert_int_equal(exchanged_back(4), 4);
	assert_int_equal(exchanged_back(MAX), 0);
}

static void mapping_keeps_cores_whole(void **state)
{
	static const unsigned int core[] = {0, 1, 2, 3, 0, 1, 2, 3},
				  home[] = {0, 0, 1, 1, 0, 0, 1, 1};
	static struct policy_view node;

	(void)state;
	make_view(&node, 2, 4, 8);
	node.topology.core = core;
	memset(node.numa, 0, sizeof(node.numa));
	memset(node.package, 0, sizeof(node.package));
	memcpy(node.owner, home, sizeof(home));
	node.plan.move = node.plan.bind = true;
	memcpy(node.count, (unsigned int[]){6, 2}, 2 * sizeof(unsigned int));
	mal_map(&node.view, &node.plan);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(node.new_owner[cpu], node.new_owner[cpu + 4]);
	memcpy(node.owner, node.new_owner, sizeof(node.owner));
	memcpy(node.count, (unsigned int[]){4, 4}, 2 * sizeof(unsigned int));
	mal_map(&node.view, &node.plan);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(node.new_owner[cpu], node.new_owner[cpu + 4]);
}

/*
 * The cost of OWNER as mapping.c counts it: 2 for each CPU that moves, and 1, 3, 6 by distance.
 */
static unsigned int cost_of(const struct policy_view *node, const unsigned int *owner)
{
	unsigned int cost = 0, cpus = node->topology.cpu_count;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		unsigned int rank = owner[cpu], in_l3 = 0, in_numa[2] = {0, 0};

		for (unsigned int other = 0; other < cpus; other++) {
			in_l3 += node->owner[other] == rank && node->l3[other] == node->l3[cpu];
			in_numa[node->numa[other]] += node->owner[other] == rank;
		}
		cost += rank != node->owner[cpu] ? 2 : 0;
		if (2 * in_numa[node->numa[cpu]] < in_numa[!node->numa[cpu]])
			cost += 6;
		else
			cost += in_l3 ? 0 : 1;
	}
	return cost;
}

/* The lowest cost of all ways to divide CPU and the following ones. */
static unsigned int cheapest(const struct policy_view *node, unsigned int *owner, unsigned int cpu,
			     unsigned int *left)
{
	unsigned int best = 1000000;

	if (cpu == node->topology.cpu_count)
		return cost_of(node, owner);
	for (unsigned int rank = 0; rank < node->view.rank_count; rank++) {
		unsigned int cost;

		if (!left[rank])
			continue;
		left[rank]--;
		owner[cpu] = rank;
		cost = cheapest(node, owner, cpu + 1, left);
		best = cost < best ? cost : best;
		left[rank]++;
	}
	return best;
}

static void mapping_is_the_cheapest(void **state)
{
	static struct policy_view node;
	unsigned int owner[12], left[3];

	(void)state;
	srand(7);
	for (int round = 0; round < 20; round++) {
		make_view(&node, 3, 4, 3);
		for (unsigned int cpu = 12; cpu-- > 1;) {
			unsigned int other = (unsigned int)rand() % (cpu + 1),
				     rank = node.owner[cpu];

			node.owner[cpu] = node.owner[other];
			node.owner[other] = rank;
		}
		node.count[0] = 1 + (unsigned int)rand() % 6;
		node.count[1] = 1 + (unsigned int)rand() % 5;
		node.count[2] = 12 - node.count[0] - node.count[1];
		node.plan.move = node.plan.bind = true;
		mal_map(&node.view, &node.plan);
		assert_null(mal_plan_check(&node.view, &node.plan));
		memcpy(left, node.count, sizeof(left));
		assert_int_equal(cost_of(&node, node.new_owner), cheapest(&node, owner, 0, left));
	}
}

/* The example of SABO's Fig. 1: 48 cores on two sockets; the ranks request 14, 9, 13 and 12. */
static void sabo_searches_as_published(void **state)
{
	static const unsigned int cores[] = {24, 24}, order[] = {0, 2, 3, 1},
				  wanted[] = {14, 9, 13, 12};
	unsigned int socket[4];
	struct mal_socket_search search = {2, cores, 4, order, wanted, 1000, socket, 0, 0};

	(void)state;
	assert_int_equal(mal_socket_search(&search), 0);
	assert_int_equal(search.missing, 1);
	assert_int_equal(search.nodes, 4);
	assert_int_equal(socket[0], socket[1]);
	assert_int_equal(socket[2], socket[3]);
	assert_int_not_equal(socket[0], socket[2]);
	search.max_nodes = 1;
	assert_int_equal(mal_socket_search(&search), 0);
	assert_int_equal(search.missing, 2);
}

/* Four ranks of 12 CPUs that worked for so long. */
static void make_four(struct policy_view *node, const double *work_s)
{
	make_view(node, 4, 12, 3);
	for (unsigned int i = 0; i < 4; i++)
		node->samples[i].work_s = work_s[i];
}

static void sabo_shares_out_in_proportion(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_sabo);

	(void)state;
	make_four(&node, (const double[]){14, 9, 13, 12});
	decide(&node, &mal_policy_sabo, policy);
	assert_true(node.plan.move);
	assert_null(mal_plan_check(&node.view, &node.plan));
	/*
	 * The socket of ranks 2 and 3 lacks one of 25 wanted cores; that of ranks 0 and 1 has one
	 * to spare.
	 */
	assert_int_equal(node.count[2] + node.count[3], 24);
	assert_int_equal(node.count[0] + node.count[1], 24);
	for (unsigned int cpu = 1; cpu < 24; cpu++)
		assert_int_equal(node.new_owner[cpu] < 2, node.new_owner[0] < 2);
	mal_policy_sabo.destroy(policy);
}

/* Windows of PHASES each until sabo moves with SPEC; 0: not in the first 100. */
static unsigned int sabo_moves_in(const char *spec, double phases)
{
	static struct policy_view node;
	struct mal_choice choice;
	unsigned int window = 1;
	void *policy;

	assert_int_equal(mal_choose(spec, NULL, MAL_POLICY_DEFAULT, &choice, NULL), 0);
	policy = choice.policy->create(choice.values);
	assert_non_null(policy);
	for (; window <= 100; window++) {
		make_four(&node, (const double[]){14, 9, 13, 12});
		for (unsigned int i = 0; i < 4; i++)
			node.samples[i].phases = phases;
		decide(&node, choice.policy, policy);
		if (node.plan.move)
			break;
	}
	choice.policy->destroy(policy);
	return window > 100 ? 0 : window;
}

/* Steps are counted, not windows, which may hold several; unknown numbers count as one. */
static void sabo_counts_phases(void **state)
{
	(void)state;
	assert_int_equal(sabo_moves_in("sabo", 7), 1);
	assert_int_equal(sabo_moves_in("sabo,at=20", 1), 20);
	assert_int_equal(sabo_moves_in("sabo,at=20", 0), 20);
	assert_int_equal(sabo_moves_in("sabo,at=20", 7), 3);
	assert_int_equal(sabo_moves_in("sabo,at=21", 7), 3);
	assert_int_equal(sabo_moves_in("sabo,at=22", 7), 4);
	assert_int_equal(sabo_moves_in("sabo,at=101", 1), 0);
	assert_int_equal(sabo_moves_in("sabo,every=20", 1), 20);
	assert_int_equal(sabo_moves_in("sabo,every=20", 8), 3);
	assert_int_equal(sabo_moves_in("sabo,every=20", 50), 1);
}

/* A rank that is longest for its serial part keeps the others from giving CPUs to each other. */
static void sabo_forecasts_serial_time(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_sabo);

	(void)state;
	make_four(&node, (const double[]){14, 9, 13, 12});
	node.samples[1].serial_s = 2;
	decide(&node, &mal_policy_sabo, policy);
	assert_false(node.plan.move);
	assert_float_equal(node.plan.now_s, 2.75, 1e-9);
	mal_policy_sabo.destroy(policy);
}

/* A rank that has ended, and has no CPU, keeps nobody from moving. */
static void sabo_passes_over_ended_ranks(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_sabo);

	(void)state;
	make_four(&node, (const double[]){14, 6, 10, 0});
	node.topology.cpu_count = 36;
	node.samples[3].running = false;
	node.samples[3].cpus = 0;
	decide(&node, &mal_policy_sabo, policy);
	assert_true(node.plan.move);
	assert_int_equal(node.count[3], 0);
	assert_true(node.count[0] > 12 && node.count[1] < 12);
	assert_null(mal_plan_check(&node.view, &node.plan));
	mal_policy_sabo.destroy(policy);
}

/*
 * A plan is refused if its forecast is not below the longest present time, or if it changes
 * nothing.
 */
static void sabo_refuses(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_sabo);

	(void)state;
	make_view(&node, 4, 3, 3);
	for (unsigned int i = 0; i < 4; i++)
		node.samples[i].work_s = i == 0 ? 3.3 : 3.2;
	decide(&node, &mal_policy_sabo, policy);
	assert_false(node.plan.move);
	for (unsigned int i = 0; i < 4; i++)
		node.samples[i].work_s = i < 2 ? 3.6 : 2.9;
	decide(&node, &mal_policy_sabo, policy);
	assert_true(!node.plan.move || node.plan.forecast_s < node.plan.now_s);
	mal_policy_sabo.destroy(policy);
}

/*
 * For any samples, plans are valid, deterministic, and not predicted to be worse than the present
 * state.
 */
static void random_plans_are_fit(void **state)
{
	static struct policy_view node;
	unsigned int seed = (unsigned int)(getenv("SEED") ? atoi(getenv("SEED")) : 20221005);

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	for (int i = 0; i < 20000; i++) {
		unsigned int ranks = 1 + (unsigned int)rand() % 16,
			     cpus = 1 + (unsigned int)rand() % 8;
		unsigned int first[MAX];
		const struct mal_policy *policy = i % 2 ? &mal_policy_sabo : &mal_policy_auto;
		void *a = create(policy), *b = create(policy);

		make_view(&node, ranks, cpus, 1 + (unsigned int)rand() % 4);
		for (unsigned int r = 0; r < ranks; r++) {
			node.samples[r].work_s = rand() % 1000 / 100.0;
			node.samples[r].serial_s = rand() % 100 / 1000.0;
			node.samples[r].running = rand() % 16 != 0;
		}
		decide(&node, policy, a);
		assert_null(mal_plan_check(&node.view, &node.plan));
		assert_true(node.plan.forecast_s <= node.plan.now_s);
		memcpy(first, node.count, sizeof(first));
		decide(&node, policy, b);
		assert_memory_equal(first, node.count, ranks * sizeof(unsigned int));
		policy->destroy(a);
		policy->destroy(b);
	}
}

/* Phase time of a program that is fastest with BEST of a rank's 16 CPUs. */
static double time_with(unsigned int used, unsigned int best)
{
	double off = used > best ? (double)(used - best) : 4.0 * (best - used);

	return 0.1 * (1 + 0.05 * off);
}

/*
 * Explore for WINDOWS windows. Returns the CPUs used at the end; sets *LOST to the part of the time
 * that trials cost.
 */
static unsigned int explore(void *state, unsigned int best, int windows, double *lost)
{
	const struct mal_policy *policy = mal_policy_find("explore");
	unsigned int use[MAX] = {0}, used = 16;
	double run = 0, ideal = 0;
	struct policy_view node;

	make_view(&node, 2, 16, 8);
	node.plan.use = use;
	for (int i = 0; i < windows; i++) {
		double phase = time_with(used, best);

		for (unsigned int rank = 0; rank < 2; rank++) {
			node.samples[rank].elapsed_s = 2 * phase;
			node.samples[rank].work_s = 2 * phase * 16;
			node.samples[rank].phases = 2;
		}
		run += phase;
		ideal += phase < time_with(16, best) ? phase : time_with(16, best);
		assert_int_equal(policy->decide(state, &node.view, &node.plan), 0);
		assert_false(node.plan.move);
		assert_int_equal(use[0], use[1]);
		used = use[0] ? use[0] : 16;
	}
	*lost = run / ideal - 1;
	return used;
}

static void explore_finds_the_best(void **unused)
{
	static const unsigned int bests[] = {16, 12, 8, 4, 2, 6, 14};
	double lost;

	(void)unused;
	for (size_t i = 0; i < sizeof(bests) / sizeof(bests[0]); i++) {
		void *state = create(mal_policy_find("explore"));

		assert_int_equal(explore(state, bests[i], 2000, &lost), bests[i]);
		assert_true(lost < 0.05);
		mal_policy_explore.destroy(state);
	}
}

/* Of a program that takes times_of[CPUs] a phase: what the search does with a rank of CPUS. */
struct search {
	unsigned int used, least, changes, soon; /* at the end, at least, how often, at first */
	unsigned int brief;			 /* windows to be short, whose ends ranks await */
	unsigned int most;			 /* after the first window */
};

static struct search search_on(void *state, unsigned int cpus, const double *times_of)
{
	struct search found = {cpus, cpus, 0, 0, 0, 0};
	unsigned int use[MAX] = {0};
	struct policy_view node;

	make_view(&node, 1, cpus, cpus);
	node.plan.use = use;
	for (unsigned int i = 0; i < 500; i++) {
		node.samples[0].elapsed_s = 0.05 * times_of[found.used];
		node.samples[0].work_s = node.samples[0].elapsed_s * found.used;
		node.samples[0].phases = 1;
		node.plan.short_windows = false;
		assert_int_equal(mal_policy_explore.decide(state, &node.view, &node.plan), 0);
		found.brief += node.plan.short_windows;
		if (found.used != (use[0] ? use[0] : cpus) && found.changes++ == 0)
			found.soon = i;
		found.used = use[0] ? use[0] : cpus;
		found.least = found.used < found.least ? found.used : found.least;
		found.most = found.used > found.most ? found.used : found.most;
	}
	return found;
}

static struct search search(unsigned int cpus, const double *times_of)
{
	void *state = create(mal_policy_find("explore"));
	struct search found = search_on(state, cpus, times_of);

	mal_policy_explore.destroy(state);
	return found;
}

/* Steps down double as long as fewer are better, to half of the best at most. */
static void steps_down_double(void **unused)
{
	static const int tried[] = {30, 28, 24, 16, 8, 4, 2, 1};
	struct mal_bracket bracket;
	int best = 31;

	(void)unused;
	mal_bracket_begin(&bracket, 1, 31, best);
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		assert_int_equal(mal_bracket_next(&bracket, best, UINT_MAX), tried[i]);
		mal_bracket_keep(&bracket, best, tried[i]);
		best = tried[i];
	}
	assert_int_equal(mal_bracket_next(&bracket, best, UINT_MAX), 0);
}

/* One of two CPUs is tried once, and both once more to compare; six eighths of them are both. */
static void explore_measures_no_number_twice(void **unused)
{
	struct search found = search(2, (const double[]){0, 1, 2});

	(void)unused;
	assert_int_equal(found.used, 1);
	assert_int_equal(found.changes, 3);
	/* A trial is over at its first window if that is slow, and undone in the next one. */
	assert_in_range(found.soon, 48, 51);
}

/* One CPU of sixteen is less than an eighth of them: a search that begins anew is not with all. */
static void explore_keeps_one_of_many(void **unused)
{
	const double at_first[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	const double then[] = {0, 2, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
	void *state = create(mal_policy_find("explore"));

	(void)unused;
	assert_int_equal(search_on(state, 8, at_first).used, 1);
	assert_in_range(search_on(state, 16, then).most, 2, 15);
	mal_policy_explore.destroy(state);
}

/* If one CPU less makes work so much longer as it has to, still fewer are not tried. */
static void explore_leaves_what_scales(void **unused)
{
	struct search found = search(8, (const double[]){0, 8, 4, 2.67, 2, 1.6, 1.33, 1.14, 1});

	(void)unused;
	assert_int_equal(found.used, 8);
	assert_int_equal(found.least, 7);
	assert_int_equal(found.changes, 2);
	assert_int_equal(found.brief, 1);
}

/*
 * A program that is fastest with 8 of 16 threads, and with another schedule is faster still with
 * 12.
 */
static void explore_tunes_both(void **unused)
{
	const struct mal_policy *policy = mal_policy_find("explore");
	unsigned int use[MAX] = {0};
	struct mal_choice choice;
	struct policy_view node;
	void *state;

	(void)unused;
	assert_int_equal(mal_choose("explore,schedule=tune", NULL, "auto", &choice, NULL), 0);
	state = policy->create(choice.values);
	make_view(&node, 2, 16, 8);
	node.plan.use = use;
	for (int i = 0; i < 2000; i++) {
		bool guided = node.plan.schedule.kind == MAL_SCHEDULE_GUIDED;
		double phase =
			(guided ? 0.8 : 1) * time_with(use[0] ? use[0] : 16, guided ? 12 : 8);

		for (unsigned int rank = 0; rank < 2; rank++) {
			node.samples[rank].elapsed_s = phase;
			node.samples[rank].work_s = phase * 16;
			node.samples[rank].phases = 1;
		}
		node.plan.schedule = (struct mal_schedule){0, 0};
		assert_int_equal(policy->decide(state, &node.view, &node.plan), 0);
	}
	assert_int_equal(node.plan.schedule.kind, MAL_SCHEDULE_GUIDED);
	assert_int_equal(use[0], 12);
	policy->destroy(state);
}

static void explore_follows_a_change(void **unused)
{
	void *state = create(mal_policy_find("explore"));
	double lost;

	(void)unused;
	assert_int_equal(explore(state, 16, 1000, &lost), 16);
	assert_int_equal(explore(state, 6, 2000, &lost), 6);
	assert_int_equal(explore(state, 16, 3000, &lost), 16);
	mal_policy_explore.destroy(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapping_stays_near),
		cmocka_unit_test(mapping_takes_neighbours),
		cmocka_unit_test(mapping_moves_in_chains),
		cmocka_unit_test(mapping_brings_ranks_together),
		cmocka_unit_test(mapping_takes_bounded_time),
		cmocka_unit_test(mapping_keeps_cores_whole),
		cmocka_unit_test(mapping_is_the_cheapest),
		cmocka_unit_test(sabo_searches_as_published),
		cmocka_unit_test(sabo_shares_out_in_proportion),
		cmocka_unit_test(sabo_counts_phases),
		cmocka_unit_test(sabo_forecasts_serial_time),
		cmocka_unit_test(sabo_passes_over_ended_ranks),
		cmocka_unit_test(sabo_refuses),
		cmocka_unit_test(explore_finds_the_best),
		cmocka_unit_test(steps_down_double),
		cmocka_unit_test(explore_measures_no_number_twice),
		cmocka_unit_test(explore_keeps_one_of_many),
		cmocka_unit_test(explore_leaves_what_scales),
		cmocka_unit_test(explore_tunes_both),
		cmocka_unit_test(explore_follows_a_change),
		cmocka_unit_test(random_plans_are_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
