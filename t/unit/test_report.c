/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_report.c: what is said of a step: the report as text, as a line and as JSON, its status, and
 * its trace.
 */
#include "t/unit/node_controller.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/report/phrases.h"
#include "libmalleable/controller/report/report_text.h"
#include "libmalleable/controller/report/verdict.h"
#include "libmalleable/core/starts.h"
#include "libmalleable/trace/trace.h"

static struct mal_controller *node;
static char file[] = "/tmp/report-XXXXXX";

/* What the build lacks. */
#ifdef HAVE_SECCOMP
#define NO_FILTER ""
#else
#define NO_FILTER "built without libseccomp: no filter of system calls\n"
#endif
#ifdef HAVE_PMIX
#define NOT_JOINED ""
#else
#define NOT_JOINED "built without PMIx: each node reports by itself\n"
#endif

/* So far. */
static double step_s;

/* Two ranks on two CPUs each; one worked for 3 s and one for 1 s in a window of 1.5 s. */
static void start(const char *policy)
{
	char options[256];

	snprintf(options, sizeof(options), "--step=7.0 --node=n1 --policy=%s", policy);
	node = node_start(2, 2, options);
	node_window(node, 1.5, (const double[]){3, 1});
	node_window(node, 1.5, (const double[]){3, 1});
	step_s = 3;
}

static int set_up(void **state)
{
	int fd = mkstemp(strcpy(file, "/tmp/report-XXXXXX"));

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	start("lewi");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	node_close(node);
	unlink(file);
	return 0;
}

static void start_again(const char *policy)
{
	node_close(node);
	start(policy);
}

static const char *text(void)
{
	static char buffer[4096];
	struct mal_report report;

	assert_true(mal_report_make(node, &report));
	buffer[mal_report_text(node, &report, buffer, sizeof(buffer))] = '\0';
	return buffer;
}

static void says(const char *line)
{
	const char *all = text(), *at = strstr(all, line);

	if (!at || (at > all && at[-1] != '\n') || at[strlen(line)] != '\n')
		fail_msg("no line '%s' in:\n%s", line, all);
}

static void does_not_say(const char *part)
{
	if (strstr(text(), part))
		fail_msg("'%s' in:\n%s", part, text());
}

/* All of it. */
static void of_known_step(void **state)
{
	(void)state;
	assert_string_equal(text(),
			    "not faster: 3.000 s, estimated 3.000 s without, 2.500 s at best\n"
			    "step 7.0 on n1: policy lewi, 2 ranks, 4 CPUs, 3.000 s\n"
			    "load balance (mean/max): 66.7 % as started, 66.7 % as run\n"
			    "parallel efficiency 66.7 % = MPI 66.7 % x OpenMP 100.0 %\n"
			    "  MPI = load balance 66.7 % x communication 100.0 %\n"
			    "  OpenMP = serial parts 100.0 % x regions 100.0 %\n"
			    "CPUs: 0 lends, 0 borrows, 0 grants, 0 reclaims, 0 moves\n" NO_FILTER
			    "overhead: 0.00 % of the ranks' time, controller 5 ms CPU\n");
}

/* What the ranks count is added up, of those that came. */
static void counts_of_ranks_that_came_are_added(void **state)
{
	(void)state;
	node_slot(0)->count.lends = 5;
	node_slot(1)->count.lends = 6;
	node_slot(0)->count.borrows = 7;
	node_slot(1)->count.grants = 8;
	node_slot(0)->count.reclaims = 9;
	node_slot(1)->count.moves = 10;
	node_slot(0)->count.evictions = 4;
	node_slot(0)->count.overlap = 8000;
	node_slot(0)->count.overhead_ticks = 60000000;
	says("CPUs: 11 lends, 7 borrows, 8 grants, 9 reclaims, 10 moves");
	says("reclaims that found a borrower at work: 4, overlapping 2.0 us each");
	says("overhead: 1.00 % of the ranks' time, controller 5 ms CPU");
}

static struct mal_totals times(double elapsed_s, double off_s, double ideal_s)
{
	return (struct mal_totals){.windows = 3,
				   .elapsed_s = elapsed_s,
				   .off_s = off_s,
				   .ideal_s = ideal_s,
				   .balance_before = elapsed_s,
				   .cpus = {8, 6, 5, 4.5, 4}};
}

/* Windows of a step that takes at least as long. */
static void measured(struct mal_totals totals)
{
	if (totals.elapsed_s > step_s) {
		node_pass(totals.elapsed_s - step_s);
		step_s = totals.elapsed_s;
	}
	node_set_totals(node, totals);
}

/* Nothing to gain. */
static void balanced_step_gains_nothing(void **state)
{
	(void)state;
	measured((struct mal_totals){.windows = 3,
				     .elapsed_s = 20,
				     .off_s = 20,
				     .ideal_s = 20,
				     .cpus = {8, 6, 5, 4.5, 4},
				     .balance_before = 20,
				     .balance_after = 20});
	says("balanced as it is: nothing to gain in 20.000 s");
	measured(times(25, 20, 20));
	says("balanced as it is: nothing to gain; 25.000 s, estimated 20.000 s without");
}

/* RANK did so much in all, in seconds; INSIDE: of its two threads in regions. */
static void did(unsigned int rank, double serial_s, double mpi_s, double inside_s, double work_s)
{
	struct mal_counters *count = &node_slot(rank)->count;

	count->serial = mal_s_to_ticks(serial_s);
	count->mpi = mal_s_to_ticks(mpi_s);
	count->region = mal_s_to_ticks(inside_s / 2);
	count->thread_ticks = mal_s_to_ticks(inside_s);
	node_thread(rank, 0)->busy = mal_s_to_ticks(work_s / 4);
	node_thread(rank, 1)->busy = mal_s_to_ticks(work_s * 3 / 4);
}

/* Efficiencies are of all that ranks did, windows or not; what is not known is no 0. */
static void efficiencies_of_all(void **state)
{
	(void)state;
	node_pass(10);
	node_set_totals(node, (struct mal_totals){0});
	did(0, 1, 0, 6, 5);
	did(1, 0, 2, 4, 4);
	says("too short to measure: fewer than two phase boundaries were seen");
	says("parallel efficiency 62.5 % = MPI 75.0 % x OpenMP 83.3 %");
	says("  MPI = load balance 75.0 % x communication 100.0 %");
	says("  OpenMP = serial parts 91.7 % x regions 90.9 %");
	/* What threads without slots did, only a sample tells. */
	node_slot(1)->unmanaged = true;
	node_slot(1)->snapshot.busy = mal_s_to_ticks(2);
	node_slot(1)->snapshot.serial = 0;
	says("parallel efficiency 50.0 % = MPI 75.0 % x OpenMP 66.7 %");
	node_slot(1)->snapshot.tick = 0;
	does_not_say("efficiency");
	/* It claims more than there was time for. */
	node_slot(1)->unmanaged = false;
	did(1, 1e9, 1e9, 1e9, 1e9);
	says("parallel efficiency 100.0 % and noise = MPI 100.0 % and noise x OpenMP 100.0 %");
	did(0, 0, 0, 0, 0);
	did(1, 0, 0, 0, 0);
	does_not_say("efficiency");
}

/* Nothing to gain, but not balanced: a rank has less to do, and no CPU helps one thread. */
static void serial_work_gains_nothing(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 1, "--step=7.0 --node=n1 --policy=lewi");
	for (int window = 0; window < 2; window++) {
		node_pass(2);
		node_say(0, 0, 2, 0);
		node_say(1, 0, 1, 1);
		node_take(node);
	}
	says("ranks wait for work of one thread: nothing to gain in 4.000 s");
	node_set_plausibility(node, (struct mal_plausibility){.computed_s = 5, .lost_s = 3});
	says("ranks wait for other processes or files: nothing to gain in 4.000 s");
	says("load balance (mean/max): 75.0 % as started, 75.0 % as run");
	says("  MPI = load balance 75.0 % x communication 100.0 %");
}

/* What no window measured is the same without us. */
static void verdict_is_of_the_whole_step(void **state)
{
	(void)state;
	/* The step takes 3 s, and 2 s are in no window. */
	measured(times(1, 2, 1));
	says("1.33 times as fast: 3.000 s, estimated 4.000 s without; 100 % of the possible gain");
}

/* Nor does it take longer than the step, where windows of ranks overlap. */
static void verdict_is_no_longer_than_the_step(void **state)
{
	(void)state;
	node_set_totals(node, times(6, 8, 5));
	says("1.33 times as fast: 3.000 s, estimated 4.000 s without; 67 % of the possible gain");
}

/* With what to try where a rank was told one thread. */
static void says_of_one(const char *to_try)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "not faster: 19.990 s, estimated 20.000 s without, 10.000 s at best; the program "
		 "sees 1 thread, so no team grows%s",
		 to_try);
	says(line);
}

/* The first line: how many times as fast, or why not. */
static void verdict_is_the_first_line(void **state)
{
	(void)state;
	measured(times(9, 20, 10));
	says("2.22 times as fast: 9.000 s, estimated 20.000 s without; the full possible gain, "
	     "within noise");
	measured(times(15, 20, 10));
	says("1.33 times as fast: 15.000 s, estimated 20.000 s without; 50 % of the possible gain");
	assert_memory_equal(text(), "1.33 times", 10);
	measured(times(19.99, 20, 10));
	says("not faster: 19.990 s, estimated 20.000 s without, 10.000 s at best");
	atomic_store(&node_slot(0)->proves, MAL_PROVES_ONE);
	says_of_one("");
	node_slot(0)->chosen = MAL_CHOSEN_BY_VARIABLE;
	says_of_one(": try without OMP_NUM_THREADS");
	mal_cpumask_parse("0", &node_slot(0)->home, NULL);
	node_slot(0)->chosen = 0;
	says_of_one(": try two CPUs a rank, or --balance=max_threads=2");
	node_slot(0)->chosen = MAL_CHOSEN_BY_KEY;
	says_of_one(": try max_threads=2");
	atomic_store(&node_slot(0)->proves, MAL_PROVES_NOT);
	measured(times(22, 20, 10));
	says("1.10 times as slow: 22.000 s, estimated 20.000 s without, 10.000 s at best");
	atomic_store(&node_slot(1)->reason, MAL_REASON_DYNAMIC);
	says("1.10 times as slow: 22.000 s, estimated 20.000 s without, 10.000 s at best; the "
	     "runtime "
	     "chooses the number of threads: try without OMP_DYNAMIC");
}

/* Others used the part USED of the CPUs, and took the part TAKEN of a thread's time. */
static void beside_others(double used, double taken)
{
	node_set_plausibility(node, (struct mal_plausibility){.parts = {used, taken}});
}

/* Where others use the CPUs, it would not have run as estimated, and no setting helps. */
static void verdict_beside_others(void **state)
{
	struct mal_totals totals = times(22, 20, 10);

	(void)state;
	measured(totals);
	beside_others(0.484, 0.484);
	says("no estimate: 22.000 s, others used 48 % of the CPUs: try a quiet node");
	does_not_say("times as slow");
	assert_true(isnan(mal_verdict_off(node, 22)));
	node->deciding_own.rejected = "CPU 3 twice";
	says("no estimate: 22.000 s, the policy was rejected: try another one");
	start_again("lewi");
	/* A gain is no better known than a loss. */
	measured(times(15, 20, 10));
	beside_others(0.484, 0.484);
	says("no estimate: 15.000 s, others used 48 % of the CPUs: try a quiet node");
	/* Also of a loss. */
	measured(totals);
	beside_others(0.484, 0.484);
	says("no estimate: 22.000 s, others used 48 % of the CPUs: try a quiet node");
	/* One CPU of many is enough, where a rank's threads waited. */
	beside_others(0.01, 0.23);
	says("no estimate: 22.000 s, others used 23 % of a CPU: try a quiet node");
	/* They had what no rank wanted. */
	beside_others(0.5, 0.09);
	says("1.10 times as slow: 22.000 s, estimated 20.000 s without, 10.000 s at best");
	assert_float_equal(mal_verdict_off(node, 22), 20, 1e-9);
	/* The kernel does not count who waited. */
	beside_others(0.484, NAN);
	says("no estimate: 22.000 s, others used 48 % of the CPUs: try a quiet node");
	beside_others(NAN, NAN);
	says("1.10 times as slow: 22.000 s, estimated 20.000 s without, 10.000 s at best");
	assert_float_equal(mal_verdict_off(node, 22), 20, 1e-9);
}

/* An estimate that may be a tenth too small is none. */
static void verdict_that_is_unsure(void **state)
{
	struct mal_totals totals = times(22, 20, 10);

	(void)state;
	totals.unsure_s = 1.9;
	measured(totals);
	says("1.10 times as slow: 22.000 s, estimated 20.000 s without, 10.000 s at best");
	totals.unsure_s = 2.1;
	measured(totals);
	says("no estimate: 22.000 s");
	assert_true(isnan(mal_verdict_off(node, 22)));
	node_slot(0)->unmanaged = node_slot(1)->unmanaged = true;
	node_slot(0)->team = node_slot(1)->team = 4;
	says("no estimate: 22.000 s, its threads are not seen (no OpenMP with OMPT)");
	/* What no window measured is known. */
	node_pass(8);
	says("1.07 times as slow: 30.000 s, estimated 28.000 s without, 18.000 s at best; its "
	     "threads are not seen (no OpenMP with OMPT)");
}

/* Of threads that are not seen no gain is believed that trials have refuted. */
static void verdict_that_is_refuted(void **state)
{
	(void)state;
	start_again("puppet");
	node_puppet(&(struct mal_plan){.bind = true, .lend = true, .lend_times = 0.97}, NULL);
	node_begin(node);
	node_slot(0)->unmanaged = node_slot(1)->unmanaged = true;
	node_slot(0)->team = node_slot(1)->team = 4;
	measured(times(19, 20, 10));
	says("1.05 times as fast: 21.000 s, estimated 22.000 s without; 10 % of the possible gain");
	/* That much was not measured. */
	measured(times(15, 20, 10));
	says("no estimate: 21.000 s, its threads are not seen (no OpenMP with OMPT)");
	node_puppet(&(struct mal_plan){.bind = true, .lend_times = 1.3}, NULL);
	node_begin(node);
	measured(times(19, 20, 10));
	says("no estimate: 23.000 s, its threads are not seen (no OpenMP with OMPT)");
	assert_true(isnan(mal_verdict_off(node, 23)));
	node_slot(0)->unmanaged = node_slot(1)->unmanaged = false;
	says("1.04 times as fast: 23.000 s, estimated 24.000 s without; 10 % of the possible gain");
}

/* Each reason says what to try, and the longest verdict is whole. */
static void verdict_says_what_to_try(void **state)
{
	char wanted[MAL_VERDICT_SIZE];

	(void)state;
	measured(times(2200000, 2000000, 1000000));
	for (int reason = MAL_REASON_USER; reason <= MAL_REASON_REPORTED; reason++) {
		char to_try[160];

		node_slot(0)->reason = node_slot(1)->reason = (uint32_t)reason;
		node_slot(0)->chosen = MAL_CHOSEN_BY_VARIABLE;
		mal_phrase_to_try(node, (enum mal_mode_reason)reason, to_try, sizeof(to_try));
		assert_true(strlen(to_try) > 20 && strlen(to_try) < 127);
		snprintf(wanted, sizeof(wanted),
			 "1.10 times as slow: 2200000.000 s, estimated 2000000.000 s without, "
			 "1000000.000 s at best; %s",
			 to_try);
		says(wanted);
	}
}

/* The advice on the reason of both ranks, of which the first has THREADS, and CPUS. */
static void advises(enum mal_mode_reason reason, unsigned int threads, const char *cpus,
		    unsigned int chosen, const char *wanted)
{
	struct mal_rank_slot *slot = node_slot(0);
	char text[160];

	slot->reason = node_slot(1)->reason = reason;
	slot->unmanaged = node_slot(1)->unmanaged =
		reason >= MAL_REASON_RUNTIME && reason <= MAL_REASON_LIBGOMP;
	slot->reported = slot->team = threads;
	slot->chosen = chosen;
	assert_int_equal(mal_cpumask_parse(cpus, &slot->home, NULL), 0);
	assert_string_equal(mal_phrase_to_try(node, reason, text, sizeof(text)), wanted);
}

/* Of threads that another OMPT tool sees in our place nothing is known: that tool is named. */
static void behind_another_tool(void **state)
{
	(void)state;
	for (unsigned int rank = 0; rank < 2; rank++) {
		node_slot(rank)->reason = MAL_REASON_TOOL;
		node_slot(rank)->unmanaged = true;
		snprintf(node_slot(rank)->bound_reason, MAL_BOUND_TEXT,
			 "OMPT tool libdlb.so goes first");
	}
	measured((struct mal_totals){
		.windows = 3, .elapsed_s = 20, .off_s = 20, .ideal_s = 20, .balance_before = 10});
	says("no estimate: 20.000 s, OMPT tool libdlb.so goes first: try without it");
	says("regions: none could be classified: OMPT tool libdlb.so goes first");
	says("mode: cpuset, another OMPT tool goes first: its threads share the rank's CPUs");
}

/* Only what was looked at is advised: a user who has done it already does not hear it. */
static void advice_is_looked_at(void **state)
{
	(void)state;
	advises(MAL_REASON_NUMBER, 4, "0-1", MAL_CHOSEN_BY_VARIABLE,
		"it was started with another number of threads than CPUs: try without "
		"OMP_NUM_THREADS");
	advises(MAL_REASON_NUMBER, 4, "0-1", MAL_CHOSEN_BY_KEY,
		"it was started with another number of threads than CPUs: try without "
		"max_threads=");
	advises(MAL_REASON_NUMBER, 4, "0-1", 0,
		"it was started with another number of threads than CPUs");
	advises(MAL_REASON_RUNTIME, 1, "0", 0,
		"its threads are not seen (no OpenMP with OMPT): try more threads than CPUs");
	advises(MAL_REASON_CROWDED, 2, "0", MAL_CHOSEN_BY_VARIABLE,
		"it has more threads than CPUs, and keeps libgomp: try without OMP_NUM_THREADS");
	advises(MAL_REASON_LIBGOMP, 2, "0", 0,
		"it keeps libgomp, for variables or calls of OpenMP");
	advises(MAL_REASON_RUNTIME, 2, "0", 0, "its threads are not seen (no OpenMP with OMPT)");
	advises(MAL_REASON_REPORTED, 1, "0", 0,
		"the program relies on its number of threads: try two CPUs a rank, or "
		"--balance=max_threads=2");
	advises(MAL_REASON_REPORTED, 3, "0-2", 0,
		"the program relies on its number of threads: try --balance=max_threads=6");
	advises(MAL_REASON_REPORTED, 2, "0", 0, "the program relies on its number of threads");
	advises(MAL_REASON_REPORTED, 1, "0", MAL_CHOSEN_BY_KEY,
		"the program relies on its number of threads");
	advises(MAL_REASON_THREAD_DATA, 0, "0-1", 0,
		"the program keeps data for each thread: try --balance=max_threads=4");
}

/* No share is above all of it without a word on why, and none is negative. */
static void shares_are_between_none_and_all(void **state)
{
	struct mal_totals totals = times(15, 20, 10);

	(void)state;
	totals.balance_before = 12;
	totals.balance_after = 16.5;
	measured(totals);
	says("load balance (mean/max): 80.0 % as started, 100.0 % and noise as run");
}

/* --balance-report=brief: the verdict and nothing else. */
static void brief_is_the_verdict_alone(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 2, "--step=7.0 --node=n1 --policy=lewi --brief=1");
	assert_string_equal(text(), "too short to measure: fewer than two phase boundaries were "
				    "seen\n");
	node_window(node, 1.5, (const double[]){3, 1});
	node_window(node, 1.5, (const double[]){3, 1});
	assert_string_equal(text(),
			    "not faster: 3.000 s, estimated 3.000 s without, 2.500 s at best\n");
}

/* What is only observed was not got. */
static void verdict_of_observe(void **state)
{
	(void)state;
	start_again("observe");
	measured(times(20, 20, 10));
	says("only observed: at best 2.00 times as fast, 10.000 s instead of 20.000 s");
	measured(times(20, 20, 20));
	says("balanced as it is: nothing to gain in 20.000 s");
}

/* Two boundaries are needed. */
static void without_two_boundaries_it_is_too_short(void **state)
{
	(void)state;
	node_set_totals(node, (struct mal_totals){0});
	says("too short to measure: fewer than two phase boundaries were seen");
	does_not_say("overhead");
}

/* Calls of MPI that were found by dlsym are not seen, and OpenMP without OMPT is not. */
static void missing_mpi_and_ompt_are_named(void **state)
{
	char line[512];
	struct mal_report report;

	(void)state;
	node_slot(0)->uses_mpi = false;
	does_not_say("no MPI calls");
	node_slot(1)->uses_mpi = false;
	says("no MPI calls intercepted (none made, or resolved by dlsym(), as Julia does): "
	     "ranks that wait lend nothing");
	assert_true(mal_report_make(node, &report));
	line[mal_report_line(node, &report, false, line, sizeof(line))] = '\0';
	assert_non_null(strstr(line, " at best; no MPI calls intercepted\n"));
	node_set_totals(node, (struct mal_totals){0});
	says("too short to measure: fewer than two phase boundaries were seen; no MPI calls "
	     "intercepted (none made, or resolved by dlsym(), as Julia does)");
	node_slot(0)->unmanaged = node_slot(1)->unmanaged = true;
	node_slot(0)->uses_mpi = true;
	says("too short to measure: fewer than two phase boundaries were seen; no OpenMP with OMPT "
	     "was seen");
}

/* Where no rank connected: why, unless all programs are known to have had none. */
static void without_ranks_the_line_says_why(void **state)
{
	struct mal_header *header = node_segment()->header;
	char line[512];

	(void)state;
	mal_report_nothing(node, line, sizeof(line));
	assert_non_null(strstr(line, "no rank connected, nothing was balanced: LD_PRELOAD was"));
	for (int what = MAL_START_BEGUN; what <= MAL_START_ENDED; what++) {
		assert_false(mal_starts_are_whole(header));
		header->starts[what] = 2;
	}
	line[mal_report_nothing(node, line, sizeof(line))] = '\0';
	assert_string_equal(line, "nothing to balance: no task used MPI or OpenMP\n");
	header->starts[MAL_START_HID_MPI] = 1;
	assert_false(mal_starts_are_whole(header));
	header->starts[MAL_START_HID_MPI] = 0;
	header->starts[MAL_START_BEGUN] = 3;
	assert_false(mal_starts_are_whole(header));
	header->starts[MAL_START_BEGUN] = 2;
	header->unloadable = 1;
	mal_report_nothing(node, line, sizeof(line));
	assert_non_null(strstr(line, "a program ran where our libraries cannot be loaded"));
	header->refused = 1;
	assert_int_equal(mal_report_nothing(node, line, sizeof(line)), 0);
}

/* Whatever the user should know of it. */
static void each_remark_has_its_line(void **state)
{
	(void)state;
	does_not_say("administrator");
	node_set_was_off(node);
	says("switched off by the administrator, for all or part of the run");
	node_set_kept(node, "1,3");
	says("CPUs not handed over: the program keeps binding threads there: 1,3");
	node_set_plausibility(node, (struct mal_plausibility){.stopped = 2,
							      .outside_team = 3,
							      .rank = 1,
							      .outside_team_s = 1.5,
							      .seen_s = 0.25});
	says("nothing was moved in 3 windows: ranks such as 1 worked 1.500 s in threads "
	     "outside OpenMP, and 0.250 s in OpenMP threads");
	says("2 windows were thrown away: ranks computed without having their CPUs");
	node_set_plausibility(node, (struct mal_plausibility){.stopped = 1, .outside_team = 1});
	says("nothing was moved in 1 window: ranks such as 0 worked 0.000 s in threads outside "
	     "OpenMP, and 0.000 s in OpenMP threads");
	says("1 window was thrown away: ranks computed without having their CPUs");
	does_not_say("outside MPI");
	node_set_plausibility(
		node, (struct mal_plausibility){.waits_s = {0.01, 0.01}, .elapsed_s = {2, 2}});
	does_not_say("outside MPI");
	node_set_plausibility(node,
			      (struct mal_plausibility){.waits_s = {0, 0.5}, .elapsed_s = {2, 2}});
	says("waits outside MPI 12.5 %, in rank 1 25.0 %: for GPUs, files or other processes");
	node_set_plausibility(node,
			      (struct mal_plausibility){.waits_s = {0, 0.5},
							.elapsed_s = {2, 2},
							.others = {.all_s = 8, .stolen_s = 2}});
	does_not_say("outside MPI");
	node_slot(1)->use = 1;
	says("faster with fewer threads: 3 of 4 CPUs are used");
	node_segment()->header->schedule = MAL_SCHEDULE_DYNAMIC | 8 << 16;
	says("faster with another loop schedule: OMP_SCHEDULE=dynamic,8");
}

/* Threads of the program that keep it from gaining. */
static void foreign_threads_are_named(void **state)
{
	(void)state;
	does_not_say("lent nothing");
	does_not_say("not balanced");
	node_slot(1)->foreign_threads = MAL_FOREIGN_COMPUTE | MAL_FOREIGN_OPEN;
	node_slot(1)->count.lends = node_slot(1)->count.grants = 0;
	node_slot(1)->count.mpi = 0;
	does_not_say("lent nothing");
	node_slot(1)->count.mpi = UINT64_MAX / 2;
	says("1 rank such as 1 lent nothing: other threads, of the program or of its libraries, "
	     "ran while one waited in MPI");
	says("regions of 1 rank such as 1 were not balanced: a thread other than the first MPI or "
	     "OpenMP thread began them");
	node_slot(1)->count.grants = 1;
	does_not_say("lent nothing");
	node_slot(1)->foreign_threads |= MAL_FOREIGN_WAIT;
	node_set_totals(node, (struct mal_totals){0});
	says("too short to measure: fewer than two phase boundaries were seen; a thread other than "
	     "the first MPI thread waits in MPI");
	node_slot(1)->foreign_threads |= MAL_FOREIGN_INSIDE;
	says("not measured: MPI is called in parallel regions: fewer than two phase boundaries "
	     "were seen; a thread other than the first MPI thread waits in MPI");
	says("1 rank such as 1 called MPI in parallel regions: waits there lend nothing, and end "
	     "no phase");
	says("regions of 1 rank such as 1 were not balanced: a thread other than the first MPI or "
	     "OpenMP thread began them");
}

static void schedules_have_their_words(void **state)
{
	char name[32];

	(void)state;
	assert_string_equal(mal_phrase_schedule(node, name, sizeof(name)), "");
	node_segment()->header->schedule = MAL_SCHEDULE_STATIC;
	assert_string_equal(mal_phrase_schedule(node, name, sizeof(name)), "static");
	node_segment()->header->schedule = MAL_SCHEDULE_GUIDED | 1 << 16;
	assert_string_equal(mal_phrase_schedule(node, name, sizeof(name)), "guided,1");
	node_segment()->header->schedule = 99;
	assert_string_equal(mal_phrase_schedule(node, name, sizeof(name)), "");
}

/*
 * Why teams keep their size: the reason of most; what a rank says beyond the enumeration is
 * nothing.
 */
static void mode_of_most_ranks_is_named(void **state)
{
	(void)state;
	does_not_say("mode:");
	node_slot(1)->reason = MAL_REASON_REPORTED;
	says("mode: cpuset in 1 of 2 ranks, team in the others: the program relies on its number "
	     "of threads (see "
	     "max_threads=)");
	node_slot(0)->reason = MAL_REASON_REPORTED;
	says("mode: cpuset, the program relies on its number of threads (see max_threads=)");
	node_slot(0)->unmanaged = node_slot(1)->unmanaged = 1;
	says("mode: cpuset, no OpenMP runtime with OMPT: its threads share the rank's CPUs");
	node_slot(0)->unmanaged = node_slot(1)->unmanaged = 0;
	node_slot(0)->reason = node_slot(1)->reason = 4711;
	does_not_say("mode:");
	for (int reason = MAL_REASON_USER; reason <= MAL_REASON_REPORTED; reason++)
		assert_true(strlen(mal_phrase_of_reason((enum mal_mode_reason)reason)) > 5);
}

/* What ran free, of the ranks whose regions were classified; what they write is text. */
static void free_runs_are_counted(void **state)
{
	char line[MAL_BOUND_TEXT + 1];

	(void)state;
	node_slot(0)->count.regions = node_slot(1)->count.regions = 40;
	node_slot(0)->count.free = 37;
	does_not_say("runs free");
	/* Nothing could be: also said where the program keeps no team. */
	does_not_say("regions: none");
	strcpy(node_slot(0)->bound_reason, "built without Zydis");
	says("regions: none could be classified: built without Zydis");
	node_slot(0)->reason = MAL_REASON_REPORTED;
	says("mode: cpuset in 1 of 2 ranks, team in the others: the program relies on its "
	     "number of threads (see max_threads=)");
	says("regions: none could be classified: built without Zydis");
	node_slot(0)->bound_reason[0] = '\0';
	node_slot(0)->proves = MAL_PROVES;
	says("regions: 37 of 40 runs free");
	/* The program was read meanwhile, or not even then: why one is bound is not known yet. */
	strcpy(node_slot(0)->bound_reason, "x: it is being read in the background");
	node_slot(0)->unread = true;
	says("regions: 37 of 40 runs free; analysis did not end before the last region");
	node_slot(0)->unread = false;
	node_slot(0)->beside_ms = 3400;
	strcpy(node_slot(0)->bound_reason, "x: tasks");
	says("regions: 37 of 40 runs free; analysis took 3.4 s in the background; bound: x: tasks");
	node_slot(0)->bound_reason[0] = '\0';
	node_slot(0)->beside_ms = 0;
	/* Most were free, so its teams follow. */
	does_not_say("mode: cpuset");
	node_slot(0)->count.free = 19;
	says("mode: cpuset in 1 of 2 ranks, team in the others: the program relies on its "
	     "number of threads (see max_threads=)");
	/* A bound region that never ran kept nothing from growing. */
	node_slot(0)->count.free = 40;
	strcpy(node_slot(0)->bound_reason, "never: tasks");
	does_not_say("bound:");
	node_slot(0)->bound_reason[0] = '\0';
	node_slot(0)->count.free = 37;
	node_slot(1)->proves = MAL_PROVES_ONE;
	mal_cpumask_parse("1", &node_slot(1)->home, NULL);
	strcpy(node_slot(1)->bound_reason, "f\n\x1b[2J.omp: identity");
	says("regions: 37 of 80 runs free; bound: f??[2J.omp: identity; the program sees 1 thread, "
	     "so no team grows: try two CPUs a rank, or --balance=max_threads=2");
	/* Without an end: no more is read than there is, and written than fits. */
	memset(node_slot(1)->bound_reason, 'x', MAL_BOUND_TEXT);
	assert_int_equal(strlen(mal_phrase_bound(node, 1, line, sizeof(line))), MAL_BOUND_TEXT);
	line[10] = 'y';
	assert_string_equal(mal_phrase_bound(node, 1, line, 10), "xxxxxxxxx");
	assert_int_equal(line[10], 'y');
}

/* A policy that broke its word. */
static void rejected_policy_is_named(void **state)
{
	char line[512];
	struct mal_report report;

	(void)state;
	start_again("puppet");
	node_puppet(&(struct mal_plan){.broken = "it ended"}, NULL);
	node_begin(node);
	says("policy puppet was rejected: it ended");
	assert_true(mal_report_make(node, &report));
	line[mal_report_line(node, &report, false, line, sizeof(line))] = '\0';
	assert_memory_equal(line, "step 7.0 on n1: puppet (rejected), 2 ranks,", 43);
}

/* Which way the step ran at last, and why. */
static void the_last_way_is_told(void **state)
{
	(void)state;
	does_not_say("moved:");
	does_not_say("lent:");
	/* Nor do ranks have more than at their start because they ended. */
	node_rank_end(0);
	node_rank_end(1);
	mal_ranks_update(node);
	does_not_say("moved:");
	start_again("puppet");
	node_puppet(&(struct mal_plan){.bind = true, .move_times = 1.004, .lend_times = 1.004},
		    NULL);
	node_begin(node);
	says("moved: no, phases took as long with it");
	does_not_say("lent:");
	node_slot(0)->count.lends = 1;
	says("lent: no, phases took as long with it");
	node_puppet(&(struct mal_plan){.bind = true, .move_times = 1.2, .lend_times = 1.4}, NULL);
	node_begin(node);
	says("moved: no, it made phases 1.20 times as long");
	says("lent: no, it made phases 1.40 times as long");
	node_puppet(&(struct mal_plan){.bind = true,
				       .lend = true,
				       .move = true,
				       .move_times = 0.6,
				       .lend_times = 0.8},
		    (const unsigned int[]){3, 1});
	node_begin(node);
	node_obey();
	node_begin(node);
	says("moved: rank 0 has 3 of 4 CPUs");
	says("lent: yes, phases take 0.80 times as long as without");
	node_puppet(&(struct mal_plan){.bind = true, .lend = true, .lend_times = 1.1}, NULL);
	node_begin(node);
	says("lent: yes, though phases took 1.10 times as long with it");
	/* Ranks have their CPUs for good also where they have ended, as they have at the report. */
	start_again("lewi");
	node_rank_end(0);
	node_rank_end(1);
	mal_ranks_update(node);
	does_not_say("moved:");
}

/* Ranks that have ended, with the CPUs that they began with. */
static void ended_ranks_keep_their_first_cpus(void **state)
{
	(void)state;
	for (unsigned int rank = 0; rank < 2; rank++)
		node_rank_end(rank);
	mal_ranks_update(node);
	assert_false(node_rank(node, 0)->running);
	does_not_say("moved:");
}

/* What the policies would have made of a step that is only observed. */
static void observed_step_is_predicted(void **state)
{
	double predicted_s;

	(void)state;
	does_not_say("predicted");
	start_again("observe");
	for (unsigned int i = 0; i < 10; i++)
		node_window(node, 1.5, (const double[]){3, 1});
	/* Of the whole step: of two of its seconds no window knows. */
	assert_true(mal_verdict_predict(node, &(struct mal_outcome){.elapsed_s = 13, .off_s = 18},
					20, &predicted_s) > 0.9);
	assert_float_equal(predicted_s, 15, 1e-9);
	says("predicted with --balance: auto 13.000 s (91 %), sabo 13.000 s (91 %), lewi 18.000 s "
	     "(0 %)");
}

/* In one line, for each of several nodes. */
static void each_node_has_one_line(void **state)
{
	struct mal_report report;
	char line[512];

	(void)state;
	assert_true(mal_report_make(node, &report));
	line[mal_report_line(node, &report, false, line, sizeof(line))] = '\0';
	assert_string_equal(line, "step 7.0 on n1: lewi, 2 ranks, 4 CPUs, 0 lends, 0 moves: not "
				  "faster: 3.000 s, estimated 3.000 s without, 2.500 s at "
				  "best\n" NOT_JOINED);
	line[mal_report_line(node, &report, true, line, sizeof(line))] = '\0';
	assert_non_null(strstr(line, "0 moves, this node alone: not faster: "));
	measured(times(25, 20, 20));
	assert_true(mal_report_make(node, &report));
	line[mal_report_line(node, &report, false, line, sizeof(line))] = '\0';
	assert_non_null(strstr(line, ": balanced as it is: nothing to gain; 25.000 s, estimated "
				     "20.000 s without\n"));
	node_set_totals(node, (struct mal_totals){0});
	line[mal_report_line(node, &report, false, line, sizeof(line))] = '\0';
	assert_non_null(strstr(line, ": too short to measure\n"));
	/* What does not fit is left out as a whole. */
	line[mal_report_line(node, &report, false, line, 20)] = '\0';
	assert_null(strstr(line, "step"));
}

static json_t *read_json(bool came)
{
	struct mal_report report;
	FILE *out = fopen(file, "w");
	json_error_t error;
	json_t *root;

	assert_non_null(out);
	if (came)
		assert_true(mal_report_make(node, &report));
	assert_int_equal(mal_report_json(node, came ? &report : NULL, out), 0);
	fclose(out);
	root = json_load_file(file, 0, &error);
	assert_non_null(root);
	return root;
}

/* The value of KEY in ROOT is JSON. */
static void has(const json_t *root, const char *key, const char *wanted)
{
	char *value = json_dumps(json_object_get(root, key),
				 JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(4));

	assert_non_null(value);
	assert_string_equal(value, wanted);
	free(value);
}

static void json_has_what_the_text_has(void **state)
{
	json_t *root, *rank;

	(void)state;
	node_slot(0)->count.lends = 5;
	node_slot(1)->reported = 2;
	node_rank_kill(1);
	node_window(node, 1, (const double[]){1, 1});
	node_run(node, NULL, NULL);
	root = read_json(true);
	has(root, "version", "1");
	has(root, "step", "\"7.0\"");
	has(root, "policy", "\"lewi\"");
	has(root, "ranks", "2");
	has(root, "cpus", "4");
	has(root, "elapsed_s", "4.0");
	has(root, "measured",
	    "{\"windows\":1,\"stopped_windows\":0,\"unseen_windows\":0,\"others_part\":null,"
	    "\"taken_part\":null,\"outside_part\":0.0,"
	    "\"elapsed_s\":1.5,"
	    "\"unbalanced_s\":1.5,"
	    "\"ideal_s\":1.0,\"share_of_attainable\":0.0,\"load_balance_before\":0.6667,\"load_"
	    "balance_after\":0.6667,"
	    "\"hybrid_efficiency\":0.6667}");
	has(root, "efficiency",
	    "{\"parallel\":0.5625,\"mpi\":{\"parallel\":0.5625,\"load_balance\":0.6429,"
	    "\"communication\":0.875},\"openmp\":{\"parallel\":1.0,\"serial\":1.0,"
	    "\"regions\":1.0}}");
	has(root, "job", "7");
	has(root, "command", "[\"./app\",\"--steps=3\",\"?\"]");
	has(root, "verdict", "\"not faster: 4.000 s, estimated 4.000 s without, 3.500 s at best\"");
	assert_int_equal(strlen(json_string_value(json_object_get(root, "timestamp"))), 20);
	has(root, "predicted", "{}");
	has(root, "schedule", "\"\"");
	has(root, "between_nodes", "null");
	has(root, "cpus_over_time", "[[3.0,[2,2]]]");
	rank = json_array_get(json_object_get(root, "per_rank"), 0);
	has(rank, "lends", "5");
	has(rank, "home", "\"0-1\"");
	has(rank, "work_s", "3.0");
	has(rank, "died", "false");
	has(rank, "mode", "\"team\"");
	rank = json_array_get(json_object_get(root, "per_rank"), 1);
	has(rank, "cpus", "\"2-3\"");
	has(rank, "mpi_s", "1.0");
	has(rank, "told", "2");
	has(rank, "free_regions", "0");
	has(rank, "bound", "\"\"");
	has(rank, "died", "true");
	json_decref(root);
}

/* RANK did so much in its region NUMBER, called NAME. */
static struct mal_region_slot *named(unsigned int rank, unsigned int number, const char *name,
				     double elapsed_s, double serial_s, double mpi_s,
				     double inside_s, double work_s)
{
	struct mal_region_slot *slot = &mal_region_slots(node_segment(), rank)[number];

	snprintf(slot->name, sizeof(slot->name), "%s", name);
	slot->runs = 100 + rank;
	slot->sum[MAL_REGION_ELAPSED] = mal_s_to_ticks(elapsed_s);
	slot->sum[MAL_REGION_SERIAL] = mal_s_to_ticks(serial_s);
	slot->sum[MAL_REGION_MPI] = mal_s_to_ticks(mpi_s);
	slot->sum[MAL_REGION_INSIDE] = mal_s_to_ticks(inside_s);
	slot->sum[MAL_REGION_WORK] = mal_s_to_ticks(work_s);
	node_thread(rank, 0)->tid = 1;
	return slot;
}

/* RANK was busy on CPU for so long. */
static void busy(unsigned int rank, unsigned int cpu, double busy_s)
{
	struct mal_lanes *lanes = mal_lanes_of(node_segment(), rank);

	lanes->used[cpu / 64] |= UINT64_C(1) << cpu % 64;
	lanes->busy[cpu] = mal_s_to_ticks(busy_s);
}

/* One that was hardly used is named; what a rank wrote is bounded. Two ranks of two CPUs. */
static void busy_cpus_are_told(void **state)
{
	json_t *root;

	(void)state;
	does_not_say("busy CPUs");
	busy(0, 0, 2);
	busy(0, 1, 1.5);
	busy(1, 2, 1);
	busy(0, 3, 1);
	does_not_say("busy CPUs");
	busy(1, 3, 1);
	busy(0, 3, 0);
	busy(1, 2, 0.5);
	says("busy CPUs (mean/max): 62.5 %; CPU 2 was busy for 0.500 s, CPU 0 for 2.000 s");
	node_run(node, NULL, NULL);
	root = read_json(true);
	has(root, "cpu_balance", "0.625");
	has(root, "per_cpu",
	    "[{\"cpu\":0,\"busy_s\":2.0},{\"cpu\":1,\"busy_s\":1.5},{\"cpu\":2,\"busy_s\":0.5},"
	    "{\"cpu\":3,\"busy_s\":1.0}]");
	json_decref(root);
	busy(1, 1, 1e9);
	says("busy CPUs (mean/max): 44.4 %; CPU 2 was busy for 0.500 s, CPU 1 for 4.500 s");
	mal_lanes_of(node_segment(), 1)->busy[1] = UINT64_MAX;
	says("busy CPUs (mean/max): 44.4 %; CPU 2 was busy for 0.500 s, CPU 1 for 4.500 s");
	/* Too short for anybody to care. */
	busy(1, 1, 0);
	node_pass(97);
	does_not_say("busy CPUs");
}

static void looked(unsigned int rank, uint32_t on_0, uint32_t on_1)
{
	struct mal_lanes *lanes = mal_lanes_of(node_segment(), rank);

	lanes->pages[0] = on_0;
	lanes->pages[1] = on_1;
	lanes->pages_known = 1;
}

/* Bits of results may: by sums, and by teams that were of one thread. */
static void what_may_differ_is_told(void **state)
{
	struct mal_rank_slot *ranks = node_segment()->ranks;

	(void)state;
	does_not_say("results:");
	ranks[1].differs = MAL_DIFFERS_SUMS;
	says("results: sums may have other last digits (bits=keep)");
	ranks[0].differs = MAL_DIFFERS_ONE;
	says("results: sums may have other last digits (bits=keep); teams of one grew "
	     "(bits=strict)");
	ranks[1].differs = 0;
	says("results: teams of one grew (bits=strict)");
}

/* Two ranks of two CPUs; the machine's nodes, or as said. */
static void memory_is_told(void **state)
{
	json_t *root;

	(void)state;
	does_not_say("memory:");
	node_close(node);
	node = node_start(2, 2, "--policy=observe,pages=yes");
	node_begin(node);
	says("memory: no rank looked where its pages are");
	mal_lanes_of(node_segment(), 1)->pages_error = 1;
	says("memory: the system does not tell where pages are");
	busy(0, 0, 1);
	busy(1, 2, 1);
	memset(node->allocation_own.numa, 0, 4 * sizeof(unsigned int));
	looked(0, 7, 0);
	says("memory: all of it is on one NUMA node, as the ranks' CPUs");
	node->allocation_own.numa[2] = 1;
	looked(1, 40, 960);
	says("memory: it is on the NUMA nodes on which the ranks compute");
	looked(1, 380, 620);
	busy(1, 1, 0.25);
	busy(1, 3, 0.25);
	node->allocation_own.numa[3] = 1;
	says("memory: rank 1 has 38 % of its pages on NUMA node 0, 83 % of its CPU time on node 1");
	root = read_json(true);
	has(json_array_get(json_object_get(root, "per_rank"), 1), "memory",
	    "[{\"node\":0,\"pages_part\":0.38,\"cpu_part\":0.1667},"
	    "{\"node\":1,\"pages_part\":0.62,\"cpu_part\":0.8333}]");
	json_decref(root);
	/* A node on which it only computes is there, too. */
	looked(1, 1000, 0);
	root = read_json(true);
	has(json_array_get(json_object_get(root, "per_rank"), 1), "memory",
	    "[{\"node\":0,\"pages_part\":1.0,\"cpu_part\":0.1667},"
	    "{\"node\":1,\"pages_part\":0.0,\"cpu_part\":0.8333}]");
	json_decref(root);
	looked(1, UINT32_MAX, UINT32_MAX);
	says("memory: rank 1 has 50 % of its pages on NUMA node 0, 83 % of its CPU time on node 1");
}

/* Ranks have numbers of their own; what one wrote of it is bounded. Two ranks of two CPUs. */
static void named_regions_are_told(void **state)
{
	struct mal_region_slot *slot;
	json_t *root, *region;
	char line[200], long_name[65];

	(void)state;
	node_pass(97);
	does_not_say("region ");
	named(1, 0, "io", 0, 0, 0, 0, 0)->runs = 0;
	does_not_say("region ");
	named(0, 0, "solve", 4, 1, 0, 6, 5);
	named(1, 1, "solve", 4, 0, 2, 4, 4);
	says("region solve: 101 runs, 4.000 of 100.000 s: parallel efficiency 62.5 % = MPI 75.0 % "
	     "x OpenMP 83.3 %; load balance 71.4 % as started");
	slot = named(1, 0, "io", 10, 10, 0, 0, 0);
	slot->runs = 1;
	slot->sum[MAL_REGION_LOOKED] = mal_s_to_ticks(8);
	slot->sum[MAL_REGION_WAITS] = mal_s_to_ticks(6);
	says("region io: 1 run, 10.000 of 100.000 s: parallel efficiency 50.0 % = MPI 100.0 % x "
	     "OpenMP 50.0 %");
	says("  75.0 % of its CPUs' time idle in waits outside MPI, offered for 0.000 s: see "
	     "malleable_waiting_begin");
	assert_true(strstr(text(), "region io") < strstr(text(), "region solve"));
	node_run(node, NULL, NULL);
	root = read_json(true);
	region = json_array_get(json_object_get(root, "regions"), 0);
	has(region, "name", "\"io\"");
	has(region, "cpus", "2");
	has(region, "outside_part", "0.75");
	has(region, "offer_saves_s", "null");
	region = json_array_get(json_object_get(root, "regions"), 1);
	has(region, "ranks", "2");
	has(region, "mpi_s", "2.0");
	has(region, "outside_part", "null");
	has(region, "load_balance_before", "0.7143");
	has(region, "efficiency",
	    "{\"parallel\":0.625,\"mpi\":{\"parallel\":0.75,\"load_balance\":0.75,"
	    "\"communication\":1.0},\"openmp\":{\"parallel\":0.8333,\"serial\":0.9167,"
	    "\"regions\":0.9091}}");
	region = json_object_get(json_object_get(root, "Application"), "solve");
	has(region, "elapsedTime", "4000000000");
	has(region, "parallelEfficiency", "0.625");
	json_decref(root);
	/* It waits for little of the step. */
	slot->sum[MAL_REGION_WAITS] = mal_s_to_ticks(3);
	does_not_say("idle in waits");
	/* Others have work for 32 CPU seconds of four CPUs, or none that CPUs would shorten. */
	slot = named(1, 0, "io", 20, 20, 0, 0, 0);
	slot->sum[MAL_REGION_LOOKED] = slot->sum[MAL_REGION_WAITS] = mal_s_to_ticks(16);
	node_slot(0)->count.serial = node_slot(1)->count.serial = mal_s_to_ticks(100);
	says("  100.0 % of its CPUs' time idle in waits outside MPI, offered for 0.000 s: see "
	     "malleable_waiting_begin");
	node_slot(0)->count.regions = 1;
	says("  100.0 % of its CPUs' time idle in waits outside MPI, offered for 0.000 s; an offer "
	     "would save up to 8.000 s, 1.09 times as fast: see malleable_waiting_begin");
	node_slot(0)->count.serial = node_slot(1)->count.serial = mal_s_to_ticks(17);
	says("  100.0 % of its CPUs' time idle in waits outside MPI, offered for 0.000 s: see "
	     "malleable_waiting_begin");
	node_slot(0)->count.serial = node_slot(1)->count.serial = node_slot(0)->count.regions = 0;
	named(1, 0, "io", 10, 10, 0, 0, 0)->runs = 1;
	/* Threads that nobody saw, and CPUs of ranks elsewhere. */
	node_slot(1)->unmanaged = true;
	node_slot(1)->team = 2;
	says("region io: 1 run, 10.000 of 100.000 s");
	node_slot(1)->unmanaged = false;
	named(1, 0, "io", 10, 0, 0, 30, 30);
	says("region io: 101 runs, 10.000 of 100.000 s");
	/* Lies; and differences of noise. */
	named(1, 0, "Global", 1e9, -1, 1e9, 1e9, 1e9);
	says("region Global: 101 runs, 100.000 of 100.000 s");
	named(1, 0, "two\nlines\x1b", 10, 10, 0, 0, 0);
	slot->sum[MAL_REGION_SERIAL] = -UINT64_C(5);
	says("region two?lines?: 101 runs, 10.000 of 100.000 s: parallel efficiency 0.0 % = MPI "
	     "0.0 % x OpenMP unknown");
	memset(long_name, 'x', sizeof(long_name));
	memcpy(slot->name, long_name, sizeof(slot->name));
	snprintf(line, sizeof(line), "region %.63s: 101 runs, ", long_name);
	assert_non_null(strstr(text(), line));
}

/* So many that not all fit: the longest are told. */
static void many_regions_are_named(void **state)
{
	char name[16];
	json_t *root;

	(void)state;
	node_pass(97);
	for (unsigned int i = 0; i < 128; i++) {
		snprintf(name, sizeof(name), "part %u", i);
		named(i / 64, i % 64, name, i / 2.0, i / 2.0, 0, 0, 0)->runs = 1;
	}
	says("region part 127: 1 run, 63.500 of 100.000 s: parallel efficiency 50.0 % = MPI 100.0 "
	     "% x OpenMP 50.0 %");
	does_not_say("region part 90:");
	node_run(node, NULL, NULL);
	root = read_json(true);
	assert_int_equal(json_array_size(json_object_get(root, "regions")), 64);
	assert_int_equal(json_object_size(json_object_get(root, "Application")), 65);
	has(json_array_get(json_object_get(root, "regions"), 63), "name", "\"part 64\"");
	json_decref(root);
}

#define ROW(name, kind, key, meaning) {#kind, key, offsetof(struct mal_counters, name)},
static const struct counter {
	const char *kind, *key;
	size_t offset;
} counters[] = {MAL_COUNTERS(ROW)};
#undef ROW

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static void count(unsigned int rank, const struct counter *counter, uint64_t value)
{
	*(_Atomic uint64_t *)((char *)&node_slot(rank)->count + counter->offset) = value;
}

/* OBJECT has a key for each counter that has one: FACTOR times its number in the table. */
static void has_counters(const json_t *object, double factor)
{
	for (size_t i = 0; i < COUNTERS; i++) {
		bool time = strcmp(counters[i].kind, "TIME") == 0;
		double wanted = factor * (double)(i + 2) / (time ? 1e9 : 1);
		const json_t *value = json_object_get(object, counters[i].key);

		if (!*counters[i].key != (strcmp(counters[i].kind, "PART") == 0))
			fail_msg("counter %zu: a key, or PART", i);
		if (*counters[i].key && fabs(json_number_value(value) - wanted) > wanted * 1e-6)
			fail_msg("%s is %g, not %g", counters[i].key, json_number_value(value),
				 wanted);
	}
}

/* Each row of the table, without code of its own: summed, of each rank, as it is now. */
static void each_counter_is_told(void **state)
{
	json_t *root;
	char word[64];

	(void)state;
	for (size_t i = 0; i < COUNTERS; i++) {
		count(0, &counters[i], i + 2);
		count(1, &counters[i], 2 * (i + 2));
	}
	root = read_json(true);
	has_counters(json_object_get(root, "cpu_changes"), 3);
	has_counters(json_array_get(json_object_get(root, "per_rank"), 1), 2);
	json_decref(root);
	root = json_loads(node_ask(node, "status"), 0, NULL);
	has_counters(json_array_get(json_object_get(root, "ranks"), 0), 1);
	json_decref(root);
	for (size_t i = 0; i < COUNTERS; i++) {
		snprintf(word, sizeof(word), " %zu %s", 3 * (i + 2), counters[i].key);
		if (strcmp(counters[i].kind, "CHANGE") == 0 && !strstr(text(), word))
			fail_msg("no%s in:\n%s", word, text());
	}
}

/* CPUs that lie apart make long lists, which are whole. */
static void json_of_many_cpus(void **state)
{
	json_t *root, *rank;

	(void)state;
	node_close(node);
	node = node_start(2, 100, "--policy=observe");
	for (unsigned int cpu = 0; cpu < 200; cpu++)
		node_set_cpu(cpu, cpu % 2, cpu % 2, false);
	root = read_json(true);
	rank = json_array_get(json_object_get(root, "per_rank"), 1);
	assert_string_equal(json_string_value(json_object_get(rank, "cpus")), node_owned(1));
	json_decref(root);
}

static void json_to_full(void **state)
{
	struct mal_report report;
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_true(mal_report_make(node, &report));
	if (!full)
		return;
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(mal_report_json(node, &report, full), -1);
	fclose(full);
}

/* The step as it is now: who has what, who lends, who is to get what. */
static void status_shows_the_present_step(void **state)
{
	json_t *root, *rank;

	(void)state;
	node_set_cpu(1, 0, 1, true);
	node_segment()->cpus[3].target = 0;
	node_slot(1)->waiting_since = 1;
	root = json_loads(node_ask(node, "status"), 0, NULL);
	assert_non_null(root);
	has(root, "version", "1");
	has(root, "node", "\"n1\"");
	has(root, "cpus", "\"0-3\"");
	has(root, "rejected", "null");
	has(root, "running_s", "3.0");
	has(root, "windows", "1");
	has(root, "share_of_attainable", "0.0");
	rank = json_array_get(json_object_get(root, "ranks"), 0);
	has(rank, "running", "true");
	has(rank, "cpus", "\"0-1\"");
	has(rank, "count", "2");
	has(rank, "lent", "1");
	has(rank, "borrowed", "0");
	has(rank, "coming", "1");
	has(rank, "load", "1.0");
	has(rank, "mpi", "0.0");
	has(rank, "waiting", "false");
	has(rank, "threads", "\"0-1\"");
	has(rank, "order", "{\"exact\":false,\"min\":0,\"max\":0}");
	rank = json_array_get(json_object_get(root, "ranks"), 1);
	has(rank, "borrowed", "1");
	has(rank, "waiting", "true");
	has(rank, "load", "0.3333");
	json_decref(root);
	/* The primary thread's own part is load, too. */
	node_pass(1);
	node_say(0, 0, 1, 0);
	node_say(1, 1, 0, 0);
	node_take(node);
	root = json_loads(node_ask(node, "status"), 0, NULL);
	has(json_array_get(json_object_get(root, "ranks"), 0), "load", "0.5");
	json_decref(root);
	/* A window that was not measured yet has no load. */
	node_close(node);
	node = node_start(1, 1, "--policy=lewi");
	root = json_loads(node_ask(node, "status"), 0, NULL);
	has(root, "share_of_attainable", "null");
	has(json_array_get(json_object_get(root, "ranks"), 0), "load", "null");
	json_decref(root);
}

/* Shares for people and programs: none where it only looked on, and none below 0. */
static void shares_that_mean_something(void **state)
{
	json_t *root;

	(void)state;
	measured(times(2.5, 2, 1.98));
	root = read_json(true);
	has(json_object_get(root, "measured"), "share_of_attainable", "0.0");
	json_decref(root);
	root = json_loads(node_ask(node, "status"), 0, NULL);
	has(root, "share_of_attainable", "0.0");
	json_decref(root);
	start_again("observe");
	measured(times(1.97, 2, 1));
	root = read_json(true);
	has(json_object_get(root, "measured"), "share_of_attainable", "null");
	json_decref(root);
}

/* A rank alone has serial parts too, which nobody could shorten. */
static void one_rank_has_no_balance(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(1, 4, "--step=7.0 --node=n1 --policy=lewi");
	for (unsigned int i = 0; i < 2; i++) {
		node_pass(1.5);
		node_say(0, 4, 0.5, 0);
		node_take(node);
	}
	says("one rank on this node: nothing to balance in 3.000 s");
}

/* The plans in the trace, and those of them that were rejected. */
static void count_plans(unsigned int *plans, unsigned int *rejected)
{
	FILE *trace = fopen(file, "r");
	char line[4096];

	*plans = *rejected = 0;
	assert_non_null(trace);
	while (fgets(line, sizeof(line), trace)) {
		*plans += strstr(line, "\"type\":\"plan\"") != NULL;
		*rejected += strstr(line, "\"rejected\":\"it ended\"") != NULL;
	}
	fclose(trace);
}

/* The trace has TEXT, or has not. */
static void trace_says(const char *wanted, bool says)
{
	char text[16384];
	FILE *trace = fopen(file, "r");

	assert_non_null(trace);
	text[fread(text, 1, sizeof(text) - 1, trace)] = '\0';
	fclose(trace);
	if ((strstr(text, wanted) != NULL) != says)
		fail_msg("%s%s in:\n%s", says ? "no " : "", wanted, text);
}

/* Those that ran since the last window. */
static void regions_are_in_the_trace(void)
{
	static const char *const parts[] = {"\"regions\":{\"a?b\":[0.5,0.75,0.25,0.125]}}",
					    "\"regions\":{\"a?b\":[0.25,1.0,0.0,0.25]}}", "\"io\""};

	for (size_t i = 0; i < 3; i++)
		trace_says(parts[i], i < 2);
}

/* The trace has what happened, window by window, and what was decided. */
static void trace_has_each_window(void **state)
{
	unsigned int plans, rejected;
	char options[256];
	struct mal_trace trace;
	struct mal_error err;

	(void)state;
	node_close(node);
	snprintf(options, sizeof(options), "--step=7.0 --node=n1 --policy=puppet --trace-file=%s",
		 file);
	node = node_start(2, 2, options);
	node_puppet(&(struct mal_plan){.bind = true, .move = true}, (const unsigned int[]){3, 1});
	node_window(node, 1.5, (const double[]){3, 1});
	named(0, 0, "a\tb", 0.5, 0.25, 0.125, 0, 0.75);
	named(1, 0, "io", 0, 0, 0, 0, 0);
	node_window(node, 1.5, (const double[]){3, 1});
	named(0, 0, "a\tb", 0.75, 0.125, 1e9, 0, 1e9);
	node_obey();
	node_puppet(&(struct mal_plan){.broken = "it ended"}, NULL);
	node_window(node, 1.5, (const double[]){3, 1});
	node_end_recording(node);
	regions_are_in_the_trace();
	assert_int_equal(mal_trace_read(&trace, file, &err), 0);
	assert_string_equal(trace.step, "7.0");
	assert_string_equal(trace.policy, "puppet");
	assert_int_equal(trace.rank_count, 2);
	assert_int_equal(trace.topology.cpu_count, 4);
	assert_int_equal(trace.window_count, 2);
	assert_float_equal(trace.windows[0].kept[0].work_s, 3, 1e-6);
	assert_int_equal(trace.windows[0].owner[2], 1);
	assert_int_equal(trace.windows[1].kept[0].cpus, 3);
	mal_trace_destroy(&trace);
	count_plans(&plans, &rejected);
	assert_int_equal(plans, 2);
	assert_int_equal(rejected, 1);
}

/*
 * Each window has how busy CPUs were in it, and not before; what did not fit, or is less than is
 * written, counts in the next.
 */
static void trace_has_busy_cpus(void **state)
{
	char options[256];

	(void)state;
	node_close(node);
	snprintf(options, sizeof(options), "--policy=observe --trace-file=%s", file);
	node = node_start(2, 2, options);
	busy(0, 0, 5);
	node_window(node, 1, (const double[]){2, 1});
	busy(0, 0, 5.5);
	busy(1, 1, 0.25);
	busy(1, 2, 1.75);
	busy(1, 3, 0.0004);
	node_window(node, 1, (const double[]){2, 1});
	busy(1, 3, 0.0008);
	busy(0, 0, 1);
	node_window(node, 1, (const double[]){2, 1});
	/* This one is thrown away, with what was done in it. */
	busy(0, 1, 1);
	node_pass(1);
	node_say(0, 1, 0, 0);
	node_take(node);
	node_window(node, 1, (const double[]){2, 1});
	busy(0, 1, 1.125);
	node_window(node, 1, (const double[]){2, 1});
	/* Threads that share a CPU: more than the time, which would never end to count. */
	busy(0, 0, 9);
	for (unsigned int i = 1; i <= 3; i++) {
		busy(0, 1, 1.125 + 0.0625 * i * (i + 1));
		node_window(node, 1, (const double[]){2, 1});
	}
	node_end_recording(node);
	trace_says("\"busy\":[1000,125,0,0]", true);
	trace_says("\"busy\":[1000,250,0,0]", true);
	trace_says("\"busy\":[0,375,0,0]", true);
	trace_says("\"busy\":[500,0,1000,0],\"borrowed\":[1,1,250],", true);
	trace_says("\"busy\":[0,0,750,1],\"ranks\"", true);
	trace_says("\"busy\":[0,125,0,0],\"ranks\"", true);
}

/* Where pages are is in a window if it is elsewhere than in the one before. */
static void trace_has_pages(void **state)
{
	char options[256];

	(void)state;
	node_close(node);
	snprintf(options, sizeof(options), "--policy=observe,pages=yes --trace-file=%s", file);
	node = node_start(2, 2, options);
	node_window(node, 1, (const double[]){2, 1});
	looked(0, 100, 24);
	node_window(node, 1, (const double[]){2, 1});
	looked(1, 0, UINT32_MAX);
	node_window(node, 1, (const double[]){2, 1});
	looked(0, 0, 124);
	node_window(node, 1, (const double[]){2, 1});
	node_end_recording(node);
	trace_says("\"pages\":[0,0,100,0,1,24],\"ranks\"", true);
	trace_says("\"pages\":[1,1,65536],\"ranks\"", true);
	trace_says("\"pages\":[0,1,124],\"ranks\"", true);
}

/* Without Slurm there is room for more ranks than come. */
static void trace_has_the_ranks_that_came(void **state)
{
	char options[256];
	struct mal_trace trace;
	struct mal_error err;

	(void)state;
	node_close(node);
	snprintf(options, sizeof(options), "--policy=observe --trace-file=%s", file);
	node = node_open(8, 1, options);
	node_rank_start(0);
	node_rank_start(1);
	mal_plan_begin(node);
	assert_true(mal_ranks_update(node));
	mal_round_begin(node);
	node_begin(node);
	node_rank_start(3);
	assert_true(mal_ranks_update(node));
	mal_round_begin(node);
	node_begin(node);
	node_end_recording(node);
	assert_int_equal(mal_trace_read(&trace, file, &err), 0);
	assert_int_equal(trace.window_count, 2);
	assert_int_equal(trace.rank_count, 4);
	assert_int_equal(trace.windows[0].count, 2);
	assert_int_equal(trace.windows[0].owner[3], 4);
	assert_int_equal(trace.windows[1].owner[3], 3);
	assert_true(mal_trace_samples(&trace, &trace.windows[1])[3].running);
	mal_trace_destroy(&trace);
}

/* A file that cannot be made is an error at the end, and the step goes on. */
static void unwritable_trace_is_an_error_at_the_end(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 2, "--policy=lewi --trace-file=/dev/null/trace");
	node_begin(node);
	node_begin(node);
	assert_int_equal(node_totals(node)->windows, 3);
	assert_non_null(strstr(node_end_recording(node), "/dev/null/trace"));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* Where others used the CPUs, the JSON has no figure of an estimate either. */
static void no_estimate_in_json(void **state)
{
	json_t *root, *measure;

	(void)state;
	measured(times(22, 20, 10));
	beside_others(0.484, 0.484);
	root = read_json(true);
	measure = json_object_get(root, "measured");
	assert_true(json_is_null(json_object_get(measure, "unbalanced_s")));
	assert_true(json_is_null(json_object_get(measure, "share_of_attainable")));
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(of_known_step),
		CASE(counts_of_ranks_that_came_are_added),
		CASE(balanced_step_gains_nothing),
		CASE(efficiencies_of_all),
		CASE(named_regions_are_told),
		CASE(many_regions_are_named),
		CASE(without_two_boundaries_it_is_too_short),
		CASE(serial_work_gains_nothing),
		CASE(missing_mpi_and_ompt_are_named),
		CASE(without_ranks_the_line_says_why),
		CASE(each_remark_has_its_line),
		CASE(foreign_threads_are_named),
		CASE(schedules_have_their_words),
		CASE(mode_of_most_ranks_is_named),
		CASE(behind_another_tool),
		CASE(rejected_policy_is_named),
		CASE(the_last_way_is_told),
		CASE(ended_ranks_keep_their_first_cpus),
		CASE(observed_step_is_predicted),
		CASE(each_node_has_one_line),
		CASE(json_has_what_the_text_has),
		CASE(each_counter_is_told),
		CASE(json_to_full),
		CASE(status_shows_the_present_step),
		CASE(busy_cpus_are_told),
		CASE(what_may_differ_is_told),
		CASE(memory_is_told),
		CASE(trace_has_each_window),
		CASE(trace_has_busy_cpus),
		CASE(trace_has_pages),
		CASE(trace_has_the_ranks_that_came),
		CASE(unwritable_trace_is_an_error_at_the_end),
		CASE(json_of_many_cpus),
		CASE(verdict_is_the_first_line),
		CASE(verdict_beside_others),
		CASE(verdict_that_is_unsure),
		CASE(verdict_that_is_refuted),
		CASE(no_estimate_in_json),
		CASE(verdict_is_of_the_whole_step),
		CASE(verdict_is_no_longer_than_the_step),
		CASE(verdict_of_observe),
		CASE(free_runs_are_counted),
		CASE(verdict_says_what_to_try),
		CASE(advice_is_looked_at),
		CASE(shares_are_between_none_and_all),
		CASE(brief_is_the_verdict_alone),
		CASE(one_rank_has_no_balance),
		CASE(shares_that_mean_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
