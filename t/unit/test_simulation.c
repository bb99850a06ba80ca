/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_simulation.c: the model of a window, simulated steps, and properties of every plan of every
 * policy.
 */
#include "t/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/decide/decision.h"
#include "policies/decide/simulation.h"
#include "policies/interface/attained.h"
#include "policies/interface/choice.h"
#include "policies/interface/limits.h"
#include "policies/interface/registry.h"
#include "policies/model/model.h"

#define MAX_RANKS 24
#define MAX_CPUS 96

static void near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-6 * wanted + 1e-9)
		fail_msg("%.9f instead of %.9f", value, wanted);
}

static struct mal_sample load(double work_s, double serial_s, double region_s)
{
	return (struct mal_sample){.running = true,
				   .elapsed_s = 4,
				   .work_s = work_s,
				   .serial_s = serial_s,
				   .mpi_s = 0.1,
				   .region_s = region_s};
}

static void model_without_lending(void **state)
{
	struct mal_sample samples[3] = {load(3, 0.5, 1), load(1, 0, 1), {.running = false}};
	unsigned int count[3] = {2, 1, 0};
	double mpi_s[3];

	(void)state;
	near(mal_model_communication(samples, 3), 0.1);
	near(mal_model_ideal(samples, 3, 3), 4.5 / 3 + 0.1);
	/* No distribution makes a rank faster than all CPUs would. */
	near(mal_model_ideal(samples, 1, 2), 0.5 + 3.0 / 2 + 0.1);
	near(mal_model_ideal(samples, 3, 100), 0.5 + 3.0 / 100 + 0.1);
	near(mal_model_window(samples, 3, &(struct mal_usage){.count = count}, mpi_s),
	     0.5 + 1.5 + 0.1);
	near(mpi_s[0], 0.1);
	near(mpi_s[1], 1.1);
	near(mpi_s[2], 0);
}

/* One CPU each, 3 s against 1 s: after 1 s and the delay the heavy rank has two. */
static void model_of_growth(void **state)
{
	struct mal_sample samples[2] = {load(3, 0, 3), load(1, 0, 1)};
	unsigned int count[2] = {1, 1};

	(void)state;
	near(mal_model_window(samples, 2,
			      &(struct mal_usage){.count = count, .lend = true, .grow = true},
			      NULL),
	     1.00015 + 1.99985 / 2 + 0.1);
}

/*
 * Borrowed at the next region only: the heavy rank's regions take 0.4 s, the third one ends after
 * 1.2 s.
 */
static void model_of_borrowing(void **state)
{
	struct mal_sample samples[2] = {load(3.2, 0, 0.4), load(1, 0, 1)};
	unsigned int count[2] = {1, 1};

	(void)state;
	samples[0].elapsed_s = 3.3;
	near(mal_model_window(samples, 2, &(struct mal_usage){.count = count, .lend = true}, NULL),
	     1.2 + 2.0 / 2 + 0.1);
}

static void model_knows_limits(void **state)
{
	struct mal_sample samples[2] = {load(3, 0, 3), load(1, 0, 1)};
	unsigned int count[2] = {1, 1};

	(void)state;
	samples[0].max = 1;
	near(mal_model_window(samples, 2,
			      &(struct mal_usage){.count = count, .lend = true, .grow = true},
			      NULL),
	     3.1);
}

static void model_of_lewis_options(void **state)
{
	struct mal_sample samples[2] = {load(6, 0, 6e-6), load(2, 0, 6e-6)};
	unsigned int count[2] = {2, 2};
	struct mal_usage usage = {.count = count, .lend = true};

	(void)state;
	near(mal_model_window(samples, 2, &usage, NULL), 1.00015 + 3.9997 / 4 + 0.1);
	usage.lending.keep_one = true;
	near(mal_model_window(samples, 2, &usage, NULL), 1.00015 + 3.9997 / 3 + 0.1);
	usage.lending = (struct mal_lending){.max = 2};
	near(mal_model_window(samples, 2, &usage, NULL), 3.1);
}

/*
 * A window of 1000 phases of 3.1 ms: each has its own wait until the CPU is lent. In shorter ones
 * nobody waits that long. Phases without a region do not count.
 */
static void model_of_short_phases(void **state)
{
	struct mal_sample samples[2] = {load(3, 0, 3e-3), load(1, 0, 1e-3)};
	struct mal_sample short_ones[2] = {load(0.19, 0, 0.19e-3), load(0.05, 0, 0.05e-3)};
	unsigned int count[2] = {1, 1};
	struct mal_usage usage = {.count = count, .lend = true, .grow = true};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		samples[i].phases = short_ones[i].phases = 1000;
		samples[i].elapsed_s = samples[i].work_s + samples[i].mpi_s;
		short_ones[i].elapsed_s = short_ones[i].work_s + short_ones[i].mpi_s;
	}
	near(mal_model_window(samples, 2, &usage, NULL), 1.15 + 1.85 / 2 + 0.1);
	near(mal_model_window(short_ones, 2, &usage, NULL), 0.19 + 0.1);
	samples[0].region_s = 3;
	samples[1].region_s = 1;
	near(mal_model_window(samples, 2, &usage, NULL), 1.00015 + 1.99985 / 2 + 0.1);
}

/* The rank that will need longest gets lent CPUs, whatever its number. */
static void model_lends_to_the_neediest(void **state)
{
	struct mal_sample samples[3] = {load(2, 0, 2), load(4, 0, 4), load(1, 0, 1)};
	unsigned int count[3] = {1, 1, 1};

	(void)state;
	near(mal_model_window(samples, 3,
			      &(struct mal_usage){.count = count, .lend = true, .grow = true},
			      NULL),
	     1.00015 + 2.99985 / 2 + 0.1);
}

static void places(struct mal_topology *topology, unsigned int cpus, unsigned int group)
{
	static unsigned int l3[MAX_CPUS], numa[MAX_CPUS];

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		l3[cpu] = cpu / group;
		numa[cpu] = 2 * cpu / cpus;
	}
	*topology = (struct mal_topology){cpus, l3, numa, numa, NULL};
}

static struct mal_outcome simulate(const char *spec, const struct mal_sample *samples,
				   unsigned int ranks, unsigned int cpus_each, unsigned int windows)
{
	unsigned int owner[MAX_CPUS];
	struct mal_topology topology;
	struct mal_simulation *simulation;
	struct mal_outcome outcome;
	struct mal_choice choice;

	places(&topology, ranks * cpus_each, 3);
	for (unsigned int cpu = 0; cpu < ranks * cpus_each; cpu++)
		owner[cpu] = cpu / cpus_each;
	assert_int_equal(mal_choose(spec, NULL, MAL_POLICY_DEFAULT, &choice, NULL), 0);
	simulation = mal_simulation_create(choice.policy, choice.values, &topology, ranks, owner);
	assert_non_null(simulation);
	for (unsigned int i = 0; i < windows; i++)
		mal_simulation_window(simulation, samples);
	outcome = *mal_simulation_outcome(simulation);
	mal_simulation_destroy(simulation);
	return outcome;
}

static void simulation_moves_what_the_policy_would(void **state)
{
	struct mal_sample samples[4] = {load(8, 0, 0.01), load(2, 0, 0.01), load(4, 0, 0.01),
					load(2, 0, 0.01)};
	struct mal_sample alike[4];
	struct mal_outcome off, moved;

	(void)state;
	off = simulate("off", samples, 4, 4, 50);
	near(off.elapsed_s, 50 * 2.1);
	near(off.off_s, off.elapsed_s);
	near(off.ideal_s, 50 * 1.1);
	/* With a first look at home that costs three windows. */
	moved = simulate("auto,lend=no", samples, 4, 4, 200);
	assert_true(moved.moves >= 4);
	assert_null(moved.rejection);
	assert_true(mal_attained(moved.off_s, moved.ideal_s, moved.elapsed_s) > 0.95);
	/* Where a phase is one long region too. */
	for (unsigned int i = 0; i < 4; i++) {
		alike[i] = load(i ? 4 : 8, 0, 0.01);
		alike[i].region_s = mal_model_inside(&alike[i]);
	}
	moved = simulate("auto", alike, 4, 2, 100);
	assert_true(moved.lends && moved.lend_times > 0 && moved.lend_times < 0.9);
	/* Where nothing can be gained there is no share of it. */
	assert_true(isnan(mal_attained(1, 0.995, 1)));
	assert_true(isnan(mal_attained(0, 0, 0)));
	assert_true(simulate("sabo", samples, 4, 4, 50).elapsed_s < 0.7 * off.elapsed_s);
	assert_true(simulate("auto", samples, 4, 4, 50).elapsed_s < 0.6 * off.elapsed_s);
}

static int have_no_opinion(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	(void)view;
	plan->lend = plan->move = true;
	return -1;
}

/* A policy without an opinion changes nothing, and a rank that has ended needs no time. */
static void a_silent_policy_changes_nothing(void **state)
{
	const struct mal_policy silent = {
		.abi = MAL_POLICY_ABI, .name = "silent", .decide = have_no_opinion};
	struct mal_sample samples[2] = {load(3, 0, 1), {.running = false}};
	unsigned int owner[2] = {0, 1};
	struct mal_topology topology;
	struct mal_simulation *simulation;

	(void)state;
	places(&topology, 2, 1);
	assert_null(mal_simulation_create(&silent, NULL, &topology, MAL_MAX_RANKS + 1, owner));
	simulation = mal_simulation_create(&silent, NULL, &topology, 2, owner);
	near(mal_simulation_window(simulation, samples), 3.1);
	near(mal_simulation_window(simulation, samples), 3.1);
	assert_null(mal_simulation_outcome(simulation)->rejection);
	assert_int_equal(mal_simulation_outcome(simulation)->moves, 0);
	mal_simulation_destroy(simulation);
}

static int decide_nonsense(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	plan->bind = plan->move = plan->lend = true;
	if (view->samples)
		plan->count[0] = 0;
	return 0;
}

static void broken_policy_is_rejected(void **state)
{
	const struct mal_policy broken = {
		.abi = MAL_POLICY_ABI, .name = "broken", .decide = decide_nonsense};
	struct mal_sample samples[2] = {load(3, 0, 1), load(1, 0, 1)};
	unsigned int owner[2] = {0, 1};
	struct mal_topology topology;
	struct mal_simulation *simulation;

	(void)state;
	places(&topology, 2, 1);
	simulation = mal_simulation_create(&broken, NULL, &topology, 2, owner);
	mal_simulation_window(simulation, samples);
	near(mal_simulation_window(simulation, samples), 3.1);
	assert_non_null(mal_simulation_outcome(simulation)->rejection);
	assert_int_equal(mal_simulation_outcome(simulation)->moves, 0);
	mal_simulation_destroy(simulation);
}

/* Random numbers for random steps: xorshift (Marsaglia 2003). */
static uint32_t next(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

struct step {
	struct mal_topology topology;
	struct mal_view view;
	struct mal_sample samples[MAX_RANKS];
	unsigned int owner[MAX_CPUS];
};

static void make_step(struct step *step, uint32_t *random)
{
	unsigned int ranks = 1 + next(random) % MAX_RANKS;
	unsigned int cpus = ranks + next(random) % (MAX_CPUS - ranks + 1);

	memset(step, 0, sizeof(*step));
	places(&step->topology, cpus, 1 + next(random) % 8);
	for (unsigned int rank = 0; rank < ranks; rank++)
		step->samples[rank] = load(next(random) % 1000 * 1e-3, next(random) % 100 * 1e-4,
					   next(random) % 50 * 1e-3);
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		step->owner[cpu] = cpu < ranks ? cpu : next(random) % ranks;
		step->samples[step->owner[cpu]].cpus++;
	}
	for (unsigned int rank = 0; rank < ranks; rank++) {
		if (next(random) % 8 == 0)
			step->samples[rank].max = step->samples[rank].cpus + next(random) % 4;
		if (next(random) % 16 == 0 && ranks > 1)
			step->samples[rank] = (struct mal_sample){.running = false};
	}
	step->view = (struct mal_view){&step->topology, ranks, step->samples, step->owner};
}

static void vary(struct step *step, uint32_t *random)
{
	for (unsigned int rank = 0; rank < step->view.rank_count; rank++)
		if (step->samples[rank].running && next(random) % 2)
			step->samples[rank].work_s = next(random) % 1000 * 1e-3;
}

/*
 * A policy's plans for some windows: valid, the same twice, and by their own forecast not worse
 * than the present state.
 */
static void check_policy(const struct mal_policy *policy, const double *values, struct step *step,
			 uint32_t random, uint32_t seed)
{
	unsigned int count[2][MAX_RANKS], owner[2][MAX_CPUS];
	void *states[2] = {NULL, NULL};

	for (int i = 0; i < 2; i++)
		states[i] = policy->create ? policy->create(values) : NULL;
	for (int window = 0; window < 4; window++) {
		struct mal_plan plans[2];
		const char *rejection;

		for (int i = 0; i < 2; i++) {
			plans[i] = (struct mal_plan){.count = count[i], .owner = owner[i]};
			if (mal_decide(policy, states[i], &step->view, &plans[i], &rejection) ==
			    MAL_DECISION_REJECTED)
				fail_msg("seed %u: %s makes an invalid plan: %s", seed,
					 policy->name, rejection);
		}
		if (plans[0].move != plans[1].move ||
		    memcmp(owner[0], owner[1], step->topology.cpu_count * sizeof(owner[0][0])) != 0)
			fail_msg("seed %u: %s makes different plans for the same samples", seed,
				 policy->name);
		if (plans[0].forecast_s > plans[0].now_s * (1 + 1e-9))
			fail_msg("seed %u: %s forecasts that its plan is worse", seed,
				 policy->name);
		for (unsigned int rank = 0; plans[0].move && rank < step->view.rank_count; rank++)
			step->samples[rank].cpus = step->samples[rank].running ? count[0][rank] : 0;
		if (plans[0].move)
			memcpy(step->owner, owner[0], sizeof(step->owner));
		vary(step, &random);
	}
	for (int i = 0; i < 2; i++)
		if (policy->destroy)
			policy->destroy(states[i]);
}

#define CASES "100000"

static void plans_of_random_steps(void **state)
{
	const char *chosen = getenv("SEED"), *many = getenv("CASES");
	uint32_t first = chosen ? (uint32_t)strtoul(chosen, NULL, 10) : 1;
	uint32_t cases = chosen ? 1 : (uint32_t)strtoul(many ? many : CASES, NULL, 10);
	const struct mal_policy *policy;

	(void)state;
	print_message("# %u random steps from seed %u on; SEED=N repeats one\n", cases, first);
	for (uint32_t seed = first; seed < first + cases; seed++) {
		/* Each step tests one policy, all in turn. */
		size_t count = 0;
		uint32_t random = seed * 2654435761u + 1;
		struct mal_choice choice;
		struct step step;

		while (mal_policy_at(count))
			count++;
		policy = mal_policy_at(seed % count);
		if (!policy->decide ||
		    mal_choose(policy->name, NULL, MAL_POLICY_DEFAULT, &choice, NULL) < 0)
			continue;
		make_step(&step, &random);
		check_policy(policy, choice.values, &step, random, seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(model_without_lending),
		cmocka_unit_test(model_of_growth),
		cmocka_unit_test(model_of_borrowing),
		cmocka_unit_test(model_knows_limits),
		cmocka_unit_test(model_of_short_phases),
		cmocka_unit_test(model_of_lewis_options),
		cmocka_unit_test(model_lends_to_the_neediest),
		cmocka_unit_test(simulation_moves_what_the_policy_would),
		cmocka_unit_test(broken_policy_is_rejected),
		cmocka_unit_test(a_silent_policy_changes_nothing),
		cmocka_unit_test(plans_of_random_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
