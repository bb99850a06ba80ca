/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shapes.c: which expressions of a thread's number choose its iterations. They are evaluated for
 * several threads of several teams, with symbols that have arbitrary values, and compared with
 * gcc's division of iterations.
 */
#include "libmalleable/prover/code/shapes.h"

enum { TEAMS = 6 };
static const int teams[TEAMS] = {1, 2, 3, 4, 5, 7};

/* With odd seeds symbols are negative. */
struct sample {
	int64_t thread, threads;
	unsigned int seed;
	/* Bounds of LLVM's runtime. */
	int64_t low, high;
	/* How often a loop has stepped its values. */
	int64_t steps;
};

/* What shapes an expression may have, by what it changes with. */
enum fit { FIT_LENGTH, FIT_START, FIT_END, FITS };

/* What all threads of all teams have, found as it is asked for. */
struct points {
	const struct mal_values *values;
	mal_value value, n; /* N is what is divided, or 0: then the thread's number is the start */
	unsigned int seed;
	size_t team; /* the next one, and its thread */
	int thread, count, few;
	struct {
		int64_t start, length, now;
	} list[1 + 2 + 3 + 4 + 5 + 7];
};

static int64_t of_symbol(const struct mal_node *node, mal_value value, unsigned int seed)
{
	uint64_t hash = ((uint64_t)node->key ^ (uint64_t)value << 40 ^ (uint64_t)seed << 20) *
			0x9e3779b97f4a7c15u;

	return ((int64_t)((hash >> 33) % 97) + 1) * (seed & 1 ? -1 : 1);
}

bool mal_compare(enum mal_condition condition, int64_t a, int64_t b)
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

/* What KIND makes of A and B, which is 0 where a division has no result. */
static int64_t combine(const struct mal_node *node, int64_t a, int64_t b)
{
	switch (node->kind) {
	case MAL_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
	case MAL_MULTIPLY: return (int64_t)((uint64_t)a * (uint64_t)b);
	case MAL_COMPARE: return mal_compare((enum mal_condition)node->key, a, b);
	default:
		return b == 0 || (a == INT64_MIN && b == -1) ? 0
		       : node->kind == MAL_DIVIDE	     ? a / b
							     : a % b;
	}
}

/* START after as many steps of BY as the sample has. */
static int64_t stepped(int64_t start, int64_t by, const struct sample *sample)
{
	return (int64_t)((uint64_t)start + (uint64_t)sample->steps * (uint64_t)by);
}

static int64_t evaluate(const struct mal_values *values, mal_value value,
			const struct sample *sample)
{
	const struct mal_node *node = mal_node(values, value);

	switch (node->kind) {
	case MAL_NUMBER: return node->key;
	case MAL_THREAD: return sample->thread;
	case MAL_THREADS: return sample->threads;
	case MAL_CHOSEN: return 0;
	case MAL_LOW: return sample->low;
	case MAL_HIGH: return sample->high;
	case MAL_SELECT:
		return evaluate(values, evaluate(values, node->a, sample) ? node->b : node->c,
				sample);
	case MAL_STEP:
		return stepped(evaluate(values, node->a, sample), evaluate(values, node->b, sample),
			       sample);
	case MAL_ADD:
	case MAL_MULTIPLY:
	case MAL_DIVIDE:
	case MAL_REMAINDER:
	case MAL_COMPARE:
		return combine(node, evaluate(values, node->a, sample),
			       evaluate(values, node->b, sample));
	default: return stepped(of_symbol(node, value, sample->seed), node->step, sample);
	}
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

bool mal_is_common(const struct mal_values *values, mal_value value)
{
	int common = mal_node(values, value)->class == MAL_IDENTITY;

	for (unsigned int seed = 0; seed < 64 && common; seed++)
		common = sum(values, value, (unsigned int[]){seed / 8, seed % 8}) ==
			 sum(values, value, (unsigned int[]){seed / 8, 8});
	return common;
}

/* gcc's division of N iterations. */
static void divide(int64_t n, const struct sample *sample, int64_t *start, int64_t *length)
{
	int64_t quotient = n / sample->threads, rest = n % sample->threads;

	*length = quotient + (sample->thread < rest);
	*start = sample->thread < rest ? sample->thread * (quotient + 1)
				       : sample->thread * quotient + rest;
}

/* Whether a sample is on the way that the branch before led to. */
static bool is_on_way(const struct mal_values *values, const struct sample *sample)
{
	return !values->compare ||
	       (evaluate(values, values->compare, sample) != 0) == values->truth;
}

static bool take_point(struct points *points)
{
	struct sample sample = {
		.thread = points->thread, .threads = teams[points->team], .seed = points->seed};
	int64_t start = sample.thread, length = 0, total;

	if (++points->thread == teams[points->team]) {
		points->thread = 0;
		points->team++;
	}
	if (!is_on_way(points->values, &sample))
		return 1;
	total = points->n ? evaluate(points->values, points->n, &sample) : 4;
	if (total < 4)
		return 0;
	if (points->n)
		divide(total, &sample, &start, &length);
	points->list[points->count].start = start;
	points->list[points->count].length = length;
	points->list[points->count].now = evaluate(points->values, points->value, &sample);
	points->count++;
	return 1;
}

static bool has_point(struct points *points, int number)
{
	while (number >= points->count && points->team < TEAMS && !points->few)
		points->few = !take_point(points);
	return number < points->count;
}

/*
 * Whether the value is *FACTOR times what FIT says plus *REST for all threads of all teams; -1
 * where that cannot be seen.
 */
static int fits(struct points *points, enum fit fit, int64_t *factor, int64_t *rest)
{
	int64_t first_x = 0, first = 0;
	int known = 0;

	for (int i = 0; has_point(points, i); i++) {
		int64_t start = points->list[i].start, length = points->list[i].length;
		int64_t x = fit == FIT_LENGTH ? length : fit == FIT_START ? start : start + length;
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

enum { SEEDS = 4 };

/* What is divided by the number of threads in VALUE: only one thing may be; 0: nothing. */
static mal_value dividend(const struct mal_values *values, mal_value value, int *several)
{
	const struct mal_node *node = mal_node(values, value);
	mal_value parts[] = {node->a, node->b, node->c}, found = 0;

	if (node->class == MAL_CLEAN || node->size == 1)
		return 0;
	if ((node->kind == MAL_DIVIDE || node->kind == MAL_REMAINDER) &&
	    mal_node(values, node->b)->kind == MAL_THREADS) {
		if (mal_node(values, node->a)->class != MAL_CLEAN)
			*several = 1;
		return node->a;
	}
	for (size_t i = 0; i < 3; i++) {
		mal_value one = parts[i] ? dividend(values, parts[i], several) : 0;

		if (one && found && one != found)
			*several = 1;
		if (one)
			found = one;
	}
	return found;
}

static enum mal_shape find_shape(const struct mal_values *values, mal_value value,
				 struct mal_node *node)
{
	int several = 0, seen = 0, possible = (1 << FITS) - 1;
	mal_value n = dividend(values, value, &several);
	int64_t rests[FITS] = {0}, factor = 0, rest = 0;
	int bare[FITS] = {1, 1, 1};

	if (!(mal_node(values, value)->flags & MAL_EXACT) || several)
		return MAL_SHAPE_NONE;
	if (!n)
		possible = 1 << FIT_START;
	for (unsigned int seed = 0; seed < 6 * SEEDS && seen < SEEDS && possible; seed++) {
		struct points points = {.values = values, .value = value, .n = n, .seed = seed};
		int saw = 0;

		for (int fit = 0; fit < FITS; fit++) {
			int found;

			if (!(possible >> fit & 1))
				continue;
			found = fits(&points, (enum fit)fit, &factor, &rest);
			if (found == 0)
				possible &= ~(1 << fit);
			if (found <= 0)
				continue;
			saw = 1;
			bare[fit] &= seen == 0 || rests[fit] == rest;
			rests[fit] = rest;
			node->start = fit == FIT_LENGTH ? 0 : factor;
			node->length = fit == FIT_START ? 0 : factor;
			node->rest = rest;
			node->bare = bare[fit];
		}
		seen += saw;
	}
	if (!n)
		return possible && seen ? MAL_SHAPE_CHUNK : MAL_SHAPE_NONE;
	return possible && seen && !(possible & (possible - 1)) ? MAL_SHAPE_BLOCK : MAL_SHAPE_NONE;
}

const struct mal_node *mal_shape_of(struct mal_values *values, mal_value value)
{
	struct mal_node *node;

	/* What is known of a value where one way was taken is kept apart. */
	if (values->compare)
		value = mal_on_way(values, value);
	node = &values->nodes[value];
	if (node->shape == MAL_SHAPE_UNKNOWN)
		node->shape = (uint8_t)find_shape(values,
						  node->kind == MAL_ON_WAY ? node->a : value, node);
	return node;
}

int64_t mal_pace(const struct mal_values *values, mal_value value, int *length)
{
	int several = 0, possible = (1 << FITS) - 1;
	mal_value n = dividend(values, value, &several);
	int64_t paces[FITS] = {0}, factor = 0, rest;

	for (unsigned int seed = 0; n && !several && seed < 2 * SEEDS; seed++) {
		struct points points = {.values = values, .value = value, .n = n, .seed = seed};
		struct sample first = {.threads = 1, .seed = seed}, second = first;
		int64_t step;

		second.steps = 1;
		step = (int64_t)((uint64_t)evaluate(values, value, &second) -
				 (uint64_t)evaluate(values, value, &first));
		if (!step || step == INT64_MIN)
			return 0;
		for (int fit = 0; fit < FITS; fit++) {
			int found;

			if (!(possible >> fit & 1))
				continue;
			found = fits(&points, (enum fit)fit, &factor, &rest);
			if (found < 0)
				continue;
			if (!found || step % factor || (paces[fit] && paces[fit] != step / factor))
				possible &= ~(1 << fit);
			else
				paces[fit] = step / factor;
		}
	}
	*length = possible >> FIT_LENGTH & 1 && paces[FIT_LENGTH];
	if (*length)
		return -paces[FIT_LENGTH];
	if (possible >> FIT_START & 1 && paces[FIT_START] > 0)
		return paces[FIT_START];
	if (possible >> FIT_END & 1 && paces[FIT_END] < 0)
		return paces[FIT_END];
	return n && !several ? MAL_NO_PACE : 0;
}

bool mal_is_share(struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	if (node->class != MAL_IDENTITY)
		return node->class < MAL_IDENTITY;
	return mal_shape_of(values, value)->shape == MAL_SHAPE_BLOCK;
}

bool mal_is_bound(struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value), *compare;
	mal_value b = node->b, c = node->c;

	if (mal_is_share(values, value))
		return 1;
	if (node->kind != MAL_SELECT)
		return 0;
	compare = mal_node(values, node->a);
	if (compare->kind != MAL_COMPARE ||
	    !((compare->a == b && compare->b == c) || (compare->a == c && compare->b == b)))
		return 0;
	if (mal_node(values, b)->class == MAL_CLEAN)
		return mal_shape_of(values, c)->shape >= MAL_SHAPE_BLOCK;
	return mal_node(values, c)->class == MAL_CLEAN &&
	       mal_shape_of(values, b)->shape >= MAL_SHAPE_BLOCK;
}

bool mal_is_chunk_step(struct mal_values *values, mal_value a, mal_value b)
{
	const struct mal_node *step = mal_node(values, b);

	if (!(step->flags & MAL_EXACT) || mal_shape_of(values, a)->shape != MAL_SHAPE_CHUNK)
		return 0;
	for (unsigned int seed = 0; seed < 2 * SEEDS; seed += 2) {
		struct sample first = {.threads = 2, .seed = seed};
		int64_t chunk, begin = evaluate(values, a, &first);

		first.thread = 1;
		chunk = evaluate(values, a, &first) - begin;
		for (size_t i = 0; i < TEAMS; i++)
			for (int thread = 0; thread < teams[i]; thread++) {
				struct sample sample = {
					.thread = thread, .threads = teams[i], .seed = seed};

				if (evaluate(values, b, &sample) != chunk * teams[i] ||
				    evaluate(values, a, &sample) != begin + chunk * thread)
					return 0;
			}
	}
	return 1;
}

int mal_without_share(struct mal_values *values, enum mal_condition condition, mal_value a,
		      mal_value b)
{
	int result = -1;

	if (condition == MAL_OTHER_CONDITION || condition == MAL_NO_CONDITION)
		return -1;
	for (unsigned int seed = 0; seed < 12; seed += 2) {
		int64_t many = ((int64_t)1 << 40) + seed % 3;
		struct sample sample = {.thread = many - 1 - seed / 2 % 2,
					.threads = many,
					.seed = seed,
					.low = -999,
					.high = -1000};
		int one = mal_compare(condition, evaluate(values, a, &sample),
				      evaluate(values, b, &sample));

		if (result >= 0 && one != result)
			return -1;
		result = one;
	}
	return result;
}
