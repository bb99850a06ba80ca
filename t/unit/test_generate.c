/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_generate.c: traces of steps that nobody ran. */
#include "t/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "policies/interface/limits.h"
#include "t/closed/synthetic.h"

static struct mal_trace generate(const char *kind, unsigned int ranks, unsigned int windows,
				 uint64_t seed)
{
	const struct mal_generation wanted = {kind, ranks, 4, windows, seed};
	struct mal_error err = {""};
	struct mal_trace trace;

	if (mal_generate(&wanted, &trace, &err) < 0)
		fail_msg("%s: %s", kind, err.text);
	return trace;
}

/* RANK's work in WINDOW over the mean of all ranks. */
static double part(const struct mal_trace *trace, unsigned int window, unsigned int rank)
{
	const struct mal_sample *samples = trace->windows[window].kept;
	double sum = 0;

	for (unsigned int i = 0; i < trace->rank_count; i++)
		sum += samples[i].work_s;
	return samples[rank].work_s / sum * trace->rank_count;
}

/* The heaviest rank of WINDOW over the mean. */
static double heaviest(const struct mal_trace *trace, unsigned int window)
{
	double most = 0;

	for (unsigned int rank = 0; rank < trace->rank_count; rank++)
		most = part(trace, window, rank) > most ? part(trace, window, rank) : most;
	return most;
}

/*
 * Each kind, with one rank and with several: windows of a step with its own CPUs, which wait for
 * the longest rank.
 */
static void all_kinds_are_steps(void **state)
{
	char kinds[sizeof("steady, drift, burst, random, balanced, amr")];

	(void)state;
	assert_true(strlen(mal_generate_kinds) < sizeof(kinds));
	strcpy(kinds, mal_generate_kinds);
	for (char *kind = strtok(kinds, ", "); kind; kind = strtok(NULL, ", ")) {
		for (unsigned int ranks = 1; ranks < 8; ranks += 3) {
			struct mal_trace trace = generate(kind, ranks, 40, 1);

			assert_string_equal(trace.step, kind);
			assert_int_equal(trace.window_count, 40);
			assert_int_equal(trace.topology.cpu_count, 4 * ranks);
			for (size_t i = 0; i < trace.window_count; i++) {
				const struct mal_trace_window *window = &trace.windows[i];

				assert_true(window->elapsed_s > 0.09 &&
					    window->elapsed_s < 0.1 * ranks + 0.01);
				assert_int_equal(window->owner[4 * ranks - 1], ranks - 1);
				for (unsigned int rank = 0; rank < ranks; rank++) {
					const struct mal_sample *sample = &window->kept[rank];

					assert_true(sample->running && sample->cpus == 4 &&
						    sample->work_s > 0);
					assert_float_equal(sample->serial_s + sample->work_s / 4 +
								   sample->mpi_s,
							   window->elapsed_s, 1e-9);
				}
			}
			mal_trace_destroy(&trace);
		}
	}
}

static void loads_are_as_named(void **state)
{
	struct mal_trace balanced = generate("balanced", 8, 64, 1),
			 burst = generate("burst", 8, 64, 1);
	struct mal_trace steady = generate("steady", 8, 64, 1), amr = generate("amr", 8, 64, 1);
	struct mal_trace drift = generate("drift", 8, 64, 1);

	(void)state;
	for (unsigned int window = 0; window < 64; window++) {
		assert_true(heaviest(&balanced, window) < 1.02);
		assert_float_equal(part(&steady, window, 3), part(&steady, 0, 3), 0.03);
		/* For 8 windows of 20 one of eight has four times the load: 4 of 11 in eight. */
		assert_float_equal(heaviest(&burst, window), (window % 20 < 8 ? 4 * 8 / 11.0 : 1),
				   0.05);
		/* Two of eight, and the next ones 8 windows later. */
		assert_true((part(&amr, window, window / 8) > 1.5) &&
			    part(&amr, window, (window / 8 + 2) % 8) < 1);
		assert_true(part(&drift, window, window / 8) >
			    part(&drift, window, (window / 8 + 4) % 8));
	}
	mal_trace_destroy(&balanced);
	mal_trace_destroy(&burst);
	mal_trace_destroy(&steady);
	mal_trace_destroy(&amr);
	mal_trace_destroy(&drift);
}

static void a_seed_repeats_a_trace(void **state)
{
	struct mal_trace a = generate("random", 4, 5, 7), b = generate("random", 4, 5, 7);
	struct mal_trace c = generate("random", 4, 5, 8);

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		assert_memory_equal(a.windows[i].kept, b.windows[i].kept,
				    4 * sizeof(struct mal_sample));
		assert_true(a.windows[i].kept[0].work_s != c.windows[i].kept[0].work_s);
	}
	mal_trace_destroy(&a);
	mal_trace_destroy(&b);
	mal_trace_destroy(&c);
}

static void what_cannot_be_is_refused(void **state)
{
	struct mal_generation wanted = {"hilly", 4, 4, 5, 1};
	struct mal_trace trace;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_generate(&wanted, &trace, &err), -1);
	assert_non_null(strstr(err.text, "cannot generate 'hilly': known are steady, drift"));
	mal_trace_destroy(&trace);
	wanted.kind = "steady";
	wanted.ranks = MAL_MAX_RANKS + 1;
	assert_int_equal(mal_generate(&wanted, &trace, &err), -1);
	assert_string_equal(err.text, "more than 1024 ranks");
	mal_trace_destroy(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_are_steps),
		cmocka_unit_test(loads_are_as_named),
		cmocka_unit_test(a_seed_repeats_a_trace),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
