/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shapes.c: which expressions of a thread's number choose its iterations. They are evaluated for
 * several threads of several teams, and compared with gcc's division.
 */
#include "libmalleable/inspect/shapes.h"

#include "libmalleable/inspect/samples.h"

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
	int several = 0, seen = 0, possible = (1 << MAL_FITS) - 1;
	mal_value n = dividend(values, value, &several);
	int64_t rests[MAL_FITS] = {0}, factor = 0, rest = 0;
	int bare[MAL_FITS] = {1, 1, 1};

	if (!(mal_node(values, value)->flags & MAL_EXACT) || several)
		return MAL_SHAPE_NONE;
	if (!n)
		possible = 1 << MAL_FIT_START;
	for (unsigned int seed = 0; seed < 6 * SEEDS && seen < SEEDS && possible; seed++) {
		struct mal_points points = {.values = values, .value = value, .n = n, .seed = seed};
		int saw = 0;

		for (int fit = 0; fit < MAL_FITS; fit++) {
			int found;

			if (!(possible >> fit & 1))
				continue;
			found = mal_fits(&points, (enum mal_fit)fit, &factor, &rest);
			if (found == 0)
				possible &= ~(1 << fit);
			if (found <= 0)
				continue;
			saw = 1;
			bare[fit] &= seen == 0 || rests[fit] == rest;
			rests[fit] = rest;
			node->start = fit == MAL_FIT_LENGTH ? 0 : factor;
			node->length = fit == MAL_FIT_START ? 0 : factor;
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
	int several = 0, possible = (1 << MAL_FITS) - 1;
	mal_value n = dividend(values, value, &several);
	int64_t paces[MAL_FITS] = {0}, factor = 0, rest;

	for (unsigned int seed = 0; n && !several && seed < 2 * SEEDS; seed++) {
		struct mal_points points = {.values = values, .value = value, .n = n, .seed = seed};
		struct mal_sample first = {.threads = 1, .seed = seed}, second = first;
		int64_t step;

		second.steps = 1;
		step = (int64_t)((uint64_t)mal_evaluate(values, value, &second) -
				 (uint64_t)mal_evaluate(values, value, &first));
		if (!step || step == INT64_MIN)
			return 0;
		for (int fit = 0; fit < MAL_FITS; fit++) {
			int found;

			if (!(possible >> fit & 1))
				continue;
			found = mal_fits(&points, (enum mal_fit)fit, &factor, &rest);
			if (found < 0)
				continue;
			if (!found || step % factor || (paces[fit] && paces[fit] != step / factor))
				possible &= ~(1 << fit);
			else
				paces[fit] = step / factor;
		}
	}
	*length = possible >> MAL_FIT_LENGTH & 1 && paces[MAL_FIT_LENGTH];
	if (*length)
		return -paces[MAL_FIT_LENGTH];
	if (possible >> MAL_FIT_START & 1 && paces[MAL_FIT_START] > 0)
		return paces[MAL_FIT_START];
	if (possible >> MAL_FIT_END & 1 && paces[MAL_FIT_END] < 0)
		return paces[MAL_FIT_END];
	return n && !several ? MAL_NO_PACE : 0;
}

int mal_is_share(struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	if (node->class != MAL_IDENTITY)
		return node->class < MAL_IDENTITY;
	return mal_shape_of(values, value)->shape == MAL_SHAPE_BLOCK;
}

int mal_is_bound(struct mal_values *values, mal_value value)
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
	if (mal_node(values, b)->class != MAL_CLEAN) {
		mal_value other = b;

		b = c;
		c = other;
	}
	return mal_node(values, b)->class == MAL_CLEAN &&
	       mal_shape_of(values, c)->shape >= MAL_SHAPE_BLOCK;
}

int mal_is_chunk_step(struct mal_values *values, mal_value a, mal_value b)
{
	const struct mal_node *step = mal_node(values, b);

	if (!(step->flags & MAL_EXACT) || mal_shape_of(values, a)->shape != MAL_SHAPE_CHUNK)
		return 0;
	for (unsigned int seed = 0; seed < 2 * SEEDS; seed += 2) {
		struct mal_sample first = {.threads = 2, .seed = seed};
		int64_t chunk, begin = mal_evaluate(values, a, &first);

		first.thread = 1;
		chunk = mal_evaluate(values, a, &first) - begin;
		for (size_t i = 0; i < MAL_TEAMS; i++)
			for (int thread = 0; thread < mal_teams[i]; thread++) {
				struct mal_sample sample = {
					.thread = thread, .threads = mal_teams[i], .seed = seed};

				if (mal_evaluate(values, b, &sample) != chunk * mal_teams[i] ||
				    mal_evaluate(values, a, &sample) != begin + chunk * thread)
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
		struct mal_sample sample = {.thread = many - 1 - seed / 2 % 2,
					    .threads = many,
					    .seed = seed,
					    .low = -999,
					    .high = -1000};
		int one = mal_compare(condition, mal_evaluate(values, a, &sample),
				      mal_evaluate(values, b, &sample));

		if (result >= 0 && one != result)
			return -1;
		result = one;
	}
	return result;
}
