/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plausibility.c: what ranks measured against the CPU time that the kernel counts. */
#include "libmalleable/controller/load/plausibility.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/load/run_queue.h"

/* A rank was stopped if it got less than this part of the time that it computed, */
#define STOPPED_PART 0.25
/* and lost at least so much, and so many times as much as usual. */
#define STOPPED_MIN_S 0.1
#define STOPPED_TIMES 4
/* Its own measure is of no use if it saw less than this part of its work, */
#define SEEN_PART 0.5
/* and the rest was this part of the window at least. */
#define OUTSIDE_TEAM_MIN 0.1

/*
 * Reading takes some milliseconds on large nodes: wait for this part of the time counted so far,
 * in which a short step is known as well, within these bounds.
 */
#define READ_AGAIN_PART 0.25
#define READ_AGAIN_MIN_S 0.1
#define READ_AGAIN_MAX_S 1.0

/* Interrupts take a thread's time too, which nobody counts for it. */
#define NO_WAIT 0.01

/* Parse a line "cpuN user nice system idle iowait irq softirq steal ...", and add its ticks. */
static bool parse_line(const char *line, const struct mal_cpumask *cpus, struct mal_busy *ticks)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
	unsigned int cpu;

	/* The first line has the sum, behind a blank. */
	if (!isdigit((unsigned char)line[3]) ||
	    sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice,
		   &system, &idle, &iowait, &irq, &softirq, &steal) != 9 ||
	    cpu >= MAL_MAX_CPUS || !mal_cpumask_has(cpus, cpu))
		return false;
	ticks->all_s += (double)(user + nice + system + steal);
	ticks->stolen_s += (double)steal;
	return true;
}

struct mal_busy mal_others_busy(FILE *stat, const struct mal_cpumask *cpus)
{
	double per_s = (double)sysconf(_SC_CLK_TCK);
	struct mal_busy ticks = {0};
	unsigned int found = 0, count = mal_cpumask_count(cpus);
	char line[256];

	while (stat && found < count && fgets(line, sizeof(line), stat) &&
	       strncmp(line, "cpu", 3) == 0)
		found += parse_line(line, cpus, &ticks);
	if (found != count)
		return (struct mal_busy){0};
	return (struct mal_busy){ticks.all_s / per_s, ticks.stolen_s / per_s};
}

bool mal_others_add(struct mal_others *others, double ranks_s, double now_s)
{
	double again_s =
		fmin(fmax(READ_AGAIN_PART * others->counted_s, READ_AGAIN_MIN_S), READ_AGAIN_MAX_S);

	if (others->busy.all_s > 0)
		others->ranks_s += ranks_s;
	return others->at_s <= 0 || now_s - others->at_s >= again_s;
}

void mal_others_count(struct mal_others *others, struct mal_busy busy, unsigned int count,
		      double now_s)
{
	if (others->busy.all_s > 0 && busy.all_s > 0) {
		others->others_s += busy.all_s - others->busy.all_s - others->ranks_s;
		others->stolen_s += busy.stolen_s - others->busy.stolen_s;
		others->counted_s += now_s - others->at_s;
		others->all_s += (now_s - others->at_s) * count;
	}
	others->busy = busy;
	others->at_s = now_s;
	others->ranks_s = 0;
}

static double part(double some, double all)
{
	return fmin(fmax(some / all, 0), 1);
}

double mal_others_part(const struct mal_others *others)
{
	return others->all_s > 0 ? part(others->others_s, others->all_s) : NAN;
}

double mal_others_taken(const struct mal_others *others, double waited, unsigned int count)
{
	/* The kernel counts busy time in ticks, and what it rounds on many CPUs cancels out. */
	double rounded_s = sqrt(2.0 * count) / (double)sysconf(_SC_CLK_TCK);

	if (others->all_s <= 0)
		return NAN;
	/* What the host took is of all CPUs alike, and no run queue shows it. */
	return fmin(fmin(waited + part(others->stolen_s, others->all_s), 1),
		    part(others->others_s - rounded_s, others->counted_s));
}

void mal_plausibility_open(struct mal_controller *controller)
{
	controller->plausibility_own.parts = (struct mal_others_parts){NAN, NAN};
}

void mal_plausibility_close(struct mal_controller *controller)
{
	for (unsigned int rank = 0; rank < MAL_MAX_RANKS; rank++)
		mal_waits_close(&controller->plausibility_own.waits[rank]);
}

static double computed_in(const struct mal_sample *sample)
{
	return sample->work_s + sample->serial_s;
}

/* For how long a rank computed without a CPU. */
static double lost_in(const struct mal_sample *sample, const struct mal_cpu_time *time)
{
	return fmax(0, computed_in(sample) - time->cpu_s);
}

static bool was_stopped(double *usual_lost_s, const struct mal_sample *sample,
			const struct mal_cpu_time *time)
{
	double lost = lost_in(sample, time), usual = *usual_lost_s;

	*usual_lost_s = (usual + lost) / 2;
	return time->cpu_s < STOPPED_PART * computed_in(sample) &&
	       lost > STOPPED_MIN_S + STOPPED_TIMES * usual;
}

static bool works_outside_team(const struct mal_sample *sample, const struct mal_cpu_time *time)
{
	double seen = computed_in(sample);

	return seen < SEEN_PART * (seen + time->outside_team_s) &&
	       time->outside_team_s > OUTSIDE_TEAM_MIN * sample->elapsed_s;
}

/*
 * The CPUs that ranks alone should use. None while another step may use some, or what a script runs
 * behind a rank that has ended.
 */
static struct mal_cpumask cpus_of_ranks(const struct mal_controller *controller)
{
	const struct mal_cpumask none = {{0}};
	struct mal_cpumask cpus = controller->allocation.idle;

	if (controller->pool)
		return none;
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		const struct mal_rank_view *view = &controller->ranks[rank];

		if (view->known && !view->running)
			return none;
		mal_cpumask_union(&cpus, &view->home);
	}
	return cpus;
}

/* How much others took, at most, of the time of a thread that runs on the step's COUNT CPUs. */
static double taken_of_any(struct mal_controller *controller, unsigned int count, double now_s)
{
	struct mal_plausibility *found = &controller->plausibility_own;
	double max = NAN;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		double waited;

		if (!controller->ranks[rank].running)
			continue;
		waited = mal_waits_longest(&found->waits[rank], controller->ranks[rank].pid, now_s);
		if (!isnan(waited))
			max = fmax(max, mal_others_taken(&found->others, waited, count));
	}
	return max;
}

void mal_plausibility_skip(struct mal_controller *controller)
{
	struct mal_others *others = &controller->plausibility_own.others;

	others->busy.all_s = others->at_s = 0;
}

static void look_for_others(struct mal_controller *controller, double ranks_s)
{
	struct mal_plausibility *plausibility = &controller->plausibility_own;
	struct mal_cpumask cpus = cpus_of_ranks(controller);
	unsigned int count = mal_cpumask_count(&cpus);
	double now_s = mal_ticks_to_s(mal_ticks());
	FILE *stat;

	if (!count || memcmp(&cpus, &plausibility->cpus, sizeof(cpus)) != 0)
		mal_plausibility_skip(controller);
	plausibility->cpus = cpus;
	if (!count || !mal_others_add(&plausibility->others, ranks_s, now_s))
		return;
	stat = fopen("/proc/stat", "re");
	mal_others_count(&plausibility->others, mal_others_busy(stat, &cpus), count, now_s);
	if (stat)
		fclose(stat);
	plausibility->parts.used = mal_others_part(&plausibility->others);
	plausibility->parts.taken = taken_of_any(controller, count, now_s);
}

struct mal_outside mal_plausibility_outside(const struct mal_controller *controller)
{
	const struct mal_plausibility *found = &controller->plausibility;
	struct mal_outside outside = {0, 0, 0, false};
	double waits_s = 0, elapsed_s = 0, stolen = 0;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		waits_s += found->waits_s[rank];
		elapsed_s += found->elapsed_s[rank];
		if (found->waits_s[rank] <= outside.max * found->elapsed_s[rank])
			continue;
		outside.max = found->waits_s[rank] / found->elapsed_s[rank];
		outside.rank = rank;
	}
	if (elapsed_s > 0)
		outside.part = waits_s / elapsed_s;
	if (found->others.all_s > 0)
		stolen = part(found->others.stolen_s, found->others.all_s);
	outside.known = outside.max > NO_WAIT + stolen;
	return outside;
}

bool mal_plausibility_window(struct mal_controller *controller, const struct mal_sample *samples,
			     const struct mal_cpu_time *times)
{
	struct mal_plausibility *found = &controller->plausibility_own;
	bool stopped = false;
	double ranks_s = 0;

	found->now = false;
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		if (!samples[rank].running)
			continue;
		ranks_s += times[rank].cpu_s + times[rank].beside_s;
		found->computed_s += computed_in(&samples[rank]);
		found->lost_s += lost_in(&samples[rank], &times[rank]);
		stopped |= was_stopped(&found->usual_lost_s[rank], &samples[rank], &times[rank]);
		if (!works_outside_team(&samples[rank], &times[rank]))
			continue;
		found->now = true;
		found->rank = rank;
		found->outside_team_s += times[rank].outside_team_s;
		found->seen_s += computed_in(&samples[rank]);
	}
	for (unsigned int rank = 0; !stopped && rank < controller->step->segment.rank_count; rank++)
		if (samples[rank].running) {
			found->waits_s[rank] += times[rank].waits_s;
			found->elapsed_s[rank] += samples[rank].elapsed_s;
		}
	look_for_others(controller, ranks_s);
	found->stopped += stopped;
	found->outside_team += found->now && !stopped;
	return !stopped;
}
