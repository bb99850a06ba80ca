/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* instruction.c: what one instruction makes of the values that it reads. */
#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/analysis.h"

enum { PARTS = 12 };

static void set_flags(struct mal_analysis *analysis, mal_value left, mal_value right)
{
	analysis->state->left = left;
	analysis->state->right = right;
}

static void set_result(struct mal_analysis *analysis, mal_value result)
{
	set_flags(analysis, result, mal_number(&analysis->values, 0));
}

static void check_counts(struct mal_analysis *analysis)
{
	const struct mal_state *state = analysis->state;

	if (analysis->values.inner && (mal_node(&analysis->values, state->left)->flags |
				       mal_node(&analysis->values, state->right)->flags) &
					      MAL_COUNTED)
		mal_mark_bound(analysis, "a choice by how many iterations a thread has had", NULL);
}

/* VALUE as the instruction makes it, if it may make the same of several numbers. */
static mal_value fold(struct mal_analysis *analysis, const struct mal_instruction *at,
		      mal_value value)
{
	const struct mal_operand *by = &at->operands[at->operand_count > 1];

	switch (at->action) {
	case MAL_ACTION_AND: return mal_fold_in(analysis, value, MAL_LEFT);
	case MAL_ACTION_FOLD:
		/* A sign is no quotient. */
		return mal_fold_in(analysis, value,
				   by->kind == MAL_OPERAND_NUMBER &&
						   by->number + 1 == 8 * at->operands[0].bytes
					   ? 0
					   : MAL_FOLDED);
	/* The upper half of a product. */
	case MAL_ACTION_MULTIPLY: return mal_fold_in(analysis, value, MAL_FOLDED);
	case MAL_ACTION_OR: return mal_fold_in(analysis, value, 0);
	default: return value;
	}
}

/* Everything that is written depends on everything that is read. */
static void step_any(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_state *state = analysis->state;
	uint64_t reads = at->reads & ~at->addressing & ~MAL_BIT(MAL_FLAGS), writes = at->writes;
	mal_value parts[PARTS], value;
	size_t count = 0;

	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].kind == MAL_OPERAND_MEMORY && at->operands[i].read)
			parts[count++] = mal_read(analysis, &at->operands[i]);
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].kind == MAL_OPERAND_REGISTER && at->operands[i].read &&
		    at->operands[i].reg != MAL_NO_REGISTER) {
			parts[count++] = mal_read(analysis, &at->operands[i]);
			reads &= ~MAL_BIT(at->operands[i].reg);
		}
	for (unsigned int reg = 0; reg < MAL_REGISTERS && count < PARTS - 1; reg++)
		if (reads & MAL_BIT(reg))
			parts[count++] = state->registers[reg];
	if (at->reads & MAL_BIT(MAL_FLAGS)) {
		check_counts(analysis);
		parts[count++] = state->left;
		if (count < PARTS)
			parts[count++] = state->right;
	}
	for (size_t i = 0; i < count; i++)
		mal_check_pace(analysis, parts[i]);
	if (at->rounds && count < PARTS)
		parts[count++] = mal_symbol(&analysis->values, (uint64_t)1 << 59, MAL_ROUNDS);
	value = fold(analysis, at, mal_blur(&analysis->values, parts, count, at->address * 8));
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].written) {
			mal_write(analysis, &at->operands[i], value);
			if (at->operands[i].kind == MAL_OPERAND_REGISTER &&
			    at->operands[i].reg != MAL_NO_REGISTER)
				writes &= ~MAL_BIT(at->operands[i].reg);
		}
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (writes & MAL_BIT(reg) && reg != MAL_FLAGS && reg != MAL_RSP)
			state->registers[reg] = value;
	if (writes & MAL_BIT(MAL_FLAGS))
		set_result(analysis, value);
}

/* Operands that leave the other one as it is, where it is not 0: of floats, others, or both. */
static const struct {
	uint8_t action, floats, others;
	int64_t numbers[2];
} neutral[] = {
	{MAL_ACTION_AND, 1, 1, {-1, -1}},
	{MAL_ACTION_FLOAT_ADD, 1, 1, {0, INT64_MIN}},
	{MAL_ACTION_FLOAT_MULTIPLY, 1, 1, {0x3ff0000000000000, 0x3f800000}},
	{MAL_ACTION_FLOAT_LESS, 1, 0, {0x7f800000, 0x7f7fffff}},
	{MAL_ACTION_FLOAT_LESS, 0, 1, {0x7ff0000000000000, 0x7fefffffffffffff}},
	{MAL_ACTION_FLOAT_MORE, 1, 0, {(int32_t)0xff800000, (int32_t)0xff7fffff}},
	{MAL_ACTION_FLOAT_MORE, 0, 1, {(int64_t)0xfff0000000000000, (int64_t)0xffefffffffffffff}},
};

/* Whether NUMBER, where it is KNOWN, leaves the other operand of AT as it is. */
static bool is_left_by(const struct mal_instruction *at, int known, int64_t number)
{
	unsigned int first = at->operand_count == 3 ? 1 : 0;
	bool floats =
		at->operands[first].bytes == 4 || at->operands[at->operand_count - 1].bytes == 4;

	for (size_t i = 0; i < sizeof(neutral) / sizeof(neutral[0]); i++)
		if (neutral[i].action == at->action &&
		    (floats ? neutral[i].floats : neutral[i].others))
			return known &&
			       (number == neutral[i].numbers[0] || number == neutral[i].numbers[1]);
	return known && number == 0;
}

/* A value that is no other than one of the operands, if the other one is neutral. */
static bool step_neutral(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	unsigned int first = at->operand_count == 3 ? 1 : 0;
	int64_t numbers[2] = {0, 0};
	mal_value values[2], result;
	int known[2];

	if (at->operand_count < 2)
		return 0;
	for (unsigned int i = 0; i < 2; i++) {
		values[i] = mal_read(analysis, &at->operands[first + i]);
		known[i] = mal_is_number(&analysis->values, values[i], &numbers[i]);
	}
	if (is_left_by(at, known[1], numbers[1]))
		result = values[0];
	else if (is_left_by(at, known[0], numbers[0]))
		result = values[1];
	else if (at->action == MAL_ACTION_AND && known[0] && known[1])
		result = mal_number(&analysis->values, numbers[0] & numbers[1]);
	else if (at->action == MAL_ACTION_AND && mal_combines(analysis) && (known[0] || known[1]))
		result = values[known[0]];
	else if (at->action == MAL_ACTION_AND && known[1] && numbers[1] < 0 &&
		 mal_is_of_bounds(&analysis->values, values[0]) &&
		 mal_is_share(&analysis->values, values[0]) &&
		 !mal_is_place(&analysis->values, values[0])) {
		result = mal_leaf(&analysis->values, MAL_SHARE, MAL_ROUNDED);
		analysis->facts[analysis->block].rounds = 1;
	} else {
		return 0;
	}
	mal_write(analysis, &at->operands[0], result);
	if (at->writes & MAL_BIT(MAL_FLAGS))
		set_result(analysis, result);
	return 1;
}

/* Words in a vector: what differs among threads is the same in all of them. */
static bool step_lanes(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_values *values = &analysis->values;
	unsigned int first = at->operand_count == 3 && at->action == MAL_ACTION_VECTOR_ADD;
	mal_value left = mal_read(analysis, &at->operands[first]);
	mal_value right = mal_read(analysis, &at->operands[first + 1]), result;
	int64_t number;

	if (at->action == MAL_ACTION_SPREAD && at->operand_count == 3)
		left = right;
	if (mal_is_number(values, right, &number) && (int32_t)number == number >> 32)
		right = mal_number(values, (int32_t)number);
	result = at->action == MAL_ACTION_SPREAD ? left : mal_plus(values, left, right);
	if (at->operand_count < 2 || mal_node(values, left)->kind == MAL_SHARE ||
	    mal_node(values, right)->kind == MAL_SHARE ||
	    !(mal_node(values, result)->class % MAL_UNKNOWN) ||
	    (at->action == MAL_ACTION_SPREAD && left != right))
		return step_neutral(analysis, at);
	mal_write(analysis, &at->operands[0], result);
	return 1;
}

static bool step_pair(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	unsigned int first = at->operand_count == 3 ? 1 : 0;
	mal_value low = mal_read(analysis, &at->operands[first]);
	mal_value high = mal_read(analysis, &at->operands[first + 1]);

	if (!low || !high || low == high)
		return 0;
	mal_write(analysis, &at->operands[0],
		  mal_make(&analysis->values, MAL_PAIR, 0, low, high, 0));
	return 1;
}

/* Whether combining memory with VALUE leaves it as it is. */
static bool is_neutral(struct mal_analysis *analysis, const struct mal_instruction *at,
		       mal_value value)
{
	const struct mal_node *expected =
		mal_node(&analysis->values, analysis->state->registers[MAL_RAX]);
	int64_t number;
	int known = mal_is_number(&analysis->values, value, &number);

	switch (at->action) {
	case MAL_ACTION_COMPARE_EXCHANGE:
		return value && value == analysis->state->registers[MAL_RAX] &&
		       expected->kind == MAL_SYMBOL;
	case MAL_ACTION_AND: return known && number == -1;
	case MAL_ACTION_ADD:
	case MAL_ACTION_SUBTRACT:
	case MAL_ACTION_OR:
	case MAL_ACTION_CLEAR_SAME:
	case MAL_ACTION_EXCHANGE_ADD: return known && number == 0;
	default: return 0;
	}
}

static void step_atomic(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_state *state = analysis->state;
	mal_value address = 0, value = mal_number(&analysis->values, 1);

	for (unsigned int i = 0; i < at->operand_count; i++) {
		if (at->operands[i].kind == MAL_OPERAND_MEMORY) {
			address = mal_address(analysis, &at->operands[i]);
			continue;
		}
		value = mal_read(analysis, &at->operands[i]);
		/* All threads' lengths, each once, add up to the same. */
		if (at->action != MAL_ACTION_ADD || analysis->values.inner ||
		    !mal_is_length(&analysis->values, value))
			mal_check_value(analysis, value, "in an atomic operation");
	}
	if (mal_node(&analysis->values, address)->kind != MAL_STACK) {
		mal_share_atomic(analysis, value);
		mal_check_history(analysis, value);
		mal_check_address(analysis, address, 1);
		mal_effect(analysis, MAL_EFFECT_ATOMIC);
		if (analysis->without && analysis->graph.blocks[analysis->block].ends &&
		    !is_neutral(analysis, at, value))
			mal_mark_bound(analysis, "an atomic operation of every thread", NULL);
	} else if (at->action != MAL_ACTION_OR) {
		mal_forget_slots(analysis, mal_node(&analysis->values, address)->key,
				 mal_node(&analysis->values, address)->key + 8);
	}
	for (unsigned int reg = 0; reg < 16; reg++)
		if (at->writes & MAL_BIT(reg))
			/* Who adds has another place than all others. */
			state->registers[reg] =
				mal_fresh(analysis, 1,
					  at->action == MAL_ACTION_EXCHANGE_ADD ? MAL_VARIES : 0);
	state->load_count = 0;
	state->left = mal_fresh(analysis, 7, 0);
	state->right = mal_number(&analysis->values, 0);
}

static void flags_of(struct mal_analysis *analysis, const mal_value *some, size_t count)
{
	set_result(analysis,
		   mal_blur(&analysis->values, some, count, analysis->at->address * 8 + 7));
}

/* Sums, differences and products: the expressions that divide iterations. */
static bool step_linear(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_values *values = &analysis->values;
	const struct mal_operand *to = &at->operands[0];
	mal_value left = mal_read(analysis, to), right = 0, result;
	int64_t number;

	if (at->operand_count > 1)
		right = mal_read(analysis, &at->operands[1]);
	switch (at->action) {
	case MAL_ACTION_ADD: result = mal_plus(values, left, right); break;
	case MAL_ACTION_SUBTRACT:
		result = mal_minus(values, left, right);
		if (mal_is_common(values, result))
			result = left == right ? mal_number(values, 0) : mal_fresh(analysis, 0, 0);
		break;
	case MAL_ACTION_INCREMENT: result = mal_plus(values, left, mal_number(values, 1)); break;
	case MAL_ACTION_DECREMENT: result = mal_plus(values, left, mal_number(values, -1)); break;
	case MAL_ACTION_NEGATE: result = mal_minus(values, mal_number(values, 0), left); break;
	case MAL_ACTION_SHIFT_LEFT:
		if (!mal_is_number(values, right, &number))
			return 0;
		result = mal_times(values, left, mal_number(values, (int64_t)1 << (number & 63)));
		break;
	default:
		if (at->operand_count == 1)
			return 0;
		if (at->operand_count == 3) {
			left = right;
			right = mal_read(analysis, &at->operands[2]);
		}
		result = mal_times(values, left, right);
	}
	if (mal_node(values, result)->kind == MAL_SHARE &&
	    (mal_node(values, left)->kind == MAL_STEP || mal_node(values, right)->kind == MAL_STEP))
		mal_effect(analysis, MAL_EFFECT_ITEM);
	if (to->reg == MAL_RSP && mal_node(values, result)->kind != MAL_STACK) {
		mal_check_value(analysis, result, "as the size of the stack");
		/* A part of the frame that is far from the others. */
		result = mal_leaf(values, MAL_STACK,
				  -((int64_t)1 << 32) - (int64_t)at->address * 64);
	}
	mal_write(analysis, to, result);
	if (at->action == MAL_ACTION_SUBTRACT)
		set_flags(analysis, left, right);
	else
		set_result(analysis, result);
	return 1;
}

static bool step_divide(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	mal_value by = mal_read(analysis, &at->operands[0]), what = state->registers[MAL_RAX];

	if (at->operands[0].bytes < 4)
		return 0;
	/* Indices of loops within each other. */
	if (mal_node(values, what)->class == MAL_IDENTITY &&
	    mal_node(values, by)->kind != MAL_THREADS) {
		int64_t key = (int64_t)((uint64_t)what << 32 | by);

		state->registers[MAL_RAX] = state->registers[MAL_RDX] =
			mal_blur(values, (mal_value[]){what, by}, 2, (uint64_t)key);
		if (mal_is_place(values, what) && mal_node(values, by)->class == MAL_CLEAN) {
			state->registers[MAL_RAX] = mal_share(values, key, MAL_QUOTIENT);
			state->registers[MAL_RDX] = mal_share(values, key, MAL_REST);
		}
	} else {
		/* The upper half is the sign of the lower one, or zero. */
		state->registers[MAL_RAX] = mal_fold_in(
			analysis, mal_make(values, MAL_DIVIDE, 0, what, by, 0), MAL_FOLDED);
		state->registers[MAL_RDX] = mal_fold_in(
			analysis, mal_make(values, MAL_REMAINDER, 0, what, by, 0), MAL_LEFT);
	}
	flags_of(analysis, &by, 1);
	return 1;
}

static bool step_clear(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value same = mal_number(&analysis->values, at->action == MAL_ACTION_SET_SAME ? -1 : 0);

	if (at->reads & MAL_BIT(MAL_FLAGS) || !mal_is_of_one(at))
		return 0;
	mal_write(analysis, &at->operands[0], same);
	if (at->writes & MAL_BIT(MAL_FLAGS))
		set_flags(analysis, same, same);
	return 1;
}

static void step_test(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value left = mal_read(analysis, &at->operands[0]);
	mal_value right = mal_read(analysis, &at->operands[1]);
	int64_t a, b;

	if (at->action == MAL_ACTION_COMPARE) {
		set_flags(analysis, left, right);
	} else if (at->action == MAL_ACTION_COMPARE_FLOAT) {
		flags_of(analysis, (mal_value[]){left, right}, 2);
	} else if (left == right && at->operands[1].kind == MAL_OPERAND_REGISTER) {
		set_result(analysis, left);
	} else if (mal_is_number(&analysis->values, left, &a) &&
		   mal_is_number(&analysis->values, right, &b)) {
		set_result(analysis, mal_number(&analysis->values, a & b));
	} else {
		flags_of(analysis, (mal_value[]){left, right}, 2);
	}
}

/* A truth, or one of two values, by the flags. */
static void step_condition(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	mal_value left = state->left, right = state->right, yes, no, result;
	int outcome = mal_outcome(analysis, (enum mal_condition)at->condition, left, right);
	int exact = mal_node(values, left)->flags & mal_node(values, right)->flags & MAL_EXACT;

	check_counts(analysis);
	yes = at->action == MAL_ACTION_SET ? mal_number(values, 1)
					   : mal_read(analysis, &at->operands[1]);
	no = at->action == MAL_ACTION_SET ? mal_number(values, 0)
					  : mal_read(analysis, &at->operands[0]);
	if (outcome >= 0) {
		result = outcome ? yes : no;
	} else if (mal_combines(analysis) && at->action == MAL_ACTION_SET &&
		   at->condition == MAL_NOT_EQUAL && right == mal_number(values, 0)) {
		result = left;
	} else if (exact && left && right && at->condition != MAL_OTHER_CONDITION &&
		   (mal_node(values, left)->class || mal_node(values, right)->class)) {
		result = mal_make(values, MAL_COMPARE, at->condition, left, right, 0);
		if (at->action == MAL_ACTION_CHOOSE)
			result = mal_make(values, MAL_SELECT, 0, result, yes, no);
		if (!mal_is_share(values, result) &&
		    mal_branch_of(analysis, (enum mal_condition)at->condition, left, right) ==
			    MAL_BRANCH_SHARE &&
		    mal_is_share(values, yes) && mal_is_share(values, no) &&
		    (!mal_node(values, yes)->class || !mal_node(values, no)->class))
			result = mal_share(values, (int64_t)at->address * 8,
					   mal_flags_of_either(values, yes, no) &
						   (MAL_ROUNDS | MAL_HISTORY));
	} else if (yes == no) {
		result = yes;
	} else {
		result = mal_blur(values, (mal_value[]){left, right, yes, no}, 4, at->address * 8);
		if (at->action == MAL_ACTION_CHOOSE)
			result = mal_choice(values, result, yes, no);
	}
	if (at->action == MAL_ACTION_SET)
		result = mal_fold_in(analysis, result, 0);
	mal_write(analysis, &at->operands[0], result);
}

/* The sign of RAX, as it is divided. */
static void step_sign(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value *registers = analysis->state->registers;

	/* Of what is divided again, only the lower half is followed. */
	if (mal_node(&analysis->values, registers[MAL_RAX])->class == MAL_IDENTITY)
		registers[MAL_RDX] = mal_tells(&analysis->values, "the sign of a thread's number");
	else
		registers[MAL_RDX] = mal_fold_in(
			analysis,
			mal_blur(&analysis->values, &registers[MAL_RAX], 1, at->address * 8), 0);
}

/* The frame, where it is aligned: far from what was pushed before. */
static bool align(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value *top = &analysis->state->registers[MAL_RSP];

	if (at->operands[0].reg != MAL_RSP || mal_node(&analysis->values, *top)->kind != MAL_STACK)
		return 0;
	*top = mal_leaf(&analysis->values, MAL_STACK,
			mal_node(&analysis->values, *top)->key - (1 << 20));
	return 1;
}

/* Returns whether the instruction is followed; else it makes anything of what it reads. */
static bool follow(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	switch (at->action) {
	case MAL_ACTION_NONE:
	case MAL_ACTION_EXTEND: return 1;
	case MAL_ACTION_MOVE: mal_step_move(analysis, at); return 1;
	case MAL_ACTION_LEA: mal_step_lea(analysis, at); return 1;
	case MAL_ACTION_MULTIPLY:
	case MAL_ACTION_ADD:
	case MAL_ACTION_SUBTRACT:
	case MAL_ACTION_INCREMENT:
	case MAL_ACTION_DECREMENT:
	case MAL_ACTION_NEGATE:
	case MAL_ACTION_SHIFT_LEFT: return step_linear(analysis, at);
	case MAL_ACTION_DIVIDE: return step_divide(analysis, at);
	case MAL_ACTION_SIGN: step_sign(analysis, at); return 1;
	case MAL_ACTION_CLEAR_SAME:
	case MAL_ACTION_SET_SAME: return step_clear(analysis, at);
	case MAL_ACTION_AND:
		if (align(analysis, at))
			return 1; /* fall through */
	case MAL_ACTION_OR:
	case MAL_ACTION_FLOAT_ADD:
	case MAL_ACTION_FLOAT_MULTIPLY:
	case MAL_ACTION_FLOAT_LESS:
	case MAL_ACTION_FLOAT_MORE: return step_neutral(analysis, at);
	case MAL_ACTION_COMPARE:
	case MAL_ACTION_TEST:
	case MAL_ACTION_COMPARE_FLOAT: step_test(analysis, at); return 1;
	case MAL_ACTION_SET:
	case MAL_ACTION_CHOOSE: step_condition(analysis, at); return 1;
	case MAL_ACTION_PAIR: return step_pair(analysis, at);
	case MAL_ACTION_VECTOR_ADD:
	case MAL_ACTION_SPREAD: return step_lanes(analysis, at);
	case MAL_ACTION_PUSH:
	case MAL_ACTION_POP:
	case MAL_ACTION_LEAVE: mal_step_stack(analysis, at); return 1;
	case MAL_ACTION_STRING: mal_step_string(analysis, at); return 1;
	default: return 0;
	}
}

void mal_step(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	if (at->rounds)
		mal_share_rounding(analysis);
	if (at->lock || at->action == MAL_ACTION_COMPARE_EXCHANGE)
		step_atomic(analysis, at);
	else if (!follow(analysis, at))
		step_any(analysis, at);
}
