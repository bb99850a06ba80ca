/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* samples.c: what expressions are for several threads of several teams. */
#include "libmalleable/inspect/samples.h"

const int mal_teams[MAL_TEAMS] = {1, 2, 3, 4, 5, 7};

static int64_t of_symbol(const struct mal_node *node, mal_value value, unsigned int seed)
{
	uint64_t hash = ((uint64_t)node->key ^ (uint64_t)value << 40 ^ (uint64_t)seed << 20) *
			0x9e3779b97f4a7c15u;

	return ((int64_t)((hash >> 33) % 97) + 1) * (seed & 1 ? -1 : 1);
}

int mal_compare(enum mal_condition condition, int64_t a, int64_t b)
{
	switch (condition) {
	case MAL_EQUAL: return a == b;
	case MAL_NOT_EQUAL: return a != b;
	case MAL_LESS: return a < b;
	case MAL_NOT_LESS: return a >= b;
	case MAL_LESS_EQUAL: return a <= b;
	case MAL_MORE: return a > b;
	case MAL_BELOW: return (uint64_t)a < (uint64_t)b;
	case MAL_NOT_BELOW: return (uint64_t)a >= (uint64_t)b;
	case MAL_BELOW_EQUAL: return (uint64_t)a <= (uint64_t)b;
	case MAL_ABOVE: return (uint64_t)a > (uint64_t)b;
	case MAL_NEGATIVE: return (int64_t)((uint64_t)a - (uint64_t)b) < 0;
	case MAL_NOT_NEGATIVE: return (int64_t)((uint64_t)a - (uint64_t)b) >= 0;
	default: return 0;
	}
}

int64_t mal_evaluate(const struct mal_values *values, mal_value value,
		     const struct mal_sample *sample)
{
	const struct mal_node *node = mal_node(values, value);
	uint64_t a, b;

	switch (node->kind) {
	case MAL_NUMBER: return node->key;
	case MAL_THREAD: return sample->thread;
	case MAL_THREADS: return sample->threads;
	case MAL_CHOSEN: return 0;
	case MAL_LOW: return sample->low;
	case MAL_HIGH: return sample->high;
	case MAL_SELECT:
		return mal_evaluate(
			values, mal_evaluate(values, node->a, sample) ? node->b : node->c, sample);
	case MAL_STEP:
		return (int64_t)((uint64_t)mal_evaluate(values, node->a, sample) +
				 (uint64_t)sample->steps *
					 (uint64_t)mal_evaluate(values, node->b, sample));
	case MAL_ADD:
	case MAL_MULTIPLY:
	case MAL_DIVIDE:
	case MAL_REMAINDER:
	case MAL_COMPARE: break;
	default:
		return (int64_t)((uint64_t)of_symbol(node, value, sample->seed) +
				 (uint64_t)sample->steps * (uint64_t)node->step);
	}
	a = (uint64_t)mal_evaluate(values, node->a, sample);
	b = (uint64_t)mal_evaluate(values, node->b, sample);
	switch (node->kind) {
	case MAL_ADD: return (int64_t)(a + b);
	case MAL_MULTIPLY: return (int64_t)(a * b);
	case MAL_COMPARE: return mal_compare((enum mal_condition)node->key, (int64_t)a, (int64_t)b);
	default: break;
	}
	if (b == 0 || ((int64_t)a == INT64_MIN && (int64_t)b == -1))
		return 0;
	return node->kind == MAL_DIVIDE ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b;
}

/* A sum of products of what has values by one of the seeds, by whether it differs by thread. */
static uint64_t sum(const struct mal_values *values, mal_value value, const unsigned int *seeds)
{
	const struct mal_node *node = mal_node(values, value);

	switch (node->kind) {
	case MAL_NUMBER: return (uint64_t)node->key;
	case MAL_ADD: return sum(values, node->a, seeds) + sum(values, node->b, seeds);
	case MAL_MULTIPLY: return sum(values, node->a, seeds) * sum(values, node->b, seeds);
	default: return (uint64_t)of_symbol(node, value, seeds[node->class != MAL_CLEAN]);
	}
}

int mal_is_common(const struct mal_values *values, mal_value value)
{
	int common = mal_node(values, value)->class == MAL_IDENTITY;

	for (unsigned int seed = 0; seed < 64 && common; seed++)
		common = sum(values, value, (unsigned int[]){seed / 8, seed % 8}) ==
			 sum(values, value, (unsigned int[]){seed / 8, 8});
	return common;
}

/* gcc's division of N iterations. */
static void divide(int64_t n, const struct mal_sample *sample, int64_t *start, int64_t *length)
{
	int64_t quotient = n / sample->threads, rest = n % sample->threads;

	*length = quotient + (sample->thread < rest);
	*start = sample->thread < rest ? sample->thread * (quotient + 1)
				       : sample->thread * quotient + rest;
}

/* Whether a sample is on the way that the branch before led to. */
static int is_on_way(const struct mal_values *values, const struct mal_sample *sample)
{
	return !values->compare ||
	       (mal_evaluate(values, values->compare, sample) != 0) == values->truth;
}

static int take_point(struct mal_points *points)
{
	struct mal_sample sample = {
		.thread = points->thread, .threads = mal_teams[points->team], .seed = points->seed};
	int64_t start = sample.thread, length = 0, total;

	if (++points->thread == mal_teams[points->team]) {
		points->thread = 0;
		points->team++;
	}
	if (!is_on_way(points->values, &sample))
		return 1;
	total = points->n ? mal_evaluate(points->values, points->n, &sample) : 4;
	if (total < 4)
		return 0;
	if (points->n)
		divide(total, &sample, &start, &length);
	points->list[points->count].start = start;
	points->list[points->count].length = length;
	points->list[points->count].now = mal_evaluate(points->values, points->value, &sample);
	points->count++;
	return 1;
}

static int has_point(struct mal_points *points, int number)
{
	while (number >= points->count && points->team < MAL_TEAMS && !points->few)
		points->few = !take_point(points);
	return number < points->count;
}

int mal_fits(struct mal_points *points, enum mal_fit fit, int64_t *factor, int64_t *rest)
{
	int64_t first_x = 0, first = 0;
	int known = 0;

	for (int i = 0; has_point(points, i); i++) {
		int64_t start = points->list[i].start, length = points->list[i].length;
		int64_t x = fit == MAL_FIT_LENGTH  ? length
			    : fit == MAL_FIT_START ? start
						   : start + length;
		int64_t now = points->list[i].now;

		if (!i) {
			first_x = x;
			first = now;
		} else if (!known && x != first_x) {
			if ((now - first) % (x - first_x))
				return 0;
			*factor = (now - first) / (x - first_x);
			*rest = first - *factor * first_x;
			known = 1;
		}
		if (!known && now != first)
			return 0;
		if (known && now != *rest + *factor * x)
			return 0;
	}
	return !known || points->few ? -1 : *factor != 0;
}
