/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* operations.c: what operations make of expressions. */
#include "libmalleable/prover/code/operations.h"

#include "libmalleable/prover/code/shapes.h"

/* Longer ones are not followed. */
enum { SIZE = 600 };

static uint64_t key_of(const struct mal_node *node)
{
	return ((uint64_t)node->kind << 56 ^ (uint64_t)node->key * 0x9e3779b97f4a7c15u ^
		(uint64_t)node->a << 24 ^ node->b) |
	       (uint64_t)1 << 63;
}

bool mal_is_place(struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->class == MAL_IDENTITY
		       ? mal_is_share(values, value) ? mal_shape_of(values, value)->start != 0
						     : mal_is_bound(values, value)
		       : node->class == MAL_ITERATIONS &&
				 (node->kind != MAL_SHARE || !node->key || node->flags & MAL_PLACE);
}

static bool is_end(const struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->kind == MAL_HIGH ||
	       (node->kind == MAL_STEP && mal_node(values, node->a)->kind == MAL_HIGH);
}

/* FLAGS of what an iteration may choose: it differs where both do that it is chosen from. */
static uint32_t flags_of_choice(const struct mal_values *values, uint32_t flags, mal_value a,
				mal_value b)
{
	/* Where a thread's iterations end: the least of that and of all iterations. */
	int bound = is_end(values, a) || is_end(values, b);
	uint32_t either = mal_flags_of_either(values, a, b) & MAL_MUST;

	return (flags & ~(uint32_t)MAL_MUST) | either |
	       (bound || either & MAL_VARIES ? 0 : MAL_CHOICE);
}

/* Where a loop over whole vectors ended is where the rest of the iterations begins. */
static bool begins_rest(struct mal_values *values, mal_value a, mal_value b)
{
	return mal_is_rounded(values, a) && mal_is_place(values, b);
}

/* FLAGS of what is made of several values: it differs where one of them does. */
static uint32_t settle(uint32_t flags, int class)
{
	return (flags & ~(uint32_t)MAL_CHOICE) | (class && !(flags & MAL_VARIES) ? MAL_CHOICE : 0);
}

static mal_value with_flags(struct mal_values *values, mal_value value, uint32_t flags)
{
	struct mal_node node = *mal_node(values, value);

	/* That follows from its class. */
	if (node.class && !(flags & MAL_CHOICE))
		flags &= ~(uint32_t)MAL_VARIES;
	if (node.class == MAL_UNKNOWN || node.flags == flags || !value)
		return value;
	node.flags = flags;
	return mal_intern(values, &node);
}

mal_value mal_fold(struct mal_values *values, mal_value value, uint32_t flag)
{
	uint32_t flags = mal_flags(values, value);
	int class = mal_node(values, value)->class;

	if (!(flags & MAL_MUST) || flags & MAL_NEW || class >= MAL_IDENTITY)
		return value;
	flags |= flag;
	return with_flags(values, value, (flags & ~(uint32_t)MAL_MUST) | (class ? MAL_CHOICE : 0));
}

/* The flags of SUM and what is taken from it, LESS: what is in both may be gone. */
static uint32_t difference(uint32_t sum, uint32_t less)
{
	uint32_t both = sum & less & MAL_MUST & ~(uint32_t)MAL_NEW;

	/* I - N (I / N) is what the division leaves. */
	if (less & (MAL_FOLDED | MAL_LEFT) && sum & MAL_MUST && !(less & MAL_MUST))
		return ((sum | less) & ~(uint32_t)(MAL_MUST | MAL_FOLDED | MAL_LEFT)) |
		       (less & MAL_FOLDED ? MAL_LEFT : MAL_FOLDED);
	/* 8 I - I is 7 I. */
	if (sum & MAL_SCALED && !(less & MAL_TAKES_SCALED))
		return (sum | less) & ~(uint32_t)MAL_MINUS;
	/* What is left of a division is no part of its quotient. */
	return (sum & ~less & MAL_REST) ? sum | less : (sum | less) & ~both;
}

/* RESULT, A plus B or A times B: what is added and taken away again does not make it differ. */
static mal_value cancel(struct mal_values *values, enum mal_kind kind, mal_value result,
			mal_value a, mal_value b)
{
	static const uint32_t signs =
		MAL_MINUS | MAL_TAKES_SCALED | MAL_SCALED | MAL_FOLDED | MAL_LEFT;
	uint32_t left = mal_flags(values, a), right = mal_flags(values, b), sum = left | right;
	int64_t number = 0;

	if (kind == MAL_MULTIPLY) {
		if (!mal_is_number(values, a, &number) && !mal_is_number(values, b, &number))
			number = 2;
		sum |= number < 0 ? MAL_MINUS : 0;
		if (number < -1 || number > 1)
			sum |= MAL_SCALED | (sum & MAL_MINUS ? MAL_TAKES_SCALED : 0);
	} else {
		if (!((left & MAL_MUST ? left : signs) & (right & MAL_MUST ? right : signs) &
		      MAL_SCALED))
			sum &= ~(uint32_t)MAL_SCALED;
		if ((left ^ right) & MAL_MINUS)
			sum = difference(left & MAL_MINUS ? right : left,
					 left & MAL_MINUS ? left : right) &
			      (sum | ~(uint32_t)MAL_SCALED);
	}
	/* Both parts of a division tell iterations apart. */
	if (sum & MAL_FOLDED && sum & MAL_LEFT)
		sum = (sum | MAL_VARIES) & ~(uint32_t)(MAL_FOLDED | MAL_LEFT);
	sum = settle(sum, mal_node(values, result)->class);
	return with_flags(values, result,
			  (mal_node(values, result)->flags & ~(signs | MAL_MUST | MAL_CHOICE)) |
				  (sum & (signs | MAL_MUST | MAL_CHOICE)));
}

static mal_value make(struct mal_values *values, enum mal_kind kind, int64_t key, mal_value a,
		      mal_value b, mal_value c)
{
	static const uint32_t kept = MAL_CARRIED | MAL_ITEM | MAL_OWN | MAL_COUNTED | MAL_PLACE |
				     MAL_ROUNDS | MAL_CHOICE | MAL_RECURS | MAL_MUST | MAL_FOLDED |
				     MAL_LEFT | MAL_TURN | MAL_HISTORY;
	const mal_value parts[] = {a, b, c};
	const size_t count = kind == MAL_SELECT ? 3 : 2;
	struct mal_node node = {.kind = (uint8_t)kind,
				.flags = MAL_EXACT,
				.size = 1,
				.key = key,
				.a = a,
				.b = b,
				.c = c};
	uint32_t all = MAL_EXACT;

	for (size_t i = 0; i < count; i++) {
		const struct mal_node *part = mal_node(values, parts[i]);

		if (part->class == MAL_UNKNOWN)
			return parts[i];
		if (kind == MAL_ADD && begins_rest(values, parts[i], parts[1 - i]))
			return mal_share(values,
					 values->inner || mal_is_of_bounds(values, parts[1 - i])
						 ? (int64_t)key_of(&node)
						 : 0,
					 MAL_PLACE);
		if (part->kind == MAL_SHARE || part->kind == MAL_STACK || part->kind == MAL_LOST ||
		    part->kind == MAL_SLOT_VALUE || parts[i] == 0)
			return kind == MAL_MULTIPLY && mal_is_rounded(values, a) &&
					       mal_node(values, b)->class == MAL_CLEAN
				       ? a
			       : kind == MAL_ADD || kind == MAL_MULTIPLY
				       ? mal_spread(values, parts, 2, key_of(&node))
				       : mal_blur(values, parts, count, key_of(&node));
		if (part->class > node.class)
			node.class = part->class;
		node.size = (uint16_t)(node.size + part->size);
		node.flags &= part->flags | ~(uint32_t)MAL_EXACT;
		all |= mal_flags(values, parts[i]);
		node.flags |= part->flags & kept;
	}
	if (node.class)
		node.flags = settle(all, node.class) & (node.flags | MAL_CHOICE);
	/* By a thread's number only bounds are chosen. */
	if (kind == MAL_SELECT && node.class != MAL_IDENTITY)
		node.flags = flags_of_choice(values, node.flags, b, c);
	/* A count of iterations, added to the first one, is an iteration. */
	if (kind == MAL_ADD && node.class)
		node.flags &= ~(uint32_t)MAL_COUNTED;
	if (node.size > SIZE)
		return mal_blur(values, parts, count, key_of(&node));
	/* The next one of a chunk's steps. */
	if (kind == MAL_ADD &&
	    ((mal_node(values, a)->kind == MAL_STEP && mal_node(values, a)->b == b) ||
	     (mal_node(values, b)->kind == MAL_STEP && mal_node(values, b)->b == a)))
		node.class = MAL_ITERATIONS;
	if (kind == MAL_STEP) {
		node.class = MAL_ITERATIONS;
		node.flags &= ~(uint32_t)MAL_EXACT;
	}
	return mal_intern(values, &node);
}

mal_value mal_make(struct mal_values *values, enum mal_kind kind, int64_t key, mal_value a,
		   mal_value b, mal_value c)
{
	mal_value result = make(values, kind, key, a, b, c);

	return kind == MAL_ADD || kind == MAL_MULTIPLY ? cancel(values, kind, result, a, b)
						       : result;
}

mal_value mal_plus(struct mal_values *values, mal_value a, mal_value b)
{
	const struct mal_node *left = mal_node(values, a), *right = mal_node(values, b);

	if (left->kind == MAL_NUMBER && right->kind != MAL_NUMBER)
		return mal_plus(values, b, a);
	if (right->kind == MAL_NUMBER) {
		if (right->key == 0)
			return a;
		if (left->kind == MAL_NUMBER)
			return mal_number(values,
					  (int64_t)((uint64_t)left->key + (uint64_t)right->key));
		if (left->kind == MAL_STACK)
			return mal_leaf(values, MAL_STACK,
					(int64_t)((uint64_t)left->key + (uint64_t)right->key));
		if (left->kind == MAL_ADD && mal_node(values, left->b)->kind == MAL_NUMBER)
			return mal_plus(values, left->a, mal_plus(values, left->b, b));
	} else if (left->kind == MAL_ADD && mal_node(values, left->b)->kind == MAL_NUMBER) {
		/* Numbers last. */
		return mal_plus(values, mal_plus(values, left->a, b), left->b);
	} else if (right->kind == MAL_ADD && mal_node(values, right->b)->kind == MAL_NUMBER) {
		return mal_plus(values, mal_plus(values, a, right->a), right->b);
	} else if (a > b) {
		return mal_make(values, MAL_ADD, 0, b, a, 0);
	}
	return mal_make(values, MAL_ADD, 0, a, b, 0);
}

mal_value mal_minus(struct mal_values *values, mal_value a, mal_value b)
{
	int64_t number;

	if (a == b && a && mal_node(values, a)->class == MAL_CLEAN &&
	    mal_node(values, a)->kind != MAL_LOST)
		return mal_number(values, 0);
	if (mal_is_number(values, b, &number))
		return mal_plus(values, a, mal_number(values, (int64_t)(0 - (uint64_t)number)));
	return mal_plus(values, a, mal_make(values, MAL_MULTIPLY, 0, b, mal_number(values, -1), 0));
}

mal_value mal_times(struct mal_values *values, mal_value left, mal_value right)
{
	int64_t a, b;
	int known = mal_is_number(values, left, &a), other = mal_is_number(values, right, &b);

	if (known && other)
		return mal_number(values, (int64_t)((uint64_t)a * (uint64_t)b));
	if ((known && a == 0) || (other && b == 0))
		return mal_number(values, 0);
	if ((known && a == 1) || (other && b == 1))
		return known && a == 1 ? right : left;
	return mal_make(values, MAL_MULTIPLY, 0, left, right, 0);
}

/* What is made of indices of one division, and of nothing else that differs; or 0. */
static mal_value indices(struct mal_values *values, const mal_value *some, size_t count)
{
	const struct mal_node *first = NULL;
	uint32_t flags = 0;

	for (size_t i = 0; i < count; i++) {
		const struct mal_node *node = mal_node(values, some[i]);

		flags |= node->flags & MAL_HISTORY;
		if (node->class == MAL_CLEAN)
			continue;
		if (node->kind != MAL_SHARE || !(node->flags & MAL_INDEX) ||
		    (first && first->key != node->key))
			return 0;
		first = node;
		flags |= node->flags;
	}
	return first ? mal_share(values, first->key, flags) : 0;
}

mal_value mal_blur(struct mal_values *values, const mal_value *some, size_t count, uint64_t key)
{
	enum mal_class worst = MAL_CLEAN;
	uint32_t flags = 0;
	int of_bounds = 0;
	mal_value index;

	for (size_t i = 0; i < count; i++) {
		const struct mal_node *node = mal_node(values, some[i]);

		if (node->class == MAL_UNKNOWN)
			return some[i];
		if (node->class == MAL_IDENTITY && !mal_is_share(values, some[i]))
			return mal_tells(values,
					 node->kind == MAL_CHOSEN
						 ? "what one thread alone was chosen for"
						 : "a thread's number or how many there are");
		if (node->class > worst)
			worst = node->class;
		flags |= mal_flags(values, some[i]);
		of_bounds |= mal_is_of_bounds(values, some[i]);
	}
	index = indices(values, some, count);
	if (index)
		return index;
	if (worst != MAL_CLEAN)
		return mal_share(values, of_bounds ? (int64_t)key : 0,
				 settle(flags, worst) &
					 (MAL_CHOICE | MAL_MINUS | MAL_TAKES_SCALED | MAL_ROUNDS |
					  MAL_FOLDED | MAL_LEFT | MAL_HISTORY));
	return mal_symbol(values, key, flags);
}

mal_value mal_spread(struct mal_values *values, const mal_value *some, size_t count, uint64_t key)
{
	mal_value result = mal_blur(values, some, count, key);
	int places = 0, kinds = 0;

	for (size_t i = 0; i < count; i++) {
		places |= mal_is_place(values, some[i]);
		if (mal_node(values, some[i])->class != MAL_CLEAN)
			kinds |= mal_node(values, some[i])->kind == MAL_SHARE ? 1 : 2;
		if (mal_node(values, some[i])->class != MAL_CLEAN && !mal_is_place(values, some[i]))
			return result;
	}
	/* The distance to a bound is no place. */
	return places && kinds != 3 && mal_is_of_bounds(values, result)
		       ? mal_share(values, mal_node(values, result)->key,
				   MAL_PLACE | (mal_node(values, result)->flags & MAL_HISTORY))
		       : result;
}

mal_value mal_choice(struct mal_values *values, mal_value result, mal_value a, mal_value b)
{
	return with_flags(values, result,
			  flags_of_choice(values, mal_node(values, result)->flags, a, b));
}

bool mal_difference(struct mal_values *values, mal_value a, mal_value b, mal_value *step)
{
	const struct mal_node *left = mal_node(values, a), *right = mal_node(values, b);
	mal_value base_a = a, base_b = b;
	int64_t number = 0, one;

	if (left->kind == MAL_ADD && mal_is_number(values, left->b, &one)) {
		number -= one;
		base_a = left->a;
	}
	if (right->kind == MAL_ADD && mal_is_number(values, right->b, &one)) {
		number += one;
		base_b = right->a;
	}
	right = mal_node(values, base_b);
	if (base_a == base_b)
		*step = mal_number(values, number);
	else if (right->kind == MAL_ADD && (right->a == base_a || right->b == base_a))
		*step = mal_plus(values, right->a == base_a ? right->b : right->a,
				 mal_number(values, number));
	else
		return 0;
	return 1;
}
