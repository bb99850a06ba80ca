/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_placement.c: exchange ranks between the nodes of a step. */
#include "policies/mapping/placement.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "t/unit/unit.h"

#define CASES 3000
/* Nodes, and ranks on each, for which all placements are tried. */
#define NODES 3
#define EACH 3

static const unsigned int fours[] = {4, 4, 4, 4};

static void heavy_ranks_are_spread(void **state)
{
	const double work[] = {4, 4, 1, 1};
	unsigned int node[] = {0, 0, 1, 1};
	struct mal_placement placement = {4, 2, work, fours, node};
	double load[2];

	(void)state;
	assert_float_equal(mal_placement_balance(&placement, load), 0.625, 1e-9);
	assert_float_equal(load[0], 2, 1e-9);
	assert_int_equal(mal_placement_improve(&placement), 2);
	assert_float_equal(mal_placement_balance(&placement, load), 1, 1e-9);
}

static void what_is_balanced_stays(void **state)
{
	const double work[] = {3, 1, 2, 2};
	unsigned int node[] = {0, 0, 1, 1};
	struct mal_placement placement = {4, 2, work, fours, node};

	(void)state;
	assert_int_equal(mal_placement_improve(&placement), 0);
}

static void a_large_node_gets_the_large_ranks(void **state)
{
	const double work[] = {6, 6, 2, 2};
	const unsigned int cpus[] = {4, 12};
	unsigned int node[] = {0, 0, 1, 1};
	struct mal_placement placement = {4, 2, work, cpus, node};
	double load[2];

	(void)state;
	assert_int_equal(mal_placement_improve(&placement), 4);
	assert_float_equal(mal_placement_balance(&placement, load), 1, 1e-9);
}

static void nothing_to_do_is_no_trouble(void **state)
{
	const double work[] = {0, 0};
	unsigned int node[] = {0, 1};
	struct mal_placement placement = {2, 2, work, fours, node};
	double load[2];

	(void)state;
	assert_int_equal(mal_placement_improve(&placement), 0);
	assert_float_equal(mal_placement_balance(&placement, load), 1, 1e-9);
	placement.rank_count = placement.node_count = 0;
	assert_int_equal(mal_placement_improve(&placement), 0);
}

/* Try all placements of the ranks from RANK on. */
static double best_of(struct mal_placement *placement, unsigned int rank, unsigned int *free)
{
	double load[NODES], best = 0;

	if (rank == placement->rank_count)
		return mal_placement_balance(placement, load);
	for (unsigned int node = 0; node < NODES; node++) {
		double balance;

		if (!free[node])
			continue;
		free[node]--;
		placement->node[rank] = node;
		balance = best_of(placement, rank + 1, free);
		free[node]++;
		if (balance > best)
			best = balance;
	}
	return best;
}

/*
 * Compare with the best of all placements: never worse than before, near the best, and each node
 * keeps its number of ranks.
 */
static void random_steps_come_near_the_best(void **state)
{
	double sum = 0, worst = 1;

	(void)state;
	srand(1);
	for (int i = 0; i < CASES; i++) {
		double work[NODES * EACH], load[NODES], before, after, best, part;
		unsigned int node[NODES * EACH], all[NODES * EACH],
			count[NODES] = {0}, free[NODES] = {EACH, EACH, EACH};
		struct mal_placement placement = {NODES * EACH, NODES, work, fours, node},
				     tried = placement;

		for (unsigned int rank = 0; rank < NODES * EACH; rank++) {
			work[rank] = 0.05 + rand() % 1000 / 1000.0;
			node[rank] = rank / EACH;
		}
		before = mal_placement_balance(&placement, load);
		assert_true(mal_placement_improve(&placement) >= 0);
		after = mal_placement_balance(&placement, load);
		for (unsigned int rank = 0; rank < NODES * EACH; rank++)
			count[node[rank]]++;
		for (unsigned int n = 0; n < NODES; n++)
			assert_int_equal(count[n], EACH);
		tried.node = all;
		best = best_of(&tried, 0, free);
		assert_true(after >= before && after <= best + 1e-9);
		part = after / best;
		sum += part;
		worst = part < worst ? part : worst;
	}
	print_message("# of the best possible load balance: mean %.4f, worst %.4f\n", sum / CASES,
		      worst);
	assert_true(sum / CASES > 0.98);
	assert_true(worst > 0.8);
}

/* 1,024 nodes of 64 ranks take bounded time. */
static void large_steps_are_bounded(void **state)
{
	enum { nodes = 1024, each = 64 };
	double *work = calloc(nodes * each, sizeof(*work)), *load = calloc(nodes, sizeof(*load)),
	       before;
	unsigned int *node = calloc(nodes * each, sizeof(*node)),
		     *cpus = calloc(nodes, sizeof(*cpus));
	struct mal_placement placement = {nodes * each, nodes, work, cpus, node};
	struct timespec begin, end;

	(void)state;
	assert_true(work && load && node && cpus);
	for (unsigned int rank = 0; rank < nodes * each; rank++) {
		node[rank] = rank / each;
		work[rank] = 1.0 + node[rank] / (double)nodes + rand() % 100 / 100.0;
	}
	for (unsigned int n = 0; n < nodes; n++)
		cpus[n] = each;
	before = mal_placement_balance(&placement, load);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	assert_true(mal_placement_improve(&placement) > 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	print_message("# 65,536 ranks: balance %.3f to %.3f in %.0f ms\n", before,
		      mal_placement_balance(&placement, load),
		      1e3 * (double)(end.tv_sec - begin.tv_sec) +
			      1e-6 * (double)(end.tv_nsec - begin.tv_nsec));
	assert_true(mal_placement_balance(&placement, load) > before);
	free(work);
	free(load);
	free(node);
	free(cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heavy_ranks_are_spread),
		cmocka_unit_test(what_is_balanced_stays),
		cmocka_unit_test(a_large_node_gets_the_large_ranks),
		cmocka_unit_test(nothing_to_do_is_no_trouble),
		cmocka_unit_test(random_steps_come_near_the_best),
		cmocka_unit_test(large_steps_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
