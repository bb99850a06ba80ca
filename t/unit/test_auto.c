/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_auto.c: what the policy auto moves, follows, learns and takes back. */
#include "t/unit/policy_view.h"

#include <math.h>
#include <stdlib.h>

#include "policies/auto.h"
#include "policies/interface/builtin.h"
#include "policies/interface/plan_check.h"
#include "policies/model/scaling.h"

/*
 * One rank with three times the work, 8 x 6 CPUs: it gets the CPUs that make the longest rank
 * shortest.
 */
static void auto_moves_to_the_heavy_rank(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);

	(void)state;
	make_view(&node, 8, 6, 3);
	for (unsigned int i = 0; i < 8; i++)
		node.samples[i].work_s = i == 0 ? 6 : 2;
	/* At once: it begins with moves alone. */
	decide(&node, &mal_policy_auto, policy);
	assert_true(node.plan.move);
	assert_false(node.plan.lend);
	assert_null(mal_plan_check(&node.view, &node.plan));
	assert_int_equal(node.count[0], 13);
	for (unsigned int i = 1; i < 8; i++)
		assert_int_equal(node.count[i], 5);
	assert_float_equal(node.plan.now_s, 1.0, 1e-9);
	assert_float_equal(node.plan.forecast_s, 6.0 / 13, 1e-9);
	mal_policy_auto.destroy(policy);
}

/* Ranks of one CPU, where nothing can move, lend before anything was measured. */
static void auto_lends_at_once_where_nothing_can_move(void **state)
{
	(void)state;
	for (unsigned int cpus = 1; cpus <= 2; cpus++) {
		static struct policy_view node;
		void *policy = create(&mal_policy_auto);

		make_view(&node, 4, cpus, 4 * cpus);
		node.view.samples = NULL;
		decide(&node, &mal_policy_auto, policy);
		assert_int_equal(node.plan.lend, cpus == 1);
		mal_policy_auto.destroy(policy);
	}
}

/* RANK worked so long in four phases, on its one CPU, and waited for the rest. */
static void set_sample(struct policy_view *node, unsigned int rank, double elapsed_s, double work_s)
{
	node->samples[rank] = (struct mal_sample){.running = true,
						  .elapsed_s = elapsed_s,
						  .cpus = 1,
						  .team = 1,
						  .phases = 4,
						  .region_s = work_s,
						  .work_s = work_s,
						  .mpi_s = elapsed_s - work_s};
}

/* Of a balanced step nobody is helped: threads that share a CPU only make its regions longer. */
static void auto_lends_for_what_the_first_window_leaves(void **state)
{
	(void)state;
	/* In the last one ranks hardly work: their first window tells nothing. */
	for (unsigned int light = 0; light <= 2; light++) {
		static struct policy_view node;
		void *policy = create(&mal_policy_auto);

		make_view(&node, 2, 1, 2);
		for (unsigned int rank = 0; rank < 2; rank++) {
			double work = light == 2 ? 0.001 : rank && light ? 0.2 : 0.396;

			set_sample(&node, rank, 0.4, work);
		}
		for (unsigned int window = 0; window < 40; window++) {
			decide(&node, &mal_policy_auto, policy);
			assert_true(light ? node.plan.lend || window > 0 : !node.plan.lend);
		}
		mal_policy_auto.destroy(policy);
	}
}

/* A program may be even while it starts. */
static void auto_lends_once_a_window_leaves_much(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);

	(void)state;
	make_view(&node, 2, 1, 2);
	for (unsigned int window = 0; window < 2; window++) {
		for (unsigned int rank = 0; rank < 2; rank++) {
			double work = rank && window ? 0.2 : 0.396;

			set_sample(&node, rank, 0.4, work);
		}
		decide(&node, &mal_policy_auto, policy);
		assert_int_equal(node.plan.lend, window == 1);
	}
	mal_policy_auto.destroy(policy);
}

/* A rank leaves while the others are balanced by lending: that goes on. */
static void auto_lends_on_where_ranks_leave(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);

	(void)state;
	make_view(&node, 3, 1, 3);
	for (unsigned int window = 0; window < 3; window++) {
		bool begins = window == 0;

		for (unsigned int rank = 0; rank < 3; rank++) {
			double work = begins && rank ? 0.1 : begins ? 0.396 : 0.198;

			set_sample(&node, rank, begins ? 0.4 : 0.2, work);
			node.samples[rank].running = rank < 2 || window < 2;
		}
		decide(&node, &mal_policy_auto, policy);
		assert_true(node.plan.lend);
	}
	mal_policy_auto.destroy(policy);
}

/* A window of 8 ranks with 6 CPUs each, of which the first has three times the others' work. */
static void set_samples(struct policy_view *node, double serial_s)
{
	for (unsigned int rank = 0; rank < 8; rank++) {
		double all_s = rank ? 0.01 : 0.03, before_s = rank ? serial_s / 3 : serial_s;

		node->samples[rank] = (struct mal_sample){.running = true,
							  .elapsed_s = 0.03,
							  .cpus = 6,
							  .team = 6,
							  .phases = 1,
							  .serial_s = before_s,
							  .region_s = all_s - before_s,
							  .work_s = 6 * (all_s - before_s),
							  .mpi_s = 0.03 - all_s};
	}
}

/*
 * Behind a long serial part a region gets all CPUs; one that begins with the others gets none, and
 * one that can use no more than its own does not gain.
 */
static void auto_prefers_lending_behind_serial_parts(void **state)
{
	enum { NO_SERIAL, LIMITED, FITS, CASES };

	(void)state;
	for (unsigned int of = 0; of < CASES; of++) {
		const unsigned int max[8] = {6, 6, 6, 6, 6, 6, 6, 6};
		static struct policy_view node;
		void *policy = create(&mal_policy_auto);

		make_view(&node, 8, 6, 3);
		if (of == LIMITED)
			mal_auto_limit(policy, max, 8);
		for (unsigned int window = 0; window < 2; window++) {
			set_samples(&node, of == NO_SERIAL ? 0 : 0.012);
			decide(&node, &mal_policy_auto, policy);
			assert_int_equal(node.plan.lend, of == FITS && window);
			assert_int_equal(node.plan.move, of != LIMITED && !window);
		}
		mal_policy_auto.destroy(policy);
	}
}

/* A launcher may start as many ranks as there are CPUs; it starts two. */
static void auto_moves_where_fewer_ranks_come(void **state)
{
	const double no_lending[] = {3, 0.5, 0, 1, 1};
	void *policy = mal_policy_auto.create(no_lending);
	static struct policy_view node;

	(void)state;
	make_view(&node, 8, 1, 8);
	node.view.samples = NULL;
	decide(&node, &mal_policy_auto, policy);
	make_view(&node, 2, 4, 8);
	node.samples[0].work_s = 4;
	node.samples[1].work_s = 1;
	decide(&node, &mal_policy_auto, policy);
	assert_true(node.plan.move);
	mal_policy_auto.destroy(policy);
}

static void auto_leaves_balance_alone(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);

	(void)state;
	make_view(&node, 8, 6, 3);
	for (unsigned int window = 0; window < 20; window++) {
		for (unsigned int i = 0; i < 8; i++)
			node.samples[i].work_s = 5.9 + 0.02 * ((i * 7 + window * 3) % 10);
		decide(&node, &mal_policy_auto, policy);
		assert_false(node.plan.move);
		assert_true(node.plan.bind);
	}
	mal_policy_auto.destroy(policy);
}

/* A small gain that lasts is taken, one that shows up once is not. */
static void auto_waits_for_small_gains(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);

	(void)state;
	make_view(&node, 2, 16, 4);
	node.samples[0].work_s = 16.5;
	node.samples[1].work_s = 15.0;
	decide(&node, &mal_policy_auto, policy);
	assert_false(node.plan.move);
	decide(&node, &mal_policy_auto, policy);
	assert_true(node.plan.move);
	assert_int_equal(node.count[0], 17);
	mal_policy_auto.destroy(policy);
}

/* Fills SAMPLES with two ranks' next window, which ran by PLAN, of one of a test's programs. */
typedef void fill_samples(const struct mal_plan *plan, unsigned int window, unsigned int variant,
			  struct mal_sample *samples);

/* Two ranks of CPUS CPUs that lend. Returns the number of WINDOWS in which nothing was done. */
static unsigned int count_looks(fill_samples *fill, unsigned int variant, unsigned int cpus,
				unsigned int windows)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);
	unsigned int looks = 0;

	make_view(&node, 2, cpus, 2 * cpus);
	node.plan.lend = true;
	for (unsigned int window = 0; window < windows; window++) {
		looks += !node.plan.lend;
		fill(&node.plan, window, variant, node.samples);
		decide(&node, &mal_policy_auto, policy);
	}
	mal_policy_auto.destroy(policy);
	return looks;
}

/* Without lending a phase takes as long, or twice as long; windows differ by 5 %. */
static void fill_noisy(const struct mal_plan *plan, unsigned int window, unsigned int variant,
		       struct mal_sample *samples)
{
	double phase_s = (variant && !plan->lend ? 2 : 1) + window % 2 * 0.05;

	for (unsigned int i = 0; i < 2; i++)
		samples[i] = (struct mal_sample){.running = true,
						 .elapsed_s = phase_s,
						 .cpus = 1,
						 .work_s = phase_s / (1 + i)};
}

/* A look takes two windows of these, but one where doing nothing takes twice as long at once. */
static void auto_looks_no_longer_than_needed(void **state)
{
	(void)state;
	assert_true(count_looks(fill_noisy, 0, 1, 30) >= 2);
	assert_int_equal(count_looks(fill_noisy, 1, 1, 30), 1);
}

/* The collective calls in a time step of a program that makes six in one and fifteen in another. */
static double calls_in(unsigned int window)
{
	static const double calls[] = {6, 15, 8, 14, 7, 12, 15, 9, 6, 13, 11};

	return calls[window % (sizeof(calls) / sizeof(calls[0]))];
}

/* As many regions in each time step, which takes half as long again without lending. */
static void fill_steady_regions(const struct mal_plan *plan, unsigned int window,
				unsigned int variant, struct mal_sample *samples)
{
	double step_s = plan->lend ? 0.2 : 0.3;

	(void)variant;
	for (unsigned int i = 0; i < 2; i++)
		samples[i] = (struct mal_sample){.running = true,
						 .elapsed_s = step_s,
						 .cpus = 1,
						 .work_s = step_s / (1 + i),
						 .region_s = step_s / 20,
						 .phases = calls_in(window)};
}

/* The regions show at once that doing nothing takes longer. */
static void auto_counts_what_is_steady(void **state)
{
	(void)state;
	assert_int_equal(count_looks(fill_steady_regions, 0, 1, 60), 1);
}

/* Rank VARIANT has the shorter regions; with lending the other rank does a little more. */
static void fill_two_lengths(const struct mal_plan *plan, unsigned int window, unsigned int variant,
			     struct mal_sample *samples)
{
	double step_s = plan->lend ? 0.14 : 0.2;

	for (unsigned int i = 0; i < 2; i++)
		samples[i] = (struct mal_sample){.running = true,
						 .elapsed_s = step_s,
						 .cpus = 2,
						 .work_s = plan->lend == (i == 0) ? 0.19 : 0.18,
						 .mpi_s = step_s / 2,
						 .region_s = step_s / 2 / (i == variant ? 100 : 20),
						 .phases = calls_in(window)};
}

static void auto_counts_all_ranks_regions(void **state)
{
	(void)state;
	assert_true(count_looks(fill_two_lengths, 0, 2, 300) < 30);
	assert_true(count_looks(fill_two_lengths, 1, 2, 300) < 30);
}

/* Regions never end, or those of VARIANT 1 do. */
static void fill_one_length(const struct mal_plan *plan, unsigned int window, unsigned int variant,
			    struct mal_sample *samples)
{
	double step_s = plan->lend ? 0.14 : 0.2, steps = plan->short_windows ? 1 : 5;

	/* A short window would have all regions of a time step, or none. */
	assert_false(variant && window > 20 && plan->short_windows);

	for (unsigned int i = 0; i < 2; i++)
		samples[i] = (struct mal_sample){.running = true,
						 .elapsed_s = steps * step_s,
						 .cpus = 2,
						 .work_s = steps * 0.18,
						 .mpi_s = steps * step_s / 2,
						 .region_s = variant ? steps * step_s / 100 : 0,
						 .phases = steps * calls_in(window)};
}

/*
 * Regions that never end are no measure. Where regions are one, windows stay as long as they are: a
 * short one has all regions of a time step, or none.
 */
static void auto_counts_in_windows_of_one_length(void **state)
{
	(void)state;
	assert_true(count_looks(fill_one_length, 0, 2, 300) < 30);
	assert_true(count_looks(fill_one_length, 1, 2, 300) < 30);
}

/*
 * The longest rank's time over the ideal time, mean of WINDOWS windows; a plan takes effect after
 * LAG windows.
 */
static double mean_cost(double (*part)(unsigned int window), unsigned int windows, unsigned int lag)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);
	unsigned int owner[64][8], cpus[2];
	double sum = 0;

	make_view(&node, 2, 4, 8);
	for (unsigned int i = 0; i < 64; i++)
		memcpy(owner[i], node.owner, sizeof(owner[i]));
	for (unsigned int window = 0; window < windows; window++) {
		unsigned int *later = owner[(window + lag) % 64];
		double heavy, longest;

		memcpy(later, owner[(window + lag + 63) % 64], sizeof(owner[0]));
		memcpy(node.owner, owner[window % 64], sizeof(owner[0]));
		mal_count_cpus(node.owner, 8, 2, cpus);
		heavy = part(window);
		longest = fmax(8 * heavy / cpus[0], 8 * (1 - heavy) / cpus[1]);

		for (unsigned int i = 0; i < 2; i++)
			node.samples[i] =
				(struct mal_sample){.running = true,
						    .elapsed_s = longest,
						    .cpus = cpus[i],
						    .work_s = 8 * (i ? 1 - heavy : heavy)};
		node.samples[0].mpi_s = longest - 8 * heavy / cpus[0];
		node.samples[1].mpi_s = longest - 8 * (1 - heavy) / cpus[1];
		sum += longest;
		decide(&node, &mal_policy_auto, policy);
		if (node.plan.move)
			memcpy(later, node.new_owner, sizeof(owner[0]));
	}
	mal_policy_auto.destroy(policy);
	return sum / windows;
}

static double steady_part(unsigned int window)
{
	(void)window;
	return 0.75;
}

static double drifting_part(unsigned int window)
{
	return 0.75 - window * 0.005;
}

/* Another one's turn in every tenth window. */
static double spiky_part(unsigned int window)
{
	return window % 10 == 9 ? 0.1 : 0.8;
}

static double jumping_part(unsigned int window)
{
	return window < 50 ? 0.75 : 0.25;
}

static double flapping_part(unsigned int window)
{
	return window % 4 < 2 ? 0.75 : 0.25;
}

/* Without any move these cost 1.5, drift 1.25. */
static void auto_follows_what_can_be_followed(void **state)
{
	(void)state;
	print_message("# costs %.3f %.3f %.3f %.3f %.3f %.3f %.3f\n",
		      mean_cost(steady_part, 100, 1), mean_cost(jumping_part, 100, 1),
		      mean_cost(drifting_part, 100, 1), mean_cost(drifting_part, 100, 2),
		      mean_cost(spiky_part, 200, 1), mean_cost(flapping_part, 400, 1),
		      mean_cost(flapping_part, 400, 2));
	/* Three of a hundred windows are a look at home. */
	assert_true(mean_cost(steady_part, 100, 1) < 1.03);
	assert_true(mean_cost(jumping_part, 100, 1) < 1.06);
	assert_true(mean_cost(drifting_part, 100, 1) < 1.10);
	assert_true(mean_cost(drifting_part, 100, 2) < 1.12);
	/* Spikes are more than noise, and make leaving home doubtful: without any move 1.62. */
	assert_true(mean_cost(spiky_part, 200, 1) < 1.6);
	/* Plans that take effect late are judged by the window that they were for: else 1.576. */
	assert_true(mean_cost(spiky_part, 200, 2) < 1.55);
	/*
	 * What cannot be followed costs little more than not moving, also if plans take effect
	 * late.
	 */
	assert_true(mean_cost(flapping_part, 400, 1) < 1.55);
	assert_true(mean_cost(flapping_part, 400, 2) < 1.60);
}

/* More CPUs do not shorten serial time, and a rank that cannot use them gets none. */
static void auto_knows_limits(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);

	(void)state;
	make_view(&node, 2, 4, 4);
	node.samples[0].serial_s = 1;
	node.samples[1].work_s = 4;
	decide(&node, &mal_policy_auto, policy);
	assert_false(node.plan.move);
	mal_policy_auto.destroy(policy);
	policy = create(&mal_policy_auto);
	node.samples[0] = (struct mal_sample){
		.running = true, .elapsed_s = 1, .cpus = 4, .work_s = 4, .max = 4};
	node.samples[1] = (struct mal_sample){
		.running = true, .elapsed_s = 1, .cpus = 4, .work_s = 1, .max = 4};
	decide(&node, &mal_policy_auto, policy);
	assert_false(node.plan.move);
	mal_policy_auto.destroy(policy);
}

/* How long a rank's phase takes with n CPUs, whatever it reports: serial + work / n + crowd n. */
struct truth {
	double serial, work, crowd;
};

static double true_time(const struct truth *truth, unsigned int cpus)
{
	return truth->serial + truth->work / cpus + truth->crowd * cpus;
}

/*
 * Run RANKS ranks of CPUS CPUs under auto for WINDOWS windows. Their core time is the time of all
 * their threads, as in memory-bound programs. Sets *LAST to the mean length of the last ten
 * windows; returns the number of CPUs moved.
 */
static unsigned int live(const struct truth *truths, unsigned int ranks, unsigned int cpus,
			 unsigned int windows, double *last)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);
	unsigned int now[MAX], moves = 0;

	make_view(&node, ranks, cpus, 8);
	for (unsigned int rank = 0; rank < ranks; rank++)
		now[rank] = cpus;
	*last = 0;
	for (unsigned int window = 0; window < windows; window++) {
		double longest = 0;

		for (unsigned int rank = 0; rank < ranks; rank++)
			longest = fmax(longest, true_time(&truths[rank], now[rank]));
		for (unsigned int rank = 0; rank < ranks; rank++) {
			double time = true_time(&truths[rank], now[rank]) *
				      (1 + 0.004 * (window * 7 % 5 - 2.0) / 2);

			node.samples[rank] = (struct mal_sample){.running = true,
								 .elapsed_s = longest,
								 .cpus = now[rank],
								 .team = now[rank],
								 .phases = 1,
								 .work_s = time * now[rank],
								 .mpi_s = longest - time};
		}
		*last += window + 10 >= windows ? longest / 10 : 0;
		decide(&node, &mal_policy_auto, policy);
		if (!node.plan.move)
			continue;
		assert_null(mal_plan_check(&node.view, &node.plan));
		for (unsigned int rank = 0; rank < ranks; rank++)
			moves += node.count[rank] > now[rank] ? node.count[rank] - now[rank] : 0;
		memcpy(now, node.count, sizeof(now));
		memcpy(node.owner, node.new_owner, sizeof(node.owner));
	}
	mal_policy_auto.destroy(policy);
	return moves;
}

/* A rank whose work scales badly, or not at all, does not attract CPUs without end. */
static void auto_learns_how_work_scales(void **state)
{
	static const struct {
		struct truth truths[4];
		double near; /* the best possible, in the end */
		unsigned int moves;
	} cases[] = {
		{{{1.0, 8, 0}, {0, 14.4, 0}, {0, 9.6, 0}, {0, 9.6, 0}}, 1.01, 32},
		{{{1.78, 1.78, 0}, {0, 14.4, 0}, {0, 9.6, 0}, {0, 9.6, 0}}, 1.02, 32},
		{{{2.0, 0, 0}, {0, 14.4, 0}, {0, 9.6, 0}, {0, 9.6, 0}}, 1.01, 56},
		{{{0, 8, 0.12}, {0, 14.4, 0}, {0, 9.6, 0}, {0, 9.6, 0}}, 1.01, 16},
		/*
		 * Slower with each CPU more: given up, and tried less and less often (using fewer
		 * CPUs is left to explore).
		 */
		{{{0, 4, 0.25}, {0, 14.4, 0}, {0, 9.6, 0}, {0, 9.6, 0}}, 1.26, 72},
		{{{0, 4, 0.25}, {0, 4, 0.25}, {0, 4, 0.25}, {0, 14, 0}}, 1.26, 72},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double last, first = 0, best = 1e9;
		unsigned int moves = live(cases[i].truths, 4, 8, 200, &last);
		const struct truth *t = cases[i].truths;

		for (unsigned int a = 1; a < 30; a++)
			for (unsigned int b = 1; a + b < 31; b++)
				for (unsigned int c = 1; a + b + c < 32; c++)
					best = fmin(
						best,
						fmax(fmax(true_time(&t[0], a), true_time(&t[1], b)),
						     fmax(true_time(&t[2], c),
							  true_time(&t[3], 32 - a - b - c))));
		for (unsigned int rank = 0; rank < 4; rank++)
			first = fmax(first, true_time(&t[rank], 8));
		print_message("# case %zu: %.3f s at first, %.3f in the end, %.3f at best, %u CPUs "
			      "moved\n",
			      i, first, last, best, moves);
		assert_true(last <= 1.001 * first && last <= cases[i].near * best &&
			    moves <= cases[i].moves);
	}
}

/*
 * Where a window is one long region, that has begun when the window's plan comes: what lending
 * saves is seen in the window after.
 */
static void auto_sees_lending_in_long_regions(void **state)
{
	static struct policy_view node;
	void *policy = create(&mal_policy_auto);
	bool lent[2] = {false, false};
	unsigned int with = 0;

	(void)state;
	make_view(&node, 4, 2, 8);
	for (unsigned int window = 0; window < 60; window++) {
		double longest = lent[0] ? 0.3 : 0.4;

		for (unsigned int rank = 0; rank < 4; rank++)
			node.samples[rank] = (struct mal_sample){.running = true,
								 .elapsed_s = longest,
								 .cpus = 2,
								 .team = 2,
								 .phases = 1,
								 .region_s = rank ? 0.2 : longest,
								 .work_s = rank ? 0.4 : 0.8,
								 .mpi_s = rank ? longest - 0.2 : 0};
		decide(&node, &mal_policy_auto, policy);
		lent[0] = lent[1];
		lent[1] = node.plan.lend;
		with += window >= 40 && lent[1];
		assert_false(node.plan.move);
	}
	assert_in_range(with, 15, 20);
	mal_policy_auto.destroy(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_moves_to_the_heavy_rank),
		cmocka_unit_test(auto_lends_at_once_where_nothing_can_move),
		cmocka_unit_test(auto_lends_for_what_the_first_window_leaves),
		cmocka_unit_test(auto_lends_once_a_window_leaves_much),
		cmocka_unit_test(auto_lends_on_where_ranks_leave),
		cmocka_unit_test(auto_prefers_lending_behind_serial_parts),
		cmocka_unit_test(auto_moves_where_fewer_ranks_come),
		cmocka_unit_test(auto_leaves_balance_alone),
		cmocka_unit_test(auto_waits_for_small_gains),
		cmocka_unit_test(auto_looks_no_longer_than_needed),
		cmocka_unit_test(auto_counts_what_is_steady),
		cmocka_unit_test(auto_counts_all_ranks_regions),
		cmocka_unit_test(auto_counts_in_windows_of_one_length),
		cmocka_unit_test(auto_follows_what_can_be_followed),
		cmocka_unit_test(auto_knows_limits),
		cmocka_unit_test(auto_learns_how_work_scales),
		cmocka_unit_test(auto_sees_lending_in_long_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
