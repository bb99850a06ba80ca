/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * apportion.c: find the numbers of CPUs that make the longest rank shortest.
 *
 * Invariant: no other counts make the longest rank shorter (t/unit/test_model.c:
 * the_longest_rank_is_as_short_as_can_be).
 */
#include "policies/model/apportion.h"

/* Halvings of the interval that holds the shortest possible time. */
#define HALVINGS 40
/*
 * What makes a rank shorter by less than this part is not worth a CPU: one whose work is nearly all
 * serial would take those of all others.
 */
#define WORTH 0.005

double mal_apportion_time(const struct mal_load *load, unsigned int cpus)
{
	return load->serial + load->work / (cpus ? cpus : 1);
}

double mal_apportion_longest(const struct mal_view *view, const struct mal_load *loads,
			     const unsigned int *count)
{
	double max = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		double time = mal_apportion_time(&loads[rank], count[rank]);

		if (view->samples[rank].running && time > max)
			max = time;
	}
	return max;
}

/* Returns the CPUs with which a rank takes at most TIME, but no more than it can use. */
static unsigned int needed(const struct mal_sample *sample, const struct mal_load *load,
			   double time, unsigned int cpus)
{
	double exact = time > load->serial ? load->work / (time - load->serial) : cpus;
	unsigned int count = exact >= cpus ? cpus : (unsigned int)exact;

	/*
	 * Rounding can bring the longest rank's quotient above 1; with serial work alone it is 0 /
	 * 0.
	 */
	if (mal_apportion_time(load, 1) <= time)
		return 1;
	if (count < cpus && count < exact)
		count++;
	if (sample->max && count > sample->max)
		count = sample->max;
	return count;
}

static unsigned long all_needed(const struct mal_view *view, const struct mal_load *loads,
				double time, unsigned int cpus)
{
	unsigned long sum = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running)
			sum += needed(&view->samples[rank], &loads[rank], time, cpus);
	return sum;
}

/*
 * Give a CPU to the longest rank that can use it, and that it makes shorter, or to the longest of
 * all if it helps none. Returns false if none can use it.
 */
static bool give_one(const struct mal_view *view, const struct mal_load *loads, unsigned int *count)
{
	unsigned int best = view->rank_count;
	double max = -1;
	bool helps = false;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];
		double time = mal_apportion_time(&loads[rank], count[rank]);
		bool helped =
			time - mal_apportion_time(&loads[rank], count[rank] + 1) > WORTH * time;

		if (!sample->running || (sample->max && count[rank] >= sample->max) ||
		    (helped == helps ? time <= max : helps))
			continue;
		helps = helped;
		max = time;
		best = rank;
	}
	if (best == view->rank_count)
		return false;
	count[best]++;
	return true;
}

bool mal_apportion(const struct mal_view *view, const struct mal_load *loads, unsigned int cpus,
		   unsigned int *count)
{
	double low = 0, high = 0;
	unsigned long given = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		double alone = mal_apportion_time(&loads[rank], 1);

		high = view->samples[rank].running && alone > high ? alone : high;
	}
	if (all_needed(view, loads, high, cpus) > cpus)
		return false;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (all_needed(view, loads, middle, cpus) <= cpus)
			high = middle;
		else
			low = middle;
	}
	high *= 1 + WORTH;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		count[rank] = view->samples[rank].running
				      ? needed(&view->samples[rank], &loads[rank], high, cpus)
				      : 0;
		given += count[rank];
	}
	for (; given < cpus; given++)
		if (!give_one(view, loads, count))
			return false;
	return true;
}
