/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_text.c: what the user is told at the end of a step, as text. */
#include "libmalleable/controller/report/report_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/alternatives.h"
#include "libmalleable/controller/load/plausibility.h"
#include "libmalleable/controller/load/rank_memory.h"
#include "libmalleable/controller/report/counter_table.h"
#include "libmalleable/controller/report/phrases.h"
#include "libmalleable/controller/report/verdict.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/starts.h"
#include "policies/decide/simulation.h"
#include "policies/model/efficiency.h"

/* Less is none in two decimals. */
#define NO_LOSS 0.005

static const char no_mpi[] =
	"no MPI calls intercepted (none made, or resolved by dlsym(), as Julia does)";

/* Ranks that waited for less than this part of the time have hardly anything to lend. */
#define FEW_WAITS 0.05

/* A CPU that was busy for less than this part of the time of the busiest one is named, */
#define IDLE_CPU 0.5
/* if that was busy for this part of the step. */
#define BUSY_CPU 0.1

/* Less of a rank's pages on other nodes than it computes on is none. */
#define FEW_PAGES 0.05

/* So many named regions have lines in the text. */
#define REGIONS_TOLD 10

bool mal_report_make(const struct mal_controller *controller, struct mal_report *report)
{
	double rank_time;

	memset(report, 0, sizeof(*report));
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		if (!controller->ranks[rank].known)
			continue;
		report->ranks++;
		mal_counters_add(&report->count, &controller->step->segment.ranks[rank]);
	}
	if (!report->ranks)
		return false;
	report->elapsed_s = mal_ticks_to_s(mal_ticks() - controller->step->started);
	report->overhead_s = mal_ticks_to_s(report->count.overhead_ticks);
	rank_time = report->elapsed_s * report->ranks;
	report->overhead_part = rank_time > 0 ? report->overhead_s / rank_time : 0;
	report->controller_cpu_s = 1e-9 * (double)mal_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	report->whole = mal_whole_read(controller);
	mal_region_totals_read(controller, &report->whole, &report->regions);
	mal_busy_cpus_read(controller, &report->busy);
	return true;
}

/* A share in TEXT, of SIZE bytes: never above all of it without a word on why. Returns TEXT. */
static const char *percent(double share, char *text, size_t size)
{
	if (isnan(share))
		snprintf(text, size, "unknown");
	else
		snprintf(text, size, share > 1.0005 ? "100.0 %% and noise" : "%.1f %%",
			 100 * share);
	return text;
}

/* A tree: each line is the product of what it names. One rank alone has no balance. */
static void add_efficiency(struct mal_text *text, const struct mal_report *report)
{
	struct mal_efficiencies part = mal_efficiencies(&report->whole.cpus);
	char all[32], left[32], right[32];

	if (report->whole.elapsed_s <= 0)
		return;
	mal_text_add(text, "parallel efficiency %s = MPI %s x OpenMP %s\n",
		     percent(part.parallel, all, sizeof(all)),
		     percent(part.mpi, left, sizeof(left)),
		     percent(part.openmp, right, sizeof(right)));
	if (report->ranks > 1)
		mal_text_add(text, "  MPI = load balance %s x communication %s\n",
			     percent(part.load_balance, left, sizeof(left)),
			     percent(part.communication, right, sizeof(right)));
	mal_text_add(text, "  OpenMP = serial parts %s x regions %s\n",
		     percent(part.serial, left, sizeof(left)),
		     percent(part.regions, right, sizeof(right)));
}

/* What others would gain by the CPUs that idled in waits of REGION, into TEXT. Returns TEXT. */
static const char *offer_gain(const struct mal_region_total *region, double step_s, char *text,
			      size_t size)
{
	double saves_s = region->offer_saves_s;

	*text = '\0';
	if (saves_s >= FEW_WAITS * step_s)
		snprintf(text, size, "; an offer would save up to %.3f s, %.2f times as fast",
			 saves_s, step_s / (step_s - saves_s));
	return text;
}

/* A CPU that was hardly used shows in no average of ranks. */
static void add_busy_cpus(struct mal_text *text, const struct mal_controller *controller,
			  const struct mal_report *report)
{
	const struct mal_busy_cpus *cpus = &report->busy;
	double least_s = cpus->busy_s[cpus->idlest], most_s = cpus->busy_s[cpus->busiest];
	char mean[32];

	if (most_s < BUSY_CPU * report->elapsed_s || least_s >= IDLE_CPU * most_s)
		return;
	mal_text_add(
		text, "busy CPUs (mean/max): %s; CPU %u was busy for %.3f s, CPU %u for %.3f s\n",
		percent(cpus->balance, mean, sizeof(mean)), controller->step->cpu[cpus->idlest],
		least_s, controller->step->cpu[cpus->busiest], most_s);
}

/* Where memory is, of the rank that has most of it where it does not compute. */
static void add_memory(struct mal_text *text, const struct mal_controller *controller)
{
	struct mal_memory worst = {0};
	unsigned int of = 0, known = 0, nodes = 0;
	uint32_t error = 0;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		struct mal_memory memory = mal_memory_read(controller, rank);

		known += memory.known;
		nodes = memory.nodes > nodes ? memory.nodes : nodes;
		error |= atomic_load(&mal_lanes_of(&controller->step->segment, rank)->pages_error);
		if (!memory.known || (worst.known && memory.apart <= worst.apart))
			continue;
		worst = memory;
		of = rank;
	}
	if (!known && error)
		mal_text_add(text, "memory: the system does not tell where pages are\n");
	else if (!known)
		mal_text_add(text, "memory: no rank looked where its pages are\n");
	else if (nodes < 2)
		mal_text_add(text, "memory: all of it is on one NUMA node, as the ranks' CPUs\n");
	else if (worst.apart < FEW_PAGES)
		mal_text_add(text, "memory: it is on the NUMA nodes on which the ranks compute\n");
	else
		mal_text_add(text,
			     "memory: rank %u has %.0f %% of its pages on NUMA node %u, %.0f %% of "
			     "its CPU time on node %u\n",
			     of, 100 * worst.pages[worst.far], worst.far,
			     100 * worst.cpu[worst.near], worst.near);
}

/* What the program named, and where it could lend more. */
static void add_region(struct mal_text *text, const struct mal_region_total *region, double step_s)
{
	struct mal_efficiencies part = mal_efficiencies(&region->whole.cpus);
	char all[32], left[32], right[32], balance[64] = "", gain[96];

	if (isnan(part.parallel)) {
		mal_text_add(text, "region %s: %llu run%s, %.3f of %.3f s\n", region->name,
			     (unsigned long long)region->runs, mal_plural(region->runs),
			     region->whole.elapsed_s, step_s);
	} else {
		if (region->ranks > 1)
			snprintf(balance, sizeof(balance), "; load balance %s as started",
				 percent(region->balance, all, sizeof(all)));
		mal_text_add(text,
			     "region %s: %llu run%s, %.3f of %.3f s: parallel efficiency %s = MPI "
			     "%s x OpenMP %s%s\n",
			     region->name, (unsigned long long)region->runs,
			     mal_plural(region->runs), region->whole.elapsed_s, step_s,
			     percent(part.parallel, all, sizeof(all)),
			     percent(part.mpi, left, sizeof(left)),
			     percent(part.openmp, right, sizeof(right)), balance);
	}
	if (region->outside_part * region->whole.elapsed_s >= FEW_WAITS * step_s)
		mal_text_add(text,
			     "  %.1f %% of its CPUs' time idle in waits outside MPI, offered for "
			     "%.3f s%s: see malleable_waiting_begin\n",
			     100 * region->outside_part, region->offered_s,
			     offer_gain(region, step_s, gain, sizeof(gain)));
}

static void add_regions(struct mal_text *text, const struct mal_report *report)
{
	for (size_t i = 0; i < report->regions.count && i < REGIONS_TOLD; i++)
		add_region(text, &report->regions.total[i], report->elapsed_s);
}

/* What no CPU shortens. */
static void add_outside(struct mal_text *text, struct mal_outside outside)
{
	if (outside.known)
		mal_text_add(text,
			     "waits outside MPI %.1f %%, in rank %u %.1f %%: for GPUs, files or "
			     "other processes\n",
			     100 * outside.part, outside.rank, 100 * outside.max);
}

/* What a policy would have made of it, behind BEFORE. */
static void add_alternative(struct mal_text *text, const struct mal_controller *controller,
			    double step_s, const char *before, const struct mal_outcome *outcome)
{
	double predicted_s, share = mal_verdict_predict(controller, outcome, step_s, &predicted_s);

	if (isnan(predicted_s)) {
		mal_text_add(text, "%s%s no estimate", before, outcome->policy);
		return;
	}
	mal_text_add(text, "%s%s %.3f s", before, outcome->policy, predicted_s);
	if (share < -0.005)
		mal_text_add(text, " (slower)");
	else if (!isnan(share))
		mal_text_add(text, " (%.0f %%)", fabs(share) * 100);
}

/* Where the policy found that the program is faster with fewer threads. */
static void add_use(struct mal_text *text, const struct mal_controller *controller)
{
	unsigned long used = 0, owned = 0;
	char name[32] = "";
	uint16_t counts[MAL_MAX_RANKS];

	mal_count_owned(controller, counts);
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		uint32_t use = atomic_load(&controller->step->segment.ranks[rank].use);

		if (!controller->ranks[rank].known)
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

/* The step was tried with WHAT, and phases took TIMES as long. WHO: a policy, or nothing. */
static void add_rejected(struct mal_text *text, const char *who, const char *what, double times)
{
	if (times > 1 + NO_LOSS)
		mal_text_add(text, "%s%s: no, it made phases %.2f times as long\n", who, what,
			     times);
	else if (times > 1)
		mal_text_add(text, "%s%s: no, phases took as long with it\n", who, what);
}

/* Whether something was lent: a line of LEND_TIMES, in trials or for good, and why. */
static void add_lent(struct mal_text *text, const char *who, const struct mal_outcome *way)
{
	if (!way->lends)
		add_rejected(text, who, "lent", way->lend_times);
	else if (way->lend_times > 1 + NO_LOSS)
		mal_text_add(text, "%slent: yes, though phases took %.2f times as long with it\n",
			     who, way->lend_times);
	else if (way->lend_times > 0)
		mal_text_add(text, "%slent: yes, phases take %.2f times as long as without\n", who,
			     way->lend_times);
}

/* Which way a step ran at last, and why: COUNT CPUs by rank, LENDS. WHO: a policy, or nothing. */
static void add_way(struct mal_text *text, const struct mal_controller *controller, const char *who,
		    const struct mal_outcome *way)
{
	unsigned int rank = mal_find_receiver(controller, way->count);

	if (rank < controller->step->segment.rank_count)
		mal_text_add(text, "%smoved: rank %u has %u of %u CPUs\n", who, rank,
			     way->count[rank], controller->step->cpu_count);
	else
		add_rejected(text, who, "moved", way->move_times);
	add_lent(text, who, way);
}

/* Trials in which nothing was lent show nothing of lending. */
static void add_ways(struct mal_text *text, const struct mal_controller *controller, bool lent)
{
	unsigned int count[MAL_MAX_RANKS];
	struct mal_outcome way = {.count = count,
				  .lends = atomic_load(&controller->step->segment.header->rules) &
					   MAL_RULE_LEND,
				  .move_times = controller->deciding.move_times,
				  .lend_times = lent ? controller->deciding.lend_times : 0};

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		count[rank] = controller->last[rank].cpus;
	add_way(text, controller, "", &way);
}

/* What the policies would have made of it, and the way of the first. */
static void add_alternatives(struct mal_text *text, const struct mal_controller *controller,
			     double step_s)
{
	const struct mal_outcome *outcome;
	double predicted_s;
	char who[64];

	for (size_t i = 0; (outcome = mal_alternatives_at(controller, i)); i++)
		add_alternative(text, controller, step_s,
				i ? ", " : "predicted with --balance: ", outcome);
	outcome = mal_alternatives_at(controller, 0);
	if (!outcome)
		return;
	mal_text_add(text, "\n");
	mal_verdict_predict(controller, outcome, step_s, &predicted_s);
	if (isnan(predicted_s))
		return;
	snprintf(who, sizeof(who), "  with %s ", outcome->policy);
	add_way(text, controller, who, outcome);
}

/* How many ranks keep their teams, and why most of them do. */
static void add_mode(struct mal_text *text, const struct mal_controller *controller)
{
	struct mal_kept_teams kept;
	enum mal_mode_reason reason = mal_phrase_main_reason(controller, &kept);

	if (reason == MAL_REASON_NONE)
		return;
	if (kept.ranks < kept.of_ranks)
		mal_text_add(text, "mode: cpuset in %u of %u ranks, team in the others: %s\n",
			     kept.ranks, kept.of_ranks, mal_phrase_of_reason(reason));
	else
		mal_text_add(text, "mode: cpuset, %s\n", mal_phrase_of_reason(reason));
}

/* Where nothing could be classified: why. */
static void add_unproved(struct mal_text *text, const struct mal_controller *controller)
{
	char why[MAL_BOUND_TEXT + 1];

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		if (!controller->ranks[rank].known ||
		    atomic_load(&controller->step->segment.ranks[rank].proves))
			continue;
		if (!*mal_phrase_bound(controller, rank, why, sizeof(why)))
			continue;
		mal_text_add(text, "regions: none could be classified: %s\n", why);
		return;
	}
}

/* Where regions were classified (prove=): how many ran free, and one that did not. */
static void add_proofs(struct mal_text *text, const struct mal_controller *controller)
{
	unsigned long long runs = 0, free_runs = 0, kept = 0;
	uint32_t beside_ms = 0;
	char bound[MAL_BOUND_TEXT + 1] = "";
	char one[128];
	bool any = false, unread = false;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		const struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];

		if (!controller->ranks[rank].known || !atomic_load(&slot->proves))
			continue;
		any = true;
		runs += atomic_load(&slot->count.regions);
		free_runs += atomic_load(&slot->count.free);
		kept += atomic_load(&slot->count.kept);
		if (atomic_load(&slot->beside_ms) > beside_ms)
			beside_ms = atomic_load(&slot->beside_ms);
		unread |= atomic_load(&slot->unread) != 0;
		if (!*bound && !atomic_load(&slot->unread))
			mal_phrase_bound(controller, rank, bound, sizeof(bound));
	}
	mal_phrase_reported_one(controller, one, sizeof(one));
	/* One that never ran matters only where it kept the program at one thread. */
	if (free_runs + kept >= runs && !*one)
		*bound = '\0';
	if (!any || !runs)
		return;
	mal_text_add(text, "regions: %llu of %llu runs free", free_runs, runs);
	if (kept)
		mal_text_add(text, "; %llu kept their team for the same results (bits=)", kept);
	if (unread)
		mal_text_add(text, "; analysis did not end before the last region");
	else if (beside_ms)
		mal_text_add(text, "; analysis took %.1f s in the background", beside_ms / 1e3);
	mal_text_add(text, "%s%s%s%s\n", *bound ? "; bound: " : "", bound, *one ? "; " : "", one);
}

/* Libraries that programs of the step missed on this node. */
static void add_absent(struct mal_text *text, const struct mal_controller *controller)
{
	const struct mal_library *library;

	for (unsigned int i = 0; (library = mal_library_at(i)); i++)
		if (mal_phrase_is_absent(controller, i))
			mal_text_add(text, "%s cannot be loaded on %s: %s; install %s\n",
				     library->file, controller->step->arguments.node, library->lost,
				     library->install);
}

/* Why results may differ from those without us, and what keeps them. */
static void add_differences(struct mal_text *text, const struct mal_controller *controller)
{
	uint32_t differs = 0;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (controller->ranks[rank].known)
			differs |= atomic_load(&controller->step->segment.ranks[rank].differs);
	if (!(differs & (MAL_DIFFERS_ONE | MAL_DIFFERS_SUMS)))
		return;
	mal_text_add(text, "results: %s%s%s\n",
		     differs & MAL_DIFFERS_SUMS ? "sums may have other last digits (bits=keep)"
						: "",
		     differs == (MAL_DIFFERS_SUMS | MAL_DIFFERS_ONE) ? "; " : "",
		     differs & MAL_DIFFERS_ONE ? "teams of one grew (bits=strict)" : "");
}

static void add_plausibility(struct mal_text *text, const struct mal_plausibility *found)
{
	if (found->outside_team)
		mal_text_add(text,
			     "nothing was moved in %u window%s: ranks such as %u worked %.3f s in "
			     "threads outside OpenMP, and %.3f s in OpenMP threads\n",
			     found->outside_team, mal_plural(found->outside_team), found->rank,
			     found->outside_team_s, found->seen_s);
	if (found->stopped)
		mal_text_add(text,
			     "%u window%s thrown away: ranks computed without having their CPUs\n",
			     found->stopped, found->stopped == 1 ? " was" : "s were");
}

static bool waits_little(const struct mal_controller *controller, unsigned int rank)
{
	uint64_t waited = atomic_load(&controller->step->segment.ranks[rank].count.mpi);

	return mal_ticks_to_s(waited) <
	       FEW_WAITS * mal_ticks_to_s(mal_ticks() - controller->step->started);
}

/* For how many ranks bits of enum mal_foreign_threads hold, and for ONE of them. */
static unsigned int count_foreign(const struct mal_controller *controller, uint32_t foreign_threads,
				  unsigned int *one)
{
	unsigned int count = 0;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		const struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];
		uint32_t seen = atomic_load(&slot->foreign_threads);

		if (atomic_load(&slot->count.lends) || atomic_load(&slot->count.grants) ||
		    waits_little(controller, rank))
			seen &= ~(uint32_t)MAL_FOREIGN_COMPUTE;
		if (seen & foreign_threads && !count++)
			*one = rank;
	}
	return count;
}

/* Which threads of the program keep ranks from gaining what others gain. */
static void add_foreign_threads(struct mal_text *text, const struct mal_controller *controller)
{
	unsigned int one, count = count_foreign(controller, MAL_FOREIGN_COMPUTE, &one);

	if (count)
		mal_text_add(text,
			     "%u rank%s such as %u lent nothing: other threads, of the program or "
			     "of its libraries, ran while one waited in MPI\n",
			     count, mal_plural(count), one);
	count = count_foreign(controller, MAL_FOREIGN_OPEN, &one);
	if (count)
		mal_text_add(text,
			     "regions of %u rank%s such as %u were not balanced: a thread other "
			     "than the first MPI or OpenMP thread began them\n",
			     count, mal_plural(count), one);
	count = count_foreign(controller, MAL_FOREIGN_INSIDE, &one);
	if (count)
		mal_text_add(
			text,
			"%u rank%s such as %u called MPI in parallel regions: waits there lend "
			"nothing, and end no phase\n",
			count, mal_plural(count), one);
}

static void add_kept(struct mal_text *text, const struct mal_cpumask *kept)
{
	char list[MAL_CPUMASK_TEXT];

	if (mal_cpumask_count(kept))
		mal_text_add(text,
			     "CPUs not handed over: the program keeps binding threads there: %s\n",
			     mal_cpumask_format(kept, list, sizeof(list)));
}

/* Ranks that never call MPI do not belong together; one alone may be all that its user wants. */
static bool lacks_mpi(const struct mal_controller *controller, const struct mal_report *report)
{
	bool seen = report->ranks == 1 && !controller->summaries;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		seen |= atomic_load(&controller->step->segment.ranks[rank].uses_mpi) != 0;
	return !seen;
}

static void add_too_short(struct mal_text *text, const struct mal_controller *controller,
			  const struct mal_report *report)
{
	bool lacks_openmp = mal_phrase_main_reason(controller, NULL) == MAL_REASON_RUNTIME;
	bool lacks = lacks_mpi(controller, report);
	unsigned int one, foreign_threads = count_foreign(controller, MAL_FOREIGN_WAIT, &one);
	char why[MAL_VERDICT_SIZE];

	mal_text_add(text, "%s: fewer than two phase boundaries were seen%s%s%s%s\n",
		     mal_verdict_unmeasured(controller, why, sizeof(why)), lacks ? "; " : "",
		     lacks ? no_mpi : "", lacks_openmp ? "; no OpenMP with OMPT was seen" : "",
		     foreign_threads ? "; a thread other than the first MPI thread waits in MPI"
				     : "");
}

/* How the run went, in a line or two. */
static void add_result(struct mal_text *text, const struct mal_controller *controller,
		       const struct mal_report *report)
{
	bool measured = controller->totals.windows > 0;
	char verdict[MAL_VERDICT_SIZE];

	if (measured)
		mal_text_add(text, "%s\n",
			     mal_verdict(controller, report->elapsed_s, verdict, sizeof(verdict)));
	if (measured && lacks_mpi(controller, report))
		mal_text_add(text, "%s: ranks that wait lend nothing\n", no_mpi);
	add_absent(text, controller);
}

/* Which step it was, and what ran instead of its policy. */
static void add_step(struct mal_text *text, const struct mal_controller *controller,
		     const struct mal_report *report)
{
	mal_text_add(text, "step %s on %s: policy %s, %u rank%s, %u CPU%s, %.3f s\n",
		     controller->step->arguments.step, controller->step->arguments.node,
		     controller->deciding.policy->name, report->ranks, mal_plural(report->ranks),
		     controller->step->cpu_count, mal_plural(controller->step->cpu_count),
		     report->elapsed_s);
	if (controller->deciding.rejected)
		mal_text_add(text, "policy %s was rejected: %s\n",
			     controller->deciding.policy->name, controller->deciding.rejected);
	if (controller->off_switch.ever_off)
		mal_text_add(text,
			     "switched off by the administrator, for all or part of the run\n");
}

/* How evenly ranks and CPUs were used, and what other policies would make of it. */
static void add_measured(struct mal_text *text, const struct mal_controller *controller,
			 const struct mal_report *report)
{
	const struct mal_totals *totals = &controller->totals;
	char before[32], after[32];

	if (report->ranks > 1)
		mal_text_add(
			text, "load balance (mean/max): %s as started, %s as run\n",
			percent(totals->balance_before / totals->elapsed_s, before, sizeof(before)),
			percent(totals->balance_after / totals->elapsed_s, after, sizeof(after)));
	add_efficiency(text, report);
	add_busy_cpus(text, controller, report);
	if (controller->step->choice.keys.pages)
		add_memory(text, controller);
	add_regions(text, report);
	add_outside(text, mal_plausibility_outside(controller));
	add_alternatives(text, controller, report->elapsed_s);
}

/* What was done, what limits it, and what it cost. */
static void add_done(struct mal_text *text, const struct mal_controller *controller,
		     const struct mal_report *report)
{
	const struct mal_counters *count = &report->count;

	mal_counters_text(text, count);
	if (count->evictions)
		mal_text_add(
			text,
			"reclaims that found a borrower at work: %llu, overlapping %.1f us each\n",
			(unsigned long long)count->evictions,
			1e6 * mal_ticks_to_s(count->overlap) / (double)count->evictions);
	add_ways(text, controller, count->lends || count->grants || count->borrows);
	add_use(text, controller);
	add_mode(text, controller);
	add_plausibility(text, &controller->plausibility);
	add_kept(text, &controller->leaving.kept);
	mal_text_add(text, "%s", mal_phrase_no_filter);
	mal_text_add(text, "overhead: %.2f %% of the ranks' time, controller %.0f ms CPU\n",
		     100 * report->overhead_part, 1e3 * report->controller_cpu_s);
}

size_t mal_report_text(const struct mal_controller *controller, const struct mal_report *report,
		       char *buffer, size_t size)
{
	struct mal_text text = {buffer, size, 0};
	bool measured = controller->totals.windows > 0;

	add_result(&text, controller, report);
	if (controller->step->arguments.brief) {
		if (!measured)
			add_too_short(&text, controller, report);
		return text.length;
	}
	add_proofs(&text, controller);
	add_unproved(&text, controller);
	add_differences(&text, controller);
	add_foreign_threads(&text, controller);
	add_step(&text, controller, report);
	if (!measured) {
		add_too_short(&text, controller, report);
		add_efficiency(&text, report);
		add_regions(&text, report);
		return text.length;
	}
	add_measured(&text, controller, report);
	add_done(&text, controller, report);
	return text.length;
}

enum mal_nothing mal_report_why_nothing(const struct mal_controller *controller)
{
	const struct mal_header *header = controller->step->segment.header;

	if (atomic_load(&header->unloadable))
		return MAL_NOTHING_LOADED;
	return mal_starts_are_whole(header) ? MAL_NOTHING_USED : MAL_NOTHING_SEEN;
}

size_t mal_report_nothing(const struct mal_controller *controller, char *buffer, size_t size)
{
	static const char *const texts[] = {
		[MAL_NOTHING_USED] = "nothing to balance: no task used MPI or OpenMP",
		[MAL_NOTHING_LOADED] =
			"no rank connected, nothing was balanced: a program ran where our "
			"libraries cannot be loaded, as in a container without them or with an "
			"older glibc",
		[MAL_NOTHING_SEEN] =
			"no rank connected, nothing was balanced: LD_PRELOAD was overwritten, or "
			"the program is static, setuid, without MPI and OpenMP, or finds MPI by "
			"dlsym",
	};
	struct mal_text text = {buffer, size, 0};

	if (!atomic_load(&controller->step->segment.header->refused))
		mal_text_add(&text, "%s\n", texts[mal_report_why_nothing(controller)]);
	add_absent(&text, controller);
	return text.length;
}

size_t mal_report_line(const struct mal_controller *controller, const struct mal_report *report,
		       bool alone, char *buffer, size_t size)
{
	const struct mal_totals *totals = &controller->totals;
	struct mal_text text = {buffer, size, 0};
	char verdict[MAL_VERDICT_SIZE];

	if (totals->windows)
		mal_verdict(controller, report->elapsed_s, verdict, sizeof(verdict));
	else
		mal_verdict_unmeasured(controller, verdict, sizeof(verdict));
	mal_text_add(&text,
		     "step %s on %s: %s%s, %u rank%s, %u CPU%s, %llu lend%s, %llu move%s%s: %s%s\n",
		     controller->step->arguments.step, controller->step->arguments.node,
		     controller->deciding.policy->name,
		     controller->deciding.rejected ? " (rejected)" : "", report->ranks,
		     mal_plural(report->ranks), controller->step->cpu_count,
		     mal_plural(controller->step->cpu_count),
		     (unsigned long long)report->count.lends, mal_plural(report->count.lends),
		     (unsigned long long)report->count.moves, mal_plural(report->count.moves),
		     alone ? ", this node alone" : "", verdict,
		     lacks_mpi(controller, report) ? "; no MPI calls intercepted" : "");
	if (controller->step->arguments.node_number == 0)
		mal_text_add(&text, "%s", mal_phrase_not_joined);
	return text.length;
}
