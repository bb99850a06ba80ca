/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* status_json.c: the step as it is now, as JSON. */
#include "libmalleable/controller/report/status_json.h"

#include <jansson.h>
#include <math.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/json_number.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/report/counter_table.h"
#include "libmalleable/controller/report/phrases.h"
#include "libmalleable/controller/report/regions_json.h"
#include "libmalleable/core/segment.h"

/* Version of the format. */
#define STATUS_VERSION 1

/* CPUs by who owns and who uses them. */
struct use {
	struct mal_cpumask cpus; /* owned */
	unsigned int lent, borrowed, coming;
};

static void read_use(const struct mal_controller *controller, struct use *uses)
{
	unsigned int ranks = controller->step->segment.rank_count;

	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		unsigned int cpu = controller->step->cpu[i], next = mal_owner_next(controller, cpu);
		struct mal_cpu_state state = mal_owner_read(controller, cpu);

		if (state.owner < ranks) {
			mal_cpumask_add(&uses[state.owner].cpus, cpu);
			uses[state.owner].lent += state.lent;
		}
		if (state.lent && state.user < ranks && state.user != state.owner)
			uses[state.user].borrowed++;
		if (next < ranks)
			uses[next].coming++;
	}
}

/* Where the threads of RANK's team are to run, as it says itself. */
static struct mal_cpumask read_team(const struct mal_controller *controller, unsigned int rank)
{
	uint32_t team = atomic_load(&controller->step->segment.ranks[rank].team);
	struct mal_cpumask mask = {{0}};

	for (uint32_t i = 0; i < team && i < controller->step->segment.thread_count; i++)
		mal_cpumask_add(
			&mask,
			atomic_load(&mal_thread_slot(&controller->step->segment, rank, i)->cpu));
	return mask;
}

static json_t *order_json(const struct mal_order *order)
{
	return json_pack("{s:b, s:I, s:I}", "exact", order->exact, "min", (json_int_t)order->min,
			 "max", (json_int_t)order->max);
}

static json_t *rank_json(const struct mal_controller *controller, unsigned int rank,
			 const struct use *use)
{
	const struct mal_rank_view *view = &controller->ranks[rank];
	const struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];
	const struct mal_sample *sample = &controller->last[rank];
	double elapsed = sample->elapsed_s > 0 ? sample->elapsed_s : NAN;
	double busy =
		(sample->work_s + sample->serial_s) / (elapsed * (sample->cpus ? sample->cpus : 1));
	struct mal_cpumask team = read_team(controller, rank);
	char cpus[MAL_CPUMASK_TEXT], threads[MAL_CPUMASK_TEXT];
	json_t *object;

	/* A window that was not measured yet has no load. */
	object = json_pack("{s:i, s:i, s:b, s:s, s:i, s:i, s:i, s:i, s:o, s:o, s:b, s:s, s:I, s:s, "
			   "s:o}",
			   "rank", (int)rank, "pid", (int)view->pid, "running", view->running,
			   "cpus", mal_cpumask_format(&use->cpus, cpus, sizeof(cpus)), "count",
			   (int)mal_cpumask_count(&use->cpus), "lent", (int)use->lent, "borrowed",
			   (int)use->borrowed, "coming", (int)use->coming, "load",
			   mal_json_number(busy), "mpi", mal_json_number(sample->mpi_s / elapsed),
			   "waiting", atomic_load(&slot->waiting_since) != 0, "mode",
			   mal_phrase_reason(controller, rank) == MAL_REASON_NONE ? "team"
										  : "cpuset",
			   "use", (json_int_t)atomic_load(&slot->use), "threads",
			   mal_cpumask_format(&team, threads, sizeof(threads)), "order",
			   order_json(&controller->deciding.orders.ranks[rank]));
	return mal_counters_json(object, &slot->count);
}

char *mal_status_json(const struct mal_controller *controller)
{
	struct use uses[MAL_MAX_RANKS] = {{{{0}}, 0, 0, 0}};
	const struct mal_others_parts parts = controller->plausibility.parts;
	bool known = !mal_others_are_many(parts);
	double share = known ? mal_totals_got(controller) : NAN;
	json_t *ranks = json_array(), *object;
	struct mal_whole whole = mal_whole_read(controller);
	struct mal_region_totals regions;
	char cpus[MAL_CPUMASK_TEXT], others[MAL_OTHERS_TEXT], *text;

	read_use(controller, uses);
	mal_region_totals_read(controller, &whole, &regions);
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (controller->ranks[rank].known)
			json_array_append_new(ranks, rank_json(controller, rank, &uses[rank]));
	object = json_pack(
		"{s:i, s:s, s:s, s:s, s:s?, s:s?, s:s, s:f, s:i, s:f, s:o, s:f, s:o, s:i, "
		"s:o, s:o, s:o}",
		"version", STATUS_VERSION, "step", controller->step->arguments.step, "node",
		controller->step->arguments.node, "policy", controller->deciding.policy->name,
		"rejected",
		controller->off_switch.off_now ? "switched off by the administrator"
					       : controller->deciding.rejected,
		"no_estimate", known ? NULL : mal_others_format(parts, others), "cpus",
		mal_cpumask_format(&controller->step->allocation, cpus, sizeof(cpus)), "running_s",
		mal_ticks_to_s(mal_ticks() - controller->step->started), "windows",
		(int)controller->totals.windows, "measured_s", controller->totals.elapsed_s,
		"unbalanced_s", mal_json_number(known ? controller->totals.off_s : NAN), "ideal_s",
		controller->totals.ideal_s, "share_of_attainable", mal_json_number(share), "plans",
		(int)controller->deciding.plans, "ranks", ranks, "efficiency",
		mal_efficiency_json(&whole.cpus), "regions", mal_regions_json(&regions));
	text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
	json_decref(object);
	return text;
}
