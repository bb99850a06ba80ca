/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* expressions.c: values, each once. */
#include <stdlib.h>

#include "libmalleable/prover/code/expressions.h"

enum { NODES = 1 << 15 };

/* Value 0 is a symbol of which nothing is known. */
int mal_values_make(struct mal_values *values)
{
	*values = (struct mal_values){.nodes = malloc(NODES * sizeof(*values->nodes)),
				      .table = calloc(2 * NODES, sizeof(*values->table)),
				      .count = 1};
	if (!values->nodes || !values->table)
		return -1;
	values->nodes[0] = (struct mal_node){0};
	return 0;
}

void mal_values_free(struct mal_values *values)
{
	free(values->nodes);
	free(values->table);
}

mal_value mal_intern(struct mal_values *values, const struct mal_node *node)
{
	uint64_t hash = (uint64_t)node->kind * 31 + (uint64_t)node->key * 0x9e3779b97f4a7c15u;
	uint32_t at;

	hash ^= ((uint64_t)node->a << 32 | node->b) * 0xff51afd7ed558ccdu;
	hash ^= ((uint64_t)node->c << 32 | node->flags) * 0xc4ceb9fe1a85ec53u;
	for (at = (uint32_t)(hash >> 40) % (2 * NODES); values->table[at];
	     at = (at + 1) % (2 * NODES)) {
		const struct mal_node *known = &values->nodes[values->table[at]];

		if (known->kind == node->kind && known->key == node->key && known->a == node->a &&
		    known->b == node->b && known->c == node->c && known->flags == node->flags &&
		    known->text == node->text)
			return values->table[at];
	}
	if (values->count == NODES) {
		values->full = 1;
		return 0;
	}
	values->nodes[values->count] = *node;
	values->table[at] = values->count;
	return values->count++;
}

mal_value mal_number(struct mal_values *values, int64_t number)
{
	struct mal_node node = {.kind = MAL_NUMBER, .flags = MAL_EXACT, .size = 1, .key = number};

	return mal_intern(values, &node);
}

mal_value mal_loaded(struct mal_values *values, uint64_t key, uint32_t flags, mal_value address)
{
	struct mal_node node = {.kind = MAL_SYMBOL,
				.flags = flags | MAL_EXACT,
				.size = 1,
				.a = address,
				.key = (int64_t)key};

	return mal_intern(values, &node);
}

mal_value mal_symbol(struct mal_values *values, uint64_t key, uint32_t flags)
{
	return mal_loaded(values, key, flags, 0);
}

mal_value mal_leaf(struct mal_values *values, enum mal_kind kind, int64_t key)
{
	struct mal_node node = {.kind = (uint8_t)kind, .size = 1, .key = key};

	if (kind == MAL_LOW || kind == MAL_HIGH || kind == MAL_SHARE)
		node.class = MAL_ITERATIONS;
	if (kind == MAL_THREAD || kind == MAL_THREADS || kind == MAL_CHOSEN)
		node.class = MAL_IDENTITY;
	if (node.class && kind != MAL_SHARE)
		node.flags = MAL_EXACT;
	return mal_intern(values, &node);
}

mal_value mal_share(struct mal_values *values, int64_t key, uint32_t flags)
{
	struct mal_node node = {
		.kind = MAL_SHARE, .class = MAL_ITERATIONS, .flags = flags, .size = 1, .key = key};

	return mal_intern(values, &node);
}

mal_value mal_tells(struct mal_values *values, const char *text)
{
	struct mal_node node = {.kind = MAL_TELLS, .class = MAL_UNKNOWN, .size = 1, .text = text};

	return mal_intern(values, &node);
}

mal_value mal_on_way(struct mal_values *values, mal_value value)
{
	struct mal_node node = {.kind = MAL_ON_WAY,
				.flags = MAL_EXACT |
					 (mal_flags(values, value) &
					  (MAL_MUST | MAL_ROUNDS | MAL_CHOICE | MAL_HISTORY)),
				.size = 1,
				.key = values->truth,
				.a = value,
				.b = values->compare};

	if (mal_node(values, value)->class == MAL_UNKNOWN)
		return value;
	if (mal_node(values, values->compare)->class == MAL_UNKNOWN)
		return values->compare;
	return mal_intern(values, &node);
}

uint32_t mal_flags(const struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->flags | (node->kind == MAL_STACK ? MAL_NEW : 0) |
	       (node->class && !(node->flags & MAL_CHOICE) ? MAL_VARIES : 0);
}

uint32_t mal_flags_of_either(const struct mal_values *values, mal_value a, mal_value b)
{
	uint32_t left = mal_flags(values, a), right = mal_flags(values, b);

	return (left & right) | ((left | right) & ~(uint32_t)MAL_MUST);
}

bool mal_is_of_bounds(const struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->class == MAL_IDENTITY || (node->kind == MAL_SHARE && node->key);
}

bool mal_is_edge(const struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->class == MAL_CLEAN	 ? node->flags & MAL_PLACE
	       : node->kind == MAL_SHARE ? node->key && node->flags & MAL_PLACE
					 : node->class == MAL_IDENTITY;
}

bool mal_is_off(struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->kind == MAL_SHARE && node->key && !(node->flags & MAL_PLACE) &&
	       (node->flags & MAL_INDEX) != MAL_INDEX &&
	       !(values->inner && node->flags & MAL_QUOTIENT);
}
