/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* branches.c: what a branch decides by, and which way a thread without iterations takes. */
#include "libmalleable/prover/code/analysis.h"

enum mal_condition mal_swapped(enum mal_condition condition)
{
	static const uint8_t pairs[][2] = {{MAL_LESS, MAL_MORE},
					   {MAL_NOT_LESS, MAL_LESS_EQUAL},
					   {MAL_BELOW, MAL_ABOVE},
					   {MAL_NOT_BELOW, MAL_BELOW_EQUAL}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		for (size_t j = 0; j < 2; j++)
			if (condition == pairs[i][j])
				return (enum mal_condition)pairs[i][1 - j];
	return condition == MAL_EQUAL || condition == MAL_NOT_EQUAL ? condition
								    : MAL_OTHER_CONDITION;
}

/* Whether it tells the same number from a lesser one, and not from a greater one. */
static bool is_strict(enum mal_condition condition)
{
	return condition == MAL_LESS || condition == MAL_NOT_LESS || condition == MAL_BELOW ||
	       condition == MAL_NOT_BELOW;
}

/* Whether a number compares so with the least or the greatest one; being the same is not seen. */
static int by_extreme(enum mal_condition condition, int64_t extreme)
{
	int least = extreme == INT32_MIN || extreme == INT64_MIN;

	if (!least && extreme != INT32_MAX && extreme != INT64_MAX)
		return -1;
	if (condition == MAL_LESS || condition == MAL_LESS_EQUAL)
		return !least;
	return condition == MAL_MORE || condition == MAL_NOT_LESS ? least : -1;
}

int mal_outcome(struct mal_analysis *analysis, enum mal_condition condition, mal_value left,
		mal_value right)
{
	struct mal_values *values = &analysis->values;
	const struct mal_node *a = mal_node(values, left), *b = mal_node(values, right);

	if (!left || !right || condition == MAL_OTHER_CONDITION || condition == MAL_NO_CONDITION)
		return -1;
	if (a->kind == MAL_NUMBER && b->kind == MAL_NUMBER)
		return mal_compare(condition, a->key, b->key);
	if (!analysis->without)
		return -1;
	if (a->kind == MAL_SYMBOL && b->kind == MAL_NUMBER)
		return by_extreme(condition, b->key);
	if (a->kind == MAL_NUMBER && b->kind == MAL_SYMBOL)
		return by_extreme(mal_swapped(condition), a->key);
	if (!(a->flags & b->flags & MAL_EXACT) || (!a->class && !b->class))
		return -1;
	return mal_without_share(values, condition, left, right);
}

/* Whether the thread is the one that was chosen, or the first one. */
static enum mal_branch choice_of(struct mal_analysis *analysis, enum mal_condition condition,
				 mal_value left, mal_value right)
{
	const struct mal_node *node = mal_node(&analysis->values, left);
	int64_t number;

	if (!mal_is_number(&analysis->values, right, &number) || number < 0 || number > 1)
		return MAL_BRANCH_CLEAN;
	if (node->kind == MAL_THREAD && number == 0) {
		if (condition == MAL_EQUAL || condition == MAL_LESS_EQUAL ||
		    condition == MAL_BELOW_EQUAL)
			return MAL_BRANCH_CHOSEN;
		if (condition == MAL_NOT_EQUAL || condition == MAL_MORE || condition == MAL_ABOVE)
			return MAL_BRANCH_NOT_CHOSEN;
	}
	if (node->kind != MAL_CHOSEN)
		return MAL_BRANCH_CLEAN;
	if (condition != MAL_EQUAL && condition != MAL_NOT_EQUAL)
		return MAL_BRANCH_TELLS;
	return (condition == MAL_EQUAL) == (number == 1) ? MAL_BRANCH_CHOSEN
							 : MAL_BRANCH_NOT_CHOSEN;
}

/* VALUE as it is in the first iteration, and how much it is stepped. */
static mal_value first_of(struct mal_values *values, mal_value value, mal_value *step)
{
	const struct mal_node *node = mal_node(values, value);
	mal_value a, b;

	if (node->kind == MAL_STEP) {
		*step = node->b;
		return node->a;
	}
	if (node->kind != MAL_ADD && node->kind != MAL_MULTIPLY)
		return value;
	a = first_of(values, node->a, step);
	b = first_of(values, mal_node(values, value)->b, step);
	return mal_node(values, value)->kind == MAL_ADD
		       ? mal_plus(values, a, b)
		       : mal_make(values, MAL_MULTIPLY, 0, a, b, 0);
}

bool mal_is_length(struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_shape_of(values, value);

	return node->shape == MAL_SHAPE_BLOCK && node->start == 0 && node->bare && node->rest == 0;
}

/*
 * Whether a loop that begins at one and ends at the other does no more than a share: the last
 * comparison comes at the end, or less than a step before.
 */
static bool ends_share(struct mal_values *values, enum mal_condition condition, mal_value left,
		       mal_value right)
{
	mal_value step = 0, distance;
	const struct mal_node *node;
	int64_t number;
	int inclusive;

	if (mal_node(values, left)->kind == MAL_SHARE || mal_node(values, right)->kind == MAL_SHARE)
		return mal_is_bound(values, left) && mal_is_bound(values, right);
	inclusive =
		is_strict(mal_node(values, left)->class == MAL_ITERATIONS ? mal_swapped(condition)
									  : condition);
	left = first_of(values, left, &step);
	right = first_of(values, right, &step);
	distance = mal_minus(values, left, right);
	/* As many as all have are those of a chunk. */
	if (mal_node(values, distance)->class < MAL_IDENTITY)
		return 0;
	node = mal_shape_of(values, distance);
	if (step && mal_is_number(values, step, &number) && node->shape == MAL_SHAPE_BLOCK &&
	    node->start == 0 && node->bare) {
		int64_t before = node->length > 0 ? -node->rest : node->rest;

		return before >= inclusive && before <= (number < 0 ? -number : number);
	}
	return !inclusive && mal_is_length(values, distance);
}

/* Whether two loops step them, each from a bound on. */
static bool are_steps(struct mal_values *values, mal_value left, mal_value right)
{
	const struct mal_node *a = mal_node(values, left), *b = mal_node(values, right);

	return a->kind == MAL_STEP && b->kind == MAL_STEP && (a->key ^ b->key) >> 40 &&
	       mal_is_of_bounds(values, a->a) && mal_is_of_bounds(values, b->a);
}

static bool is_rest(const struct mal_values *values, mal_value value)
{
	return mal_node(values, value)->kind == MAL_SHARE && !mal_node(values, value)->key;
}

enum mal_branch mal_branch_of(struct mal_analysis *analysis, enum mal_condition condition,
			      mal_value left, mal_value right)
{
	struct mal_values *values = &analysis->values;
	uint8_t a = mal_node(values, left)->class, b = mal_node(values, right)->class;
	enum mal_branch choice;
	mal_value distance;

	if (a == MAL_UNKNOWN || b == MAL_UNKNOWN)
		return MAL_BRANCH_TELLS;
	if (a == MAL_CLEAN && b == MAL_CLEAN)
		return MAL_BRANCH_CLEAN;
	/* What goes on after whole vectors ends at a bound, not at what is made of one. */
	if ((is_rest(values, left) && mal_is_off(values, right)) ||
	    (is_rest(values, right) && mal_is_off(values, left)))
		return MAL_BRANCH_TELLS;
	if (are_steps(values, left, right))
		return MAL_BRANCH_TELLS;
	if (a < MAL_IDENTITY && b < MAL_IDENTITY)
		return MAL_BRANCH_SHARE;
	choice = choice_of(analysis, condition, left, right);
	if (choice == MAL_BRANCH_CLEAN)
		choice = choice_of(analysis, mal_swapped(condition), right, left);
	if (choice != MAL_BRANCH_CLEAN)
		return choice;
	if (condition == MAL_OTHER_CONDITION)
		return MAL_BRANCH_TELLS;
	if (a == MAL_ITERATIONS || b == MAL_ITERATIONS)
		return ends_share(values, condition, left, right) ? MAL_BRANCH_SHARE
								  : MAL_BRANCH_TELLS;
	distance = mal_minus(values, left, right);
	if (mal_is_length(values, distance))
		return MAL_BRANCH_SHARE;
	if (analysis->state->guarded && mal_is_share(values, left) && mal_is_share(values, right))
		return MAL_BRANCH_SHARE;
	if (mal_shape_of(values, distance)->shape == MAL_SHAPE_CHUNK)
		return MAL_BRANCH_CHUNK;
	return mal_node(values, left)->flags & mal_node(values, right)->flags & MAL_EXACT
		       ? MAL_BRANCH_DIVISION
		       : MAL_BRANCH_TELLS;
}

/* The way on which FACTOR times the length, and more, is greater than what it is compared to. */
static uint8_t greater_way(enum mal_condition condition, int64_t factor)
{
	if (condition == MAL_NO_CONDITION || condition >= MAL_NEGATIVE)
		return 0;
	return mal_compare(condition, factor > 0, factor <= 0) ? 1 : 2;
}

/* Of a comparison of a share's length: where it is not empty, where it is short. */
static void note_guard(struct mal_analysis *analysis, enum mal_condition condition, mal_value left,
		       mal_value right)
{
	struct mal_block_facts *facts = &analysis->facts[analysis->block];
	const struct mal_node *distance;
	uint8_t greater;
	int strict = is_strict(condition);

	facts->guard = facts->few = facts->some = 0;
	if (facts->branch != MAL_BRANCH_SHARE ||
	    (mal_node(&analysis->values, left)->class < MAL_IDENTITY &&
	     mal_node(&analysis->values, right)->class < MAL_IDENTITY))
		return;
	distance = mal_shape_of(&analysis->values, mal_minus(&analysis->values, left, right));
	if (distance->shape != MAL_SHAPE_BLOCK || distance->start || !distance->bare)
		return;
	greater = greater_way(condition, distance->length);
	facts->few = greater ? (uint8_t)(3 - greater) : 0;
	facts->some = distance->rest && (distance->rest < 0) == (distance->length > 0);
	/* Greater than zero, not zero and greater. */
	if (distance->rest == 0 && (condition == MAL_EQUAL || condition == MAL_NOT_EQUAL ||
				    strict == (distance->length < 0)))
		facts->guard = greater;
}

/* How a loop ends: 1 before what it does with iterations, 2 after it, 3 amid it; 0: not seen. */
static uint8_t end_of(struct mal_values *values, mal_value left, mal_value right)
{
	mal_value step = 0;
	const struct mal_node *distance;
	int counts = 0;
	int64_t pace = mal_pace(values, mal_minus(values, left, right), &counts);

	left = first_of(values, left, &step);
	right = first_of(values, right, &step);
	distance = mal_shape_of(values, mal_minus(values, left, right));
	if (!step || distance->shape != MAL_SHAPE_BLOCK || distance->start || !distance->bare)
		return 0;
	if (counts && pace > 1)
		return 3;
	return distance->rest ? 2 : 1;
}

/* Whether VALUE is of the bounds, and not where the inner one of two loops begins anew. */
static uint8_t decides(struct mal_analysis *analysis, mal_value value)
{
	const struct mal_node *node = mal_node(&analysis->values, value);

	if (node->kind == MAL_SHARE && node->key && !(node->flags & (MAL_PLACE | MAL_REST)))
		return 2;
	if (!mal_is_of_bounds(&analysis->values, value) || node->flags & MAL_INDEX)
		return 0;
	return node->class == MAL_IDENTITY &&
			       mal_shape_of(&analysis->values, value)->shape == MAL_SHAPE_BLOCK
		       ? 2
		       : 1;
}

void mal_step_branch(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_block_facts *facts = &analysis->facts[analysis->block];
	struct mal_values *values = &analysis->values;
	enum mal_condition condition = (enum mal_condition)at->condition;
	mal_value left = analysis->state->left, right = analysis->state->right;
	const struct mal_node *a = mal_node(values, left), *b = mal_node(values, right);
	int outcome;

	if (at->flow == MAL_FLOW_JUMP) {
		/* A switch, by what it jumps through. */
		left = at->operands[0].kind == MAL_OPERAND_REGISTER
			       ? analysis->state->registers[at->operands[0].reg]
			       : mal_address(analysis, &at->operands[0]);
		right = 0;
		condition = MAL_OTHER_CONDITION;
		a = mal_node(values, left);
		b = mal_node(values, right);
	}
	facts->branch = (uint8_t)mal_branch_of(analysis, condition, left, right);
	facts->carried = (a->flags | b->flags) & (MAL_CARRIED | MAL_COUNTED);
	facts->history = ((a->flags | b->flags) & MAL_HISTORY) != 0;
	/* Whether a loop of iterations ends after one, or before. */
	facts->ends = analysis->final && facts->branch == MAL_BRANCH_SHARE && facts->leaves
			      ? end_of(values, left, right)
			      : 0;
	facts->decides = analysis->final ? decides(analysis, left) | decides(analysis, right) : 0;
	note_guard(analysis, condition, left, right);
	if (facts->leaves && (a->class || b->class))
		mal_check_pace(analysis, mal_minus(values, left, right));
	facts->left = left;
	facts->right = right;
	facts->compare = 0;
	if (facts->branch == MAL_BRANCH_TELLS &&
	    mal_check_value(analysis, a->class >= b->class ? left : right, "in a branch"))
		mal_mark_bound(analysis, "a comparison of a thread's iterations", NULL);
	outcome = mal_outcome(analysis, condition, left, right);
	facts->dead = outcome < 0 ? 0 : outcome ? 2 : 1;
	if ((a->class || b->class) && a->flags & b->flags & MAL_EXACT &&
	    condition != MAL_OTHER_CONDITION && left && right)
		facts->compare = mal_make(values, MAL_COMPARE, condition, left, right, 0);
	if (facts->compare && !(mal_node(values, facts->compare)->flags & MAL_EXACT))
		facts->compare = 0;
}
