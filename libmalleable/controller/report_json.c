/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_json.c: the report as one JSON object. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "libmalleable/controller/alternatives.h"
#include "libmalleable/controller/between.h"
#include "libmalleable/controller/history.h"
#include "libmalleable/controller/report.h"
#include "libmalleable/controller/totals.h"
#include "libmalleable/controller/wording.h"

/* NaN where there was nothing to gain. */
static json_t *share_json(double share)
{
	return isnan(share) ? json_null() : json_real(share);
}

static json_t *alternatives_json(const struct mal_alternatives *alternatives)
{
	json_t *object = json_object();
	const struct mal_outcome *outcome;
	const struct mal_policy *policy;

	for (size_t i = 0; (policy = mal_alternatives_at(alternatives, i, &outcome)); i++) {
		double share = mal_outcome_share(outcome);

		json_object_set_new(object, policy->name,
				    json_pack("{s:f, s:o, s:I}", "elapsed_s", outcome->elapsed_s, "share_of_attainable",
					      share_json(share), "moves", (json_int_t)outcome->moves));
	}
	return object;
}

/* The CPUs that RANK owns now. */
static struct mal_cpumask owned(const struct mal_controller *controller, unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int i = 0; i < controller->cpu_count; i++)
		if (mal_word_read(&controller->segment.cpus[controller->cpu[i]].word).owner == rank)
			mal_cpumask_add(&mask, controller->cpu[i]);
	return mask;
}

static json_t *rank_json(const struct mal_controller *controller, unsigned int rank)
{
	const struct mal_rank_view *view = &controller->ranks[rank];
	const struct mal_rank_slot *slot = &controller->segment.ranks[rank];
	struct mal_cpumask last = owned(controller, rank);
	enum mal_mode_reason reason = mal_wording_reason(controller, rank);
	char home[256], cpus[256];

	return json_pack("{s:i, s:i, s:s, s:s, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:I, s:b}",
			 "rank", (int)rank, "pid", (int)view->pid, "home",
			 mal_cpumask_format(&view->home, home, sizeof(home)), "cpus",
			 mal_cpumask_format(&last, cpus, sizeof(cpus)), "work_s", view->work_s, "barrier_s",
			 view->barrier_s, "serial_s", view->serial_s, "mpi_s", view->mpi_s, "regions",
			 (json_int_t)slot->count.regions, "boundaries", (json_int_t)slot->count.boundaries, "lends",
			 (json_int_t)slot->count.lends, "borrows", (json_int_t)slot->count.borrows, "grants",
			 (json_int_t)slot->count.grants, "told", (json_int_t)slot->told, "mode",
			 reason == MAL_REASON_NONE ? "team" : "cpuset", "why", mal_wording_of_reason(reason), "use",
			 (json_int_t)slot->use, "died", atomic_load(&slot->state) == MAL_RANK_DEAD);
}

static json_t *measured_json(const struct mal_totals *totals)
{
	double elapsed = totals->elapsed_s > 0 ? totals->elapsed_s : 1;
	double share = mal_totals_share(totals);

	return json_pack("{s:i, s:f, s:f, s:f, s:o, s:f, s:f, s:f}", "windows", (int)totals->windows, "elapsed_s",
			 totals->elapsed_s, "unbalanced_s", totals->off_s, "ideal_s", totals->ideal_s,
			 "share_of_attainable", share_json(share), "load_balance_before",
			 totals->balance_before / elapsed, "load_balance_after", totals->balance_after / elapsed,
			 "hybrid_efficiency", totals->core_s > 0 ? totals->useful_s / totals->core_s : 0.0);
}

static json_t *changes_json(const struct mal_report *report)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "lends", (json_int_t)report->lends, "borrows",
			 (json_int_t)report->borrows, "grants", (json_int_t)report->grants, "reclaims",
			 (json_int_t)report->reclaims, "evictions", (json_int_t)report->evictions, "moves",
			 (json_int_t)report->moves, "overlap_s", report->overlap_s, "reclaims_s", report->reclaims_s);
}

static json_t *report_json(const struct mal_controller *controller, const struct mal_report *report)
{
	json_t *ranks = json_array();
	char schedule[32];

	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++)
		if (controller->ranks[rank].known)
			json_array_append_new(ranks, rank_json(controller, rank));
	return json_pack("{s:i, s:s, s:s, s:s, s:i, s:i, s:f, s:o, s:o, s:{s:I, s:f}, s:{s:f, s:f, s:f}, s:o, s:o, "
			 "s:o, s:s, s:o}",
			 "version", 1, "step", report->step, "node", report->node, "policy", controller->policy->name,
			 "ranks", (int)report->ranks, "cpus", (int)controller->cpu_count, "elapsed_s",
			 report->elapsed_s, "measured", measured_json(&controller->totals), "cpu_changes",
			 changes_json(report), "pages", "sent", (json_int_t)report->pages_sent, "seconds",
			 report->pages_s, "overhead", "ranks_s", report->own_s, "ranks_part", report->own_part,
			 "controller_cpu_s", report->controller_cpu_s, "per_rank", ranks, "cpus_over_time",
			 mal_history_json(controller), "predicted", alternatives_json(controller->alternatives),
			 "schedule", mal_wording_schedule(controller, schedule, sizeof(schedule)), "between_nodes",
			 mal_between_json(controller));
}

int mal_report_json(const struct mal_controller *controller, const struct mal_report *report, const char *path,
		    struct mal_error *err)
{
	json_t *root = report_json(controller, report);
	FILE *file = fopen(path, "we");
	int result = -1;

	if (!root) {
		mal_fail(err, "out of memory for the report");
		goto out;
	}
	if (!file) {
		mal_fail_errno(err, "cannot write the report to %s", path);
		goto out;
	}
	if (json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) < 0 || fputc('\n', file) == EOF ||
	    fflush(file) == EOF) {
		mal_fail_errno(err, "cannot write the report to %s", path);
		goto out;
	}
	result = 0;
out:
	if (file)
		fclose(file);
	json_decref(root);
	return result;
}
