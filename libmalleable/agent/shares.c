/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shares.c: dividing the CPUs that several jobs were given among their steps. */
#include "libmalleable/agent/shares.h"

#include <math.h>
#include <string.h>

/* What a claim is due, in CPUs. */
struct due {
	double exact;
	unsigned int whole; /* of these, still to be given */
	unsigned int ahead; /* CPUs that it may have and that are still to be given to somebody */
};

static bool has(const struct mal_claim *claim, unsigned int cpu)
{
	return claim->divided && mal_cpumask_has(&claim->cpus, cpu);
}

/* The number of steps of claim I's job that have CPU. */
static unsigned int steps_at(const struct mal_claim *claims, size_t count, size_t i, unsigned int cpu)
{
	unsigned int steps = 0;

	for (size_t other = 0; other < count; other++)
		steps += claims[other].job == claims[i].job && has(&claims[other], cpu);
	return steps;
}

/* Weights of all jobs at CPU, each once. */
static double weights_at(const struct mal_claim *claims, size_t count, unsigned int cpu)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		if (has(&claims[i], cpu))
			sum += (double)claims[i].weight / steps_at(claims, count, i, cpu);
	return sum;
}

static void find_due(const struct mal_claim *claims, size_t count, struct due *due)
{
	memset(due, 0, count * sizeof(*due));
	for (unsigned int cpu = 0; cpu < MAL_MAX_CPUS; cpu++) {
		double weights = weights_at(claims, count, cpu);

		for (size_t i = 0; weights > 0 && i < count; i++) {
			if (!has(&claims[i], cpu))
				continue;
			due[i].exact += (double)claims[i].weight / steps_at(claims, count, i, cpu) / weights;
			due[i].ahead++;
		}
	}
}

static unsigned int count_cpus(const struct mal_claim *claims, size_t count)
{
	struct mal_cpumask all = {{0}};

	for (size_t i = 0; i < count; i++)
		if (claims[i].divided)
			mal_cpumask_join(&all, &claims[i].cpus);
	return mal_cpumask_count(&all);
}

/* Whole CPUs: what is left by rounding down goes to those who lost most by it. */
static void make_whole(const struct mal_claim *claims, size_t count, struct due *due)
{
	unsigned int left = count_cpus(claims, count);

	for (size_t i = 0; i < count; i++) {
		/* Sums of parts of one may fall short of a whole number by a little. */
		due[i].whole = claims[i].divided ? (unsigned int)floor(due[i].exact + 1e-6) : 0;
		left -= due[i].whole < left ? due[i].whole : left;
	}
	while (left--) {
		size_t best = count;

		for (size_t i = 0; i < count; i++)
			if (claims[i].divided &&
			    (best == count || due[i].exact - due[i].whole > due[best].exact - due[best].whole + 1e-6))
				best = i;
		if (best == count)
			return;
		due[best].whole++;
	}
}

/* Who gets CPU: the one that can least do without it. COUNT: nobody has it. */
static size_t find_taker(const struct mal_claim *claims, size_t count, const struct due *due, unsigned int cpu)
{
	size_t best = count;
	double most = -1;

	for (size_t i = 0; i < count; i++) {
		double need = due[i].ahead ? (double)due[i].whole / due[i].ahead : 0;

		if (has(&claims[i], cpu) && need > most + 1e-9) {
			best = i;
			most = need;
		}
	}
	return best;
}

static void give(struct mal_claim *claims, size_t count, struct due *due, size_t taker, unsigned int cpu)
{
	mal_cpumask_add(&claims[taker].share, cpu);
	due[taker].whole -= due[taker].whole > 0;
	for (size_t i = 0; i < count; i++)
		due[i].ahead -= has(&claims[i], cpu);
}

/* Who had CPU before and is due more; COUNT: nobody. */
static size_t find_holder(const struct mal_claim *claims, const struct mal_cpumask *before, size_t count,
			  const struct due *due, unsigned int cpu)
{
	for (size_t i = 0; i < count; i++)
		if (due[i].whole && has(&claims[i], cpu) && mal_cpumask_has(&before[i], cpu))
			return i;
	return count;
}

static void assign(struct mal_claim *claims, size_t count, struct due *due)
{
	struct mal_cpumask before[MAL_CLAIMS_MOST], given = {{0}};

	for (size_t i = 0; i < count; i++) {
		before[i] = claims[i].share;
		if (claims[i].divided)
			memset(&claims[i].share, 0, sizeof(claims[i].share));
	}
	for (unsigned int cpu = 0; cpu < MAL_MAX_CPUS; cpu++) {
		size_t holder = find_holder(claims, before, count, due, cpu);

		if (holder == count)
			continue;
		give(claims, count, due, holder, cpu);
		mal_cpumask_add(&given, cpu);
	}
	for (unsigned int cpu = 0; cpu < MAL_MAX_CPUS; cpu++) {
		size_t taker = mal_cpumask_has(&given, cpu) ? count : find_taker(claims, count, due, cpu);

		if (taker < count)
			give(claims, count, due, taker, cpu);
	}
}

/* The claim that falls short of its least by most; COUNT: none does. */
static size_t find_short(const struct mal_claim *claims, size_t count)
{
	size_t found = count;
	unsigned int most = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned int cpus = mal_cpumask_count(&claims[i].share);

		if (claims[i].divided && cpus < claims[i].least && claims[i].least - cpus > most) {
			found = i;
			most = claims[i].least - cpus;
		}
	}
	return found;
}

void mal_shares_divide(struct mal_claim *claims, size_t count)
{
	struct mal_cpumask before[MAL_CLAIMS_MOST];
	struct due due[MAL_CLAIMS_MOST];
	size_t too_short;

	if (count > MAL_CLAIMS_MOST)
		count = MAL_CLAIMS_MOST;
	for (size_t i = 0; i < count; i++) {
		before[i] = claims[i].share;
		claims[i].divided = claims[i].weight > 0;
	}
	for (;;) {
		find_due(claims, count, due);
		make_whole(claims, count, due);
		assign(claims, count, due);
		too_short = find_short(claims, count);
		if (too_short == count)
			break;
		claims[too_short].divided = false;
		for (size_t i = 0; i < count; i++)
			claims[i].share = before[i];
	}
	for (size_t i = 0; i < count; i++)
		if (!claims[i].divided)
			claims[i].share = claims[i].cpus;
}
