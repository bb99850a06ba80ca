/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report.c: what the user is told at the end of a step, as text. */
#include "libmalleable/controller/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/cpus/pages.h"
#include "libmalleable/controller/load/alternatives.h"
#include "libmalleable/controller/load/doubt.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/report/phrases.h"
#include "libmalleable/controller/state/deciding.h"
#include "libmalleable/controller/state/off.h"
#include "libmalleable/controller/state/ranks.h"
#include "libmalleable/controller/state/text.h"
#include "libmalleable/core/segment.h"
#include "policies/decide/simulation.h"

static double controller_cpu_s(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

bool mal_report_make(const struct mal_controller *controller, struct mal_report *report)
{
	uint64_t own = 0, overlap = 0, back = 0;
	double rank_time;

	memset(report, 0, sizeof(*report));
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		const struct mal_counters *count = &controller->step->segment.ranks[rank].count;

		if (!mal_rank_view(controller, rank)->known)
			continue;
		report->ranks++;
		report->lends += count->lends;
		report->borrows += count->borrows;
		report->grants += count->grants;
		report->reclaims += count->reclaims;
		report->evictions += count->evictions;
		report->moves += count->moves;
		overlap += count->overlap;
		back += count->back;
		own += count->own;
	}
	if (!report->ranks)
		return false;
	report->elapsed_s = mal_ticks_to_s(mal_ticks() - controller->step->started);
	report->overlap_s = mal_ticks_to_s(overlap);
	report->reclaims_s = mal_ticks_to_s(back);
	report->own_s = mal_ticks_to_s(own);
	rank_time = report->elapsed_s * report->ranks;
	report->own_part = rank_time > 0 ? report->own_s / rank_time : 0;
	report->controller_cpu_s = controller_cpu_s();
	mal_pages_count(&report->pages_sent, &report->pages_s);
	return true;
}

static void say_gain(struct mal_text *text, const struct mal_totals *totals)
{
	double share = mal_totals_attained(totals);

	if (isnan(share))
		mal_text_add(text,
			     "attainable: nothing, the load is balanced (%.3f s, at best %.3f s)\n",
			     totals->elapsed_s, totals->ideal_s);
	else
		mal_text_add(text,
			     "attainable: %.3f s unbalanced, at best %.3f s; got %.3f s, %.0f %% "
			     "of it\n",
			     totals->off_s, totals->ideal_s, totals->elapsed_s, share * 100);
}

/* What the policies would have made of it. */
static void say_alternatives(struct mal_text *text, const struct mal_alternatives *alternatives)
{
	const struct mal_outcome *outcome;
	const struct mal_policy *policy;

	for (size_t i = 0; (policy = mal_alternatives_at(alternatives, i, &outcome)); i++) {
		double share = mal_outcome_attained(outcome);

		mal_text_add(text, "%s%s %.3f s",
			     i ? ", " : "predicted with --balance: ", policy->name,
			     outcome->elapsed_s);
		if (!isnan(share))
			mal_text_add(text, " (%.0f %%)", share * 100);
	}
	if (mal_alternatives_at(alternatives, 0, &outcome))
		mal_text_add(text, "\n");
}

/* Where the policy found that the program is faster with fewer threads. */
static void say_use(struct mal_text *text, const struct mal_controller *controller)
{
	unsigned long used = 0, owned = 0;
	char name[32] = "";
	uint16_t counts[MAL_MAX_RANKS];

	mal_count_owned(controller, counts);
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		uint32_t use = atomic_load(&controller->step->segment.ranks[rank].use);

		if (!mal_rank_view(controller, rank)->known)
			continue;
		owned += counts[rank];
		used += use && use < counts[rank] ? use : counts[rank];
	}
	if (used < owned)
		mal_text_add(text, "faster with fewer threads: %lu of %lu CPUs are used\n", used,
			     owned);
	if (*mal_phrase_schedule(controller, name, sizeof(name)))
		mal_text_add(text, "faster with another loop schedule: OMP_SCHEDULE=%s\n", name);
}

/* How many ranks keep their teams, and why most of them do. */
static void say_mode(struct mal_text *text, const struct mal_controller *controller)
{
	unsigned int count[MAL_REASON_REPORTED + 1] = {0};
	unsigned int known = 0;
	enum mal_mode_reason max = MAL_REASON_USER;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		if (!mal_rank_view(controller, rank)->known)
			continue;
		known++;
		count[mal_phrase_reason(controller, rank)]++;
	}
	for (int reason = MAL_REASON_USER; reason <= MAL_REASON_REPORTED; reason++)
		if (count[reason] > count[max])
			max = (enum mal_mode_reason)reason;
	if (!count[max])
		return;
	if (count[MAL_REASON_NONE])
		mal_text_add(text, "mode: cpuset in %u of %u ranks, team in the others: %s\n",
			     known - count[MAL_REASON_NONE], known, mal_phrase_of_reason(max));
	else
		mal_text_add(text, "mode: cpuset, %s\n", mal_phrase_of_reason(max));
}

static void say_doubt(struct mal_text *text, const struct mal_doubt *doubt)
{
	if (doubt->unseen)
		mal_text_add(text,
			     "nothing was moved in %u windows: ranks such as %u worked %.3f s in "
			     "threads that OpenMP "
			     "does not know, "
			     "and %.3f s in those that it does\n",
			     doubt->unseen, doubt->rank, doubt->unseen_s, doubt->seen_s);
	if (doubt->stopped)
		mal_text_add(
			text,
			"%u windows were thrown away: ranks computed without having their CPUs\n",
			doubt->stopped);
}

static void say_kept(struct mal_text *text, const struct mal_cpumask *kept)
{
	char list[MAL_CPUMASK_TEXT];

	if (mal_cpumask_count(kept))
		mal_text_add(text,
			     "CPUs that no other step got, as threads were bound there again and "
			     "again: %s\n",
			     mal_cpumask_format(kept, list, sizeof(list)));
}

size_t mal_report_text(const struct mal_controller *controller, const struct mal_report *report,
		       char *buffer, size_t size)
{
	const struct mal_totals *totals = mal_totals_read(controller);
	struct mal_text text = {buffer, size, 0};

	mal_text_add(&text, "step %s on %s: policy %s, %u ranks, %u CPUs, %.3f s\n",
		     controller->step->arguments.step, controller->step->arguments.node,
		     mal_deciding_policy(controller)->name, report->ranks,
		     controller->step->cpu_count, report->elapsed_s);
	if (mal_deciding_rejected(controller))
		mal_text_add(&text, "policy %s was rejected: %s\n",
			     mal_deciding_policy(controller)->name,
			     mal_deciding_rejected(controller));
	if (mal_allocation_min_share(controller) < controller->step->cpu_count)
		mal_text_add(&text, "beside other jobs: %u of its %u CPUs at least\n",
			     mal_allocation_min_share(controller), controller->step->cpu_count);
	if (mal_off_was(controller))
		mal_text_add(&text,
			     "switched off by the administrator, at the end or for a time\n");
	if (!totals->windows) {
		mal_text_add(&text,
			     "too short to measure: fewer than two phase boundaries were seen\n");
		return text.length;
	}
	mal_text_add(&text, "load balance (mean/max): %.1f %% as started, %.1f %% as run\n",
		     100 * totals->balance_before / totals->elapsed_s,
		     100 * totals->balance_after / totals->elapsed_s);
	mal_text_add(&text, "hybrid efficiency (useful thread time / elapsed x CPUs): %.1f %%\n",
		     100 * totals->useful_s / totals->core_s);
	say_gain(&text, totals);
	say_alternatives(&text, controller->alternatives);
	mal_text_add(&text,
		     "CPUs: %llu lends, %llu borrows, %llu grants, %llu reclaims, %llu moves\n",
		     (unsigned long long)report->lends, (unsigned long long)report->borrows,
		     (unsigned long long)report->grants, (unsigned long long)report->reclaims,
		     (unsigned long long)report->moves);
	if (report->evictions)
		mal_text_add(
			&text,
			"reclaims that found a borrower at work: %llu, overlapping %.1f us each\n",
			(unsigned long long)report->evictions,
			1e6 * report->overlap_s / (double)report->evictions);
	if (report->pages_sent)
		mal_text_add(
			&text,
			"pages that followed their rank to another NUMA node: %llu, in %.0f ms\n",
			(unsigned long long)report->pages_sent, 1e3 * report->pages_s);
	say_use(&text, controller);
	say_mode(&text, controller);
	say_doubt(&text, mal_doubt_read(controller));
	say_kept(&text, mal_leaving_kept(controller));
	mal_text_add(&text, "overhead: %.2f %% of the ranks' time, controller %.0f ms CPU\n",
		     100 * report->own_part, 1e3 * report->controller_cpu_s);
	return text.length;
}

size_t mal_report_line(const struct mal_controller *controller, const struct mal_report *report,
		       char *buffer, size_t size)
{
	const struct mal_totals *totals = mal_totals_read(controller);
	struct mal_text text = {buffer, size, 0};
	double share = mal_totals_attained(totals);
	char gain[96] = "too short to measure", faster[32] = "";

	if (totals->windows && isnan(share))
		snprintf(gain, sizeof(gain), "nothing to gain in %.3f s", totals->elapsed_s);
	else if (totals->windows)
		snprintf(gain, sizeof(gain),
			 "%.3f s unbalanced, at best %.3f s; got %.3f s, %.0f %% of it",
			 totals->off_s, totals->ideal_s, totals->elapsed_s, share * 100);
	if (totals->windows && totals->off_s > 0)
		snprintf(faster, sizeof(faster), ", %.1f %% %s",
			 100 * fabs(1 - totals->elapsed_s / totals->off_s),
			 totals->elapsed_s <= totals->off_s ? "less time" : "more time");
	mal_text_add(&text,
		     "step %s on %s: %s%s, %u ranks, %u CPUs, %llu lends, %llu moves: %s%s\n",
		     controller->step->arguments.step, controller->step->arguments.node,
		     mal_deciding_policy(controller)->name,
		     mal_deciding_rejected(controller) ? " (rejected)" : "", report->ranks,
		     controller->step->cpu_count, (unsigned long long)report->lends,
		     (unsigned long long)report->moves, gain, faster);
	return text.length;
}
