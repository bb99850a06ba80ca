/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shares.c: divide CPUs that several jobs have among their steps. */
#include "libmalleable/agent/shares.h"

#include <math.h>
#include <string.h>

/* What a claim is due, in CPUs. */
struct due {
	double exact;
	unsigned int whole; /* of these, still to be assigned */
	unsigned int ahead; /* CPUs that it may have and that are not assigned yet */
};

static bool has(const struct mal_claim *claim, unsigned int cpu)
{
	return claim->divided && mal_cpumask_has(&claim->cpus, cpu);
}

/* For each claim, the first claim of its job, which stands for the job. */
static void find_jobs(const struct mal_claim *claims, size_t count, size_t *jobs)
{
	for (size_t i = 0; i < count; i++)
		for (jobs[i] = 0; claims[jobs[i]].job != claims[i].job;)
			jobs[i]++;
}

/* Divide CPU among its claims: by the weights of jobs, and equally among the steps of a job. */
static void divide_cpu(const struct mal_claim *claims, size_t count, const size_t *jobs,
		       unsigned int cpu, struct due *due)
{
	unsigned int steps[MAL_CLAIMS_MAX] = {0};
	size_t sharers[MAL_CLAIMS_MAX], sharer_count = 0;
	double weights = 0;

	for (size_t i = 0; i < count; i++)
		if (has(&claims[i], cpu)) {
			sharers[sharer_count++] = i;
			steps[jobs[i]]++;
		}
	for (size_t n = 0; n < sharer_count; n++)
		weights += (double)claims[sharers[n]].weight / steps[jobs[sharers[n]]];
	for (size_t n = 0; n < sharer_count; n++) {
		size_t i = sharers[n];

		due[i].exact += (double)claims[i].weight / steps[jobs[i]] / weights;
		due[i].ahead++;
	}
}

static struct mal_cpumask join_all(const struct mal_claim *claims, size_t count)
{
	struct mal_cpumask all = {{0}};

	for (size_t i = 0; i < count; i++)
		if (claims[i].divided)
			mal_cpumask_union(&all, &claims[i].cpus);
	return all;
}

static void find_due(const struct mal_claim *claims, size_t count, const size_t *jobs,
		     struct due *due)
{
	struct mal_cpumask all = join_all(claims, count);

	memset(due, 0, count * sizeof(*due));
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&all, cpu)) < MAL_MAX_CPUS; cpu++)
		divide_cpu(claims, count, jobs, cpu, due);
}

/* Round down to whole CPUs, and give the rest to the claims that lost most by it. */
static void make_whole(const struct mal_claim *claims, size_t count, struct due *due)
{
	struct mal_cpumask all = join_all(claims, count);
	unsigned int left = mal_cpumask_count(&all);

	for (size_t i = 0; i < count; i++) {
		/* Sums of fractions may fall just short of a whole number. */
		due[i].whole = claims[i].divided ? (unsigned int)floor(due[i].exact + 1e-6) : 0;
		left -= due[i].whole < left ? due[i].whole : left;
	}
	while (left--) {
		size_t best = count;

		for (size_t i = 0; i < count; i++)
			if (claims[i].divided &&
			    (best == count || due[i].exact - due[i].whole >
						      due[best].exact - due[best].whole + 1e-6))
				best = i;
		if (best == count)
			return;
		due[best].whole++;
	}
}

/* The claim that depends most on getting CPU; COUNT: none has it. */
static size_t find_taker(const struct mal_claim *claims, size_t count, const struct due *due,
			 unsigned int cpu)
{
	size_t best = count;
	double max = -1;

	for (size_t i = 0; i < count; i++) {
		double need = due[i].ahead ? (double)due[i].whole / due[i].ahead : 0;

		if (has(&claims[i], cpu) && need > max + 1e-9) {
			best = i;
			max = need;
		}
	}
	return best;
}

static void give(struct mal_claim *claims, size_t count, struct due *due, size_t taker,
		 unsigned int cpu)
{
	mal_cpumask_add(&claims[taker].share, cpu);
	due[taker].whole -= due[taker].whole > 0;
	for (size_t i = 0; i < count; i++)
		due[i].ahead -= has(&claims[i], cpu);
}

/* The claim that has CPU now and is due more; COUNT: none. */
static size_t find_holder(const struct mal_claim *claims, const struct mal_cpumask *before,
			  size_t count, const struct due *due, unsigned int cpu)
{
	for (size_t i = 0; i < count; i++)
		if (due[i].whole && has(&claims[i], cpu) && mal_cpumask_has(&before[i], cpu))
			return i;
	return count;
}

static void assign(struct mal_claim *claims, size_t count, struct due *due)
{
	struct mal_cpumask before[MAL_CLAIMS_MAX], all = join_all(claims, count), given = {{0}};

	for (size_t i = 0; i < count; i++) {
		before[i] = claims[i].share;
		if (claims[i].divided)
			memset(&claims[i].share, 0, sizeof(claims[i].share));
	}
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&all, cpu)) < MAL_MAX_CPUS; cpu++) {
		size_t holder = find_holder(claims, before, count, due, cpu);

		if (holder == count)
			continue;
		give(claims, count, due, holder, cpu);
		mal_cpumask_add(&given, cpu);
	}
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&all, cpu)) < MAL_MAX_CPUS; cpu++) {
		size_t taker =
			mal_cpumask_has(&given, cpu) ? count : find_taker(claims, count, due, cpu);

		if (taker < count)
			give(claims, count, due, taker, cpu);
	}
}

/* The claim that is furthest below its minimum; COUNT: none is. */
static size_t find_short(const struct mal_claim *claims, size_t count)
{
	size_t found = count;
	unsigned int max = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned int cpus = mal_cpumask_count(&claims[i].share);

		if (claims[i].divided && cpus < claims[i].min && claims[i].min - cpus > max) {
			found = i;
			max = claims[i].min - cpus;
		}
	}
	return found;
}

void mal_shares_divide(struct mal_claim *claims, size_t count)
{
	struct mal_cpumask before[MAL_CLAIMS_MAX];
	struct due due[MAL_CLAIMS_MAX];
	size_t jobs[MAL_CLAIMS_MAX], too_short;

	if (count > MAL_CLAIMS_MAX)
		count = MAL_CLAIMS_MAX;
	for (size_t i = 0; i < count; i++) {
		before[i] = claims[i].share;
		claims[i].divided = claims[i].weight > 0;
	}
	find_jobs(claims, count, jobs);
	for (;;) {
		find_due(claims, count, jobs, due);
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
