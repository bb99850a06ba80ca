/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_json.c: the report as one JSON object.
 *
 * Invariant: A report that cannot be written is an error (t/unit/test_report.c: json_to_full).
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/json_number.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/alternatives.h"
#include "libmalleable/controller/load/history.h"
#include "libmalleable/controller/load/plausibility.h"
#include "libmalleable/controller/load/rank_memory.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/report/counter_table.h"
#include "libmalleable/controller/report/imbalance.h"
#include "libmalleable/controller/report/phrases.h"
#include "libmalleable/controller/report/regions_json.h"
#include "libmalleable/controller/report/report_text.h"
#include "libmalleable/controller/report/verdict.h"
#include "policies/decide/simulation.h"
#include "policies/model/efficiency.h"

/* The last version of DLB whose keys these are. */
#define KEYS_OF "3.8"

/* As an integer of ns; noise may make a difference negative. Null: not known. */
static json_t *ns(double seconds)
{
	return isnan(seconds) ? json_null()
			      : json_integer(seconds > 0 ? (json_int_t)(seconds * 1e9) : 0);
}

/* A rank may say that more ran than there are numbers. */
static json_t *number(double count)
{
	return json_integer(count < 1e18 ? (json_int_t)count : INT64_MAX);
}

static json_t *talp_metrics(const struct mal_whole *whole, unsigned int ranks,
			    unsigned int cpu_count)
{
	const struct mal_cpu_seconds *cpus = &whole->cpus;
	struct mal_efficiencies part = mal_efficiencies(cpus);
	double counted = whole->elapsed_s > 0 ? 1 : NAN, known = cpus->all_s > 0 ? 1 : NAN;
	double alone_s = known * (cpus->computing_s - cpus->threads_s);

	return json_pack(
		"{s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:f, s:o, s:o}",
		"numCpus", (int)cpu_count, "numMpiRanks", (int)ranks, "cycles", 0, "instructions",
		0, "numMpiCalls", json_null(), "numOmpParallels", number(whole->regions),
		"numOmpThreads", number(whole->threads), "elapsedTime",
		ns(counted * whole->elapsed_s), "usefulTime", ns(known * cpus->useful_s), "mpiTime",
		ns(counted * whole->mpi_s), "mpiWorkerIdleTime", ns(counted * whole->mpi_idle_s),
		"ompLoadImbalanceTime", ns(known * (cpus->threads_s - cpus->useful_s)),
		"ompSchedulingTime", json_integer(0), "ompOutsideParallelTime", ns(alone_s),
		"ompSerializationTime", ns(alone_s + whole->mpi_idle_s), "parallelEfficiency",
		mal_json_number(part.parallel), "mpiParallelEfficiency", mal_json_number(part.mpi),
		"mpiCommunicationEfficiency", mal_json_number(part.communication), "mpiLoadBalance",
		mal_json_number(part.load_balance), "mpiLoadBalanceIn",
		mal_json_number(part.load_balance), "mpiLoadBalanceOut", 1.0,
		"ompParallelEfficiency", mal_json_number(part.openmp), "ompLoadBalance",
		mal_json_number(part.regions), "ompSchedulingEfficiency", 1.0,
		"ompCoverageEfficiency", mal_json_number(part.serial), "ompSerializationEfficiency",
		mal_json_number(part.serial));
}

/*
 * The keys that DLB writes for a whole run, of 3.7 (src/talp/talp_types.h) and 3.8 (talp-pages 3.8
 * on PyPI, io/dataframe_handling.py), so that "talp ci-report" takes a report among those of DLB.
 * Times are in ns. There are no hardware counters: cycles and instructions are 0. Not all calls of
 * MPI are counted: null. What we lose in regions is TALP's OpenMP load balance; its scheduling
 * efficiency, and load balance between nodes, is 1. TALP-Pages needs all of them (t/t3009-report.t:
 * TALP-Pages reads it).
 */
static json_t *talp_json(const struct mal_report *report, unsigned int cpu_count)
{
	json_t *application = json_object();

	for (size_t i = 0; i < report->regions.count; i++) {
		const struct mal_region_total *region = &report->regions.total[i];

		json_object_set_new(application, region->name,
				    talp_metrics(&region->whole, region->ranks, region->cpu_count));
	}
	json_object_set_new(application, "Global",
			    talp_metrics(&report->whole, report->ranks, cpu_count));
	return json_pack("{s:s, s:{s:i, s:i, s:i}, s:o}", "dlbVersion", KEYS_OF, "resources",
			 "numCpus", (int)cpu_count, "numMpiRanks", (int)report->ranks, "numGpus", 0,
			 "Application", application);
}

static json_t *alternatives_json(const struct mal_controller *controller, double step_s)
{
	json_t *object = json_object();
	const struct mal_outcome *outcome;

	for (size_t i = 0; (outcome = mal_alternatives_at(controller, i)); i++) {
		double predicted_s,
			share = mal_verdict_predict(controller, outcome, step_s, &predicted_s);

		json_object_set_new(object, outcome->policy,
				    json_pack("{s:o, s:o, s:I}", "elapsed_s",
					      mal_json_number(predicted_s), "share_of_attainable",
					      mal_json_number(share), "moves",
					      (json_int_t)outcome->moves));
	}
	return object;
}

/* The CPUs that RANK owns now. */
static struct mal_cpumask owned(const struct mal_controller *controller, unsigned int rank)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (mal_owner_read(controller, controller->step->cpu[i]).owner == rank)
			mal_cpumask_add(&mask, controller->step->cpu[i]);
	return mask;
}

/* The NUMA nodes of its pages and CPU time; null: nobody looked. */
static json_t *memory_json(const struct mal_controller *controller, unsigned int rank)
{
	struct mal_memory memory = mal_memory_read(controller, rank);
	json_t *list = memory.known ? json_array() : json_null();

	for (unsigned int node = 0; memory.known && node < MAL_NODES; node++)
		if (memory.pages[node] > 0 || memory.cpu[node] > 0)
			json_array_append_new(list, json_pack("{s:i, s:f, s:f}", "node", (int)node,
							      "pages_part", memory.pages[node],
							      "cpu_part", memory.cpu[node]));
	return list;
}

static json_t *rank_json(const struct mal_controller *controller, unsigned int rank)
{
	const struct mal_rank_totals *totals = &controller->rank_totals[rank];
	const struct mal_rank_view *view = &controller->ranks[rank];
	const struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];
	struct mal_cpumask last = owned(controller, rank);
	enum mal_mode_reason reason = mal_phrase_reason(controller, rank);
	char home[MAL_CPUMASK_TEXT], cpus[MAL_CPUMASK_TEXT], bound[MAL_BOUND_TEXT + 1];

	json_t *object = json_pack(
		"{s:i, s:i, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:s, s:I, s:I, s:s, s:s, "
		"s:I, s:b, s:o}",
		"rank", (int)rank, "pid", (int)view->pid, "home",
		mal_cpumask_format(&view->home, home, sizeof(home)), "cpus",
		mal_cpumask_format(&last, cpus, sizeof(cpus)), "work_s", totals->work_s,
		"barrier_s", totals->barrier_s, "serial_s", totals->serial_s, "mpi_s",
		totals->mpi_s, "outside_s", controller->plausibility.waits_s[rank], "regions",
		(json_int_t)slot->count.regions, "free_regions", (json_int_t)slot->count.free,
		"bound", mal_phrase_bound(controller, rank, bound, sizeof(bound)), "boundaries",
		(json_int_t)mal_sampling_boundaries(controller, rank), "told",
		(json_int_t)slot->reported, "mode", reason == MAL_REASON_NONE ? "team" : "cpuset",
		"why", mal_phrase_of_reason(reason), "use", (json_int_t)slot->use, "died",
		atomic_load(&slot->state) == MAL_RANK_DEAD, "memory",
		memory_json(controller, rank));

	return mal_counters_json(object, &slot->count);
}

static json_t *measured_json(const struct mal_controller *controller, double step_s)
{
	const struct mal_totals *totals = &controller->totals;
	double elapsed = totals->elapsed_s > 0 ? totals->elapsed_s : NAN;
	double off = mal_verdict_off(controller, step_s);
	double share = isnan(off) ? NAN : mal_totals_got(controller);

	return json_pack("{s:i, s:i, s:i, s:o, s:o, s:f, s:f, s:o, s:f, s:o, s:o, s:o, s:o}",
			 "windows", (int)totals->windows, "stopped_windows",
			 (int)controller->plausibility.stopped, "unseen_windows",
			 (int)controller->plausibility.outside_team, "others_part",
			 mal_json_number(controller->plausibility.parts.used), "taken_part",
			 mal_json_number(controller->plausibility.parts.taken), "outside_part",
			 mal_plausibility_outside(controller).part, "elapsed_s", totals->elapsed_s,
			 "unbalanced_s", mal_json_number(off), "ideal_s", totals->ideal_s,
			 "share_of_attainable", mal_json_number(share), "load_balance_before",
			 mal_json_number(totals->balance_before / elapsed), "load_balance_after",
			 mal_json_number(totals->balance_after / elapsed), "hybrid_efficiency",
			 mal_json_number(mal_efficiencies(&totals->cpus).parallel));
}

/* How long each CPU was busy that the ranks had. */
static json_t *busy_cpus_json(const struct mal_controller *controller,
			      const struct mal_busy_cpus *cpus)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (cpus->counts[i])
			json_array_append_new(list, json_pack("{s:i, s:f}", "cpu",
							      (int)controller->step->cpu[i],
							      "busy_s", cpus->busy_s[i]));
	return list;
}

/* The number of the job, of a step that is called JOB.STEP; null: without Slurm. */
static json_t *job_json(const char *step)
{
	size_t digits = strspn(step, "0123456789");

	return digits && step[digits] == '.' ? json_integer(strtoll(step, NULL, 10)) : json_null();
}

/* The command line, a text for each word; null: not known. */
static json_t *command_json(const struct mal_controller *controller)
{
	size_t length = controller->command.length;
	const char *words = controller->command.words;
	json_t *list = length ? json_array() : json_null();

	for (size_t at = 0; at < length; at += strlen(words + at) + 1) {
		json_t *word = json_string(words + at);

		/* It need not be UTF-8. */
		json_array_append_new(list, word ? word : json_string("?"));
	}
	return list;
}

/* Of which step the report is. */
static json_t *head_json(const struct mal_controller *controller)
{
	const struct mal_arguments *arguments = &controller->step->arguments;
	time_t now = time(NULL);
	struct tm date;
	char when[32] = "";

	if (gmtime_r(&now, &date))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &date);
	return json_pack("{s:i, s:s, s:s, s:o, s:s, s:s, s:I, s:o, s:s}", "version", 1, "malleable",
			 PACKAGE_VERSION, "timestamp", when, "job", job_json(arguments->step),
			 "step", arguments->step, "node", arguments->node, "uid",
			 (json_int_t)getuid(), "command", command_json(controller), "policy",
			 controller->deciding.policy->name);
}

/* The libraries that programs of the step missed. */
static json_t *absent_json(const struct mal_controller *controller)
{
	const struct mal_library *library;
	json_t *list = json_array();

	for (unsigned int i = 0; (library = mal_library_at(i)); i++)
		if (mal_phrase_is_absent(controller, i))
			json_array_append_new(list, json_string(library->file));
	return list;
}

static json_t *report_json(const struct mal_controller *controller, const struct mal_report *report)
{
	const struct mal_totals *totals = &controller->totals;
	json_t *ranks = json_array();
	char schedule[32], verdict[MAL_VERDICT_SIZE] = "too short to measure";

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (controller->ranks[rank].known)
			json_array_append_new(ranks, rank_json(controller, rank));
	if (totals->windows)
		mal_verdict(controller, report->elapsed_s, verdict, sizeof(verdict));
	return json_pack("{s:i, s:i, s:f, s:s, s:o, s:o, s:o, s:{s:f, s:f, s:f}, "
			 "s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}",
			 "ranks", (int)report->ranks, "cpus", (int)controller->step->cpu_count,
			 "elapsed_s", report->elapsed_s, "verdict", verdict, "efficiency",
			 mal_efficiency_json(&report->whole.cpus), "measured",
			 measured_json(controller, report->elapsed_s), "cpu_changes",
			 mal_counters_json(json_object(), &report->count), "overhead", "ranks_s",
			 report->overhead_s, "ranks_part", report->overhead_part,
			 "controller_cpu_s", report->controller_cpu_s, "per_rank", ranks, "per_cpu",
			 busy_cpus_json(controller, &report->busy), "cpu_balance",
			 mal_json_number(report->busy.balance), "cpus_over_time",
			 mal_history_json(controller), "predicted",
			 alternatives_json(controller, report->elapsed_s), "schedule",
			 mal_phrase_schedule(controller, schedule, sizeof(schedule)), "absent",
			 absent_json(controller), "between_nodes", mal_imbalance_json(controller),
			 "regions", mal_regions_json(&report->regions));
}

int mal_report_json(const struct mal_controller *controller, const struct mal_report *report,
		    FILE *file)
{
	json_t *root = head_json(controller);
	json_t *rest = report_json(controller, report);
	json_t *talp = talp_json(report, controller->step->cpu_count);
	int result = root && rest && talp ? json_object_update(root, rest) : -1;

	if (result == 0)
		result = json_object_update(root, talp);
	if (result == 0)
		result = json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	if (result == 0 && fputc('\n', file) == EOF)
		result = -1;
	json_decref(root);
	json_decref(rest);
	json_decref(talp);
	return result;
}
