/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict.c: what balancing made of a step, in one line. */
#include "libmalleable/controller/report/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/report/phrases.h"
#include "policies/interface/attained.h"
#include "policies/model/efficiency.h"

/* Less than this part of the time is no difference between two runs of most programs. */
#define NO_DIFFERENCE 0.005
/* Ranks with less than this part of the largest load, on average, are not called balanced. */
#define EVEN_LOAD 0.95

/* Ranks that computed without a CPU for more than this part of the time did something else. */
#define MOST 0.5
/* There is no estimate without balancing that may be wrong by more than this part. */
#define UNSURE 0.1

/* Longest reason. */
#define WHY_SIZE 128

static const char no_libomp[] = "libomp.so.5 cannot be loaded on this node";

/* Whether it is why ranks have no runtime that reports their threads. */
static bool lacks_libomp(const struct mal_controller *controller)
{
	return mal_phrase_main_reason(controller, NULL) == MAL_REASON_RUNTIME &&
	       mal_phrase_is_absent(controller, MAL_ABSENT_LIBOMP);
}

/* Why nothing could be gained, and what to try, perhaps in TEXT of SIZE bytes; empty: not known. */
static const char *reason(const struct mal_controller *controller, char *text, size_t size)
{
	enum mal_mode_reason mode = mal_phrase_main_reason(controller, NULL);
	char others[MAL_OTHERS_TEXT];

	if (controller->deciding.rejected)
		return "the policy was rejected: try another one";
	if (controller->off_switch.ever_off)
		return "balancing was switched off";
	if (controller->plausibility.outside_team)
		return "work in threads outside OpenMP: use fewer";
	if (lacks_libomp(controller))
		return no_libomp;
	if (mal_others_are_many(controller->plausibility.parts)) {
		snprintf(text, size, "%s: try a quiet node",
			 mal_others_format(controller->plausibility.parts, others));
		return text;
	}
	if (controller->plausibility.stopped)
		return "others used the CPUs: try a quiet node";
	if (*mal_phrase_reported_one(controller, text, size))
		return text;
	return mal_phrase_to_try(controller, mode, text, size);
}

/* Of the whole step: as it was, and as predicted without balancing and at best. */
struct times {
	double elapsed_s, off_s, ideal_s;
};

static double attained(const struct times *times)
{
	return mal_attained(times->off_s, times->ideal_s, times->elapsed_s);
}

static bool has_unmanaged(const struct mal_controller *controller)
{
	bool any = false;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		any |= atomic_load(&controller->step->segment.ranks[rank].unmanaged);
	return any;
}

/*
 * Whether trials have refuted a gain: phases took longer with what the step was tried with and does
 * without now, or hardly less with what it does. Threads that nobody sees take more CPU time where
 * they hinder each other, which the model takes for work that would have taken longer without us.
 */
static bool is_refuted(const struct mal_controller *controller, const struct times *times)
{
	uint32_t rules = atomic_load(&controller->step->segment.header->rules);
	double moves = controller->deciding.move_times, lends = controller->deciding.lend_times;

	if (times->elapsed_s >= times->off_s || !has_unmanaged(controller))
		return false;
	return rules & MAL_RULE_LEND ? times->off_s * lends > (1 + UNSURE) * times->elapsed_s
				     : lends > 1 && !(moves > 0 && moves < 1);
}

/* The model knows the ranks alone: beside others it is wrong, whatever the step did. */
static bool is_unsure(const struct mal_controller *controller, const struct times *times)
{
	return controller->totals.unsure_s > UNSURE * times->off_s ||
	       mal_others_are_many(controller->plausibility.parts) || is_refuted(controller, times);
}

static bool is_observed(const struct mal_controller *controller)
{
	return strcmp(controller->deciding.policy->name, "observe") == 0;
}

/* Why there is nothing to gain: by the largest loss. */
static const char *balanced(const struct mal_controller *controller)
{
	const struct mal_plausibility *found = &controller->plausibility;
	const struct mal_totals *totals = &controller->totals;
	const struct mal_efficiencies part = mal_efficiencies(&totals->cpus);

	if (lacks_libomp(controller))
		return no_libomp;
	if (totals->balance_before < EVEN_LOAD * totals->elapsed_s &&
	    part.communication < part.load_balance)
		return "ranks wait for messages";
	if (totals->balance_before < EVEN_LOAD * totals->elapsed_s)
		return found->lost_s > MOST * found->computed_s
			       ? "ranks wait for other processes or files"
			       : "ranks wait for work of one thread";
	return "balanced as it is";
}

static void write_observed(const struct mal_controller *controller, const struct times *times,
			   char *line, size_t size)
{
	if (isnan(attained(times)))
		snprintf(line, size, "%s: nothing to gain in %.3f s", balanced(controller),
			 times->elapsed_s);
	else
		snprintf(line, size,
			 "only observed: at best %.2f times as fast, %.3f s instead of %.3f s",
			 times->off_s / times->ideal_s, times->ideal_s, times->off_s);
}

static void write_balanced(const struct mal_controller *controller, const struct times *times,
			   char *line, size_t size)
{
	struct mal_kept_teams kept;

	mal_phrase_main_reason(controller, &kept);
	if (kept.of_ranks == 1)
		snprintf(line, size, "one rank on this node: nothing to balance in %.3f s",
			 times->elapsed_s);
	else if (times->elapsed_s > (1 + NO_DIFFERENCE) * times->off_s)
		snprintf(line, size, "%s: nothing to gain; %.3f s, estimated %.3f s without",
			 balanced(controller), times->elapsed_s, times->off_s);
	else
		snprintf(line, size, "%s: nothing to gain in %.3f s", balanced(controller),
			 times->elapsed_s);
}

static void write_gain(const struct times *times, char *line, size_t size)
{
	double share = attained(times);
	char part[64];

	if (share > 1)
		snprintf(part, sizeof(part), "the full possible gain, within noise");
	else
		snprintf(part, sizeof(part), "%.0f %% of the possible gain", 100 * share);
	snprintf(line, size, "%.2f times as fast: %.3f s, estimated %.3f s without; %s",
		 times->off_s / times->elapsed_s, times->elapsed_s, times->off_s, part);
}

static void write_unknown(const struct mal_controller *controller, const struct times *times,
			  char *line, size_t size)
{
	char text[WHY_SIZE];
	const char *why = reason(controller, text, sizeof(text));

	snprintf(line, size, "no estimate: %.3f s%s%s", times->elapsed_s, *why ? ", " : "", why);
}

/* Neither faster nor balanced. */
static void write_no_gain(const struct mal_controller *controller, const struct times *times,
			  char *line, size_t size)
{
	double slower = times->elapsed_s / times->off_s;
	char how[32] = "not faster", text[WHY_SIZE];
	const char *why = reason(controller, text, sizeof(text));

	if (slower > 1 + NO_DIFFERENCE)
		snprintf(how, sizeof(how), "%.2f times as slow", slower);
	snprintf(line, size, "%s: %.3f s, estimated %.3f s without, %.3f s at best%s%s", how,
		 times->elapsed_s, times->off_s, times->ideal_s, *why ? "; " : "", why);
}

/*
 * What the windows measured, and what no window did, which is the same however the step runs. Where
 * ranks come to a boundary one long after the other, windows are more than the step together.
 */
static struct times whole_step(const struct mal_totals *windows, double step_s)
{
	double outside = fmax(0, step_s - windows->elapsed_s);
	double part = windows->elapsed_s > step_s ? step_s / windows->elapsed_s : 1;

	return (struct times){part * windows->elapsed_s + outside, part * windows->off_s + outside,
			      part * windows->ideal_s + outside};
}

double mal_verdict_off(const struct mal_controller *controller, double step_s)
{
	const struct mal_totals *totals = &controller->totals;
	const struct times times = whole_step(totals, step_s);

	return is_unsure(controller, &times) ? NAN : totals->off_s;
}

double mal_verdict_predict(const struct mal_controller *controller,
			   const struct mal_outcome *simulated, double step_s, double *predicted_s)
{
	const struct mal_totals *totals = &controller->totals;
	const struct times times = whole_step(totals, step_s);
	double part = totals->elapsed_s > step_s ? step_s / totals->elapsed_s : 1;

	/* What the model leaves out of its times is the same in both. */
	*predicted_s = times.off_s + part * (simulated->elapsed_s - simulated->off_s);
	if (mal_others_are_many(controller->plausibility.parts))
		*predicted_s = NAN;
	return mal_attained(times.off_s, times.ideal_s, *predicted_s);
}

const char *mal_verdict_unmeasured(const struct mal_controller *controller, char *line, size_t size)
{
	const struct mal_segment *segment = &controller->step->segment;
	uint64_t now = mal_ticks(), half = (now - controller->step->started) / 2;

	snprintf(line, size, "too short to measure");
	for (unsigned int rank = 0; rank < segment->rank_count; rank++) {
		const struct mal_rank_slot *slot = &segment->ranks[rank];
		uint64_t end = atomic_load(&slot->finalized);

		if (!controller->ranks[rank].known)
			continue;
		if (end && end < now && now - end > half)
			snprintf(line, size, "not measured: %.3f s were after MPI_Finalize",
				 mal_ticks_to_s(now - end));
		else if (atomic_load(&slot->foreign_threads) & MAL_FOREIGN_INSIDE)
			snprintf(line, size, "not measured: MPI is called in parallel regions");
	}
	return line;
}

const char *mal_verdict(const struct mal_controller *controller, double step_s, char *line,
			size_t size)
{
	const struct times times = whole_step(&controller->totals, step_s);

	if (is_unsure(controller, &times))
		write_unknown(controller, &times, line, size);
	else if (isnan(attained(&times)) &&
		 mal_phrase_main_reason(controller, NULL) == MAL_REASON_TOOL)
		write_unknown(controller, &times, line, size);
	else if (is_observed(controller))
		write_observed(controller, &times, line, size);
	else if (isnan(attained(&times)))
		write_balanced(controller, &times, line, size);
	else if (times.elapsed_s < (1 - NO_DIFFERENCE) * times.off_s)
		write_gain(&times, line, size);
	else
		write_no_gain(controller, &times, line, size);
	return line;
}
