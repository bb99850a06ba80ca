/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scaling.c: learn how well each rank's parallel work scales.
 *
 * Invariant: what does not fit says nothing of how work scales (t/unit/test_model.c:
 * chunks_that_do_not_fit_say_nothing).
 */
#include "policies/model/scaling.h"

#include <math.h>
#include <string.h>

/* Core times that differ by less than this part count as equal. */
#define STEADY 0.01
/* Below such a change of CPUs, as a part of them, idle time tells how chunks of loops fit them. */
#define TELLING 0.25
/* Weight of the prior belief that all work scales, in changes seen. */
#define PRIOR 0.25
/* Weight of older changes. */
#define FORGET 0.7
/* A smaller part is noise. */
#define MIN_FIXED 0.03

/* A team larger than its rank's CPUs has grown or borrows: its idle threads say nothing. */
static bool has_own_team(const struct mal_sample *sample)
{
	return sample->team <= sample->cpus;
}

static struct mal_seen look(const struct mal_sample *sample)
{
	if (!sample->running || sample->phases <= 0 || sample->work_s <= 0)
		return (struct mal_seen){0, 0, 0};
	return (struct mal_seen){
		sample->cpus, sample->work_s / sample->phases,
		has_own_team(sample) ? (sample->work_s + sample->barrier_s) / sample->phases : NAN};
}

static bool are_close(double a, double b)
{
	return fabs(a - b) <= STEADY * (a > b ? a : b);
}

static double mean(double a, double b)
{
	return (a + b) / 2;
}

/*
 * A part FIXED of the time T on one CPU does not scale, so n CPUs are occupied for T (FIXED n + 1 -
 * FIXED). Returns FIXED from two numbers of CPUs and the ratio of their core times.
 */
static double solve(unsigned int before, unsigned int after, double ratio)
{
	double fixed = (ratio - 1) / (after - 1.0 - ratio * (before - 1.0));

	/* Beyond the pole more CPUs shorten nothing at all. */
	if (after > before ? ratio * (before - 1.0) >= after - 1.0
			   : ratio * (before - 1.0) <= after - 1.0)
		return 1;
	return fixed < 0 ? 0 : fixed > 1 ? 1 : fixed;
}

static void judge(struct mal_scaling_record *record)
{
	const struct mal_seen *seen = record->seen;
	double before, after, change = fabs((double)seen[2].cpus - seen[0].cpus);

	if (!seen[0].cpus || seen[0].cpus != seen[1].cpus || seen[1].cpus == seen[2].cpus ||
	    !seen[2].cpus || seen[2].cpus != seen[3].cpus ||
	    !are_close(seen[0].work_s, seen[1].work_s) ||
	    !are_close(seen[2].work_s, seen[3].work_s))
		return;
	before = mean(seen[0].core_s, seen[1].core_s);
	after = mean(seen[2].core_s, seen[3].core_s);
	if (isnan(before) || isnan(after) || change < TELLING * seen[0].cpus) {
		before = mean(seen[0].work_s, seen[1].work_s);
		after = mean(seen[2].work_s, seen[3].work_s);
	}
	record->fixed = FORGET * record->fixed + solve(seen[0].cpus, seen[2].cpus, after / before);
	record->weight = FORGET * record->weight + 1;
}

void mal_scaling_learn(struct mal_scaling *scaling, const struct mal_view *view)
{
	if (scaling->count != view->rank_count)
		*scaling = (struct mal_scaling){.count = view->rank_count};
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		struct mal_scaling_record *record = &scaling->records[rank];

		memmove(record->seen, record->seen + 1,
			(MAL_SCALING_SEEN - 1) * sizeof(record->seen[0]));
		record->seen[MAL_SCALING_SEEN - 1] = look(&view->samples[rank]);
		judge(record);
	}
}

double mal_scaling_fixed(const struct mal_scaling *scaling, unsigned int rank)
{
	const struct mal_scaling_record *record = &scaling->records[rank];
	double fixed = record->weight > 0 ? record->fixed / (record->weight + PRIOR) : 0;

	return fixed < MIN_FIXED ? 0 : fixed;
}

struct mal_load mal_scaling_load(const struct mal_scaling *scaling, unsigned int rank,
				 const struct mal_sample *sample)
{
	double fixed = mal_scaling_fixed(scaling, rank), core_s, alone;

	if (fixed <= 0 || !sample->cpus)
		return (struct mal_load){sample->work_s, sample->serial_s};
	core_s = sample->work_s + (has_own_team(sample) ? sample->barrier_s : 0);
	alone = core_s / (fixed * sample->cpus + 1 - fixed);
	return (struct mal_load){(1 - fixed) * alone, sample->serial_s + fixed * alone};
}
