/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* instruction.c: what one instruction makes of the values that it reads. */
#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/analysis.h"
#include "libmalleable/inspect/samples.h"

static void flags_of(struct mal_analysis *analysis, const mal_value *some, size_t count)
{
	mal_set_result(analysis,
		       mal_blur(&analysis->values, some, count, analysis->at->address * 8 + 7));
}

/* Sums, differences and products: the expressions that divide iterations. */
static void step_linear(struct mal_analysis *analysis, const struct mal_instruction *at)
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
		if (at->operand_count < 2)
			right = mal_number(values, 1);
		if (!mal_is_number(values, right, &number)) {
			mal_step_any(analysis, at);
			return;
		}
		result = mal_times(values, left, mal_number(values, (int64_t)1 << (number & 63)));
		break;
	default:
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
		mal_set_flags(analysis, left, right);
	else
		mal_set_result(analysis, result);
}

static void step_divide(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	mal_value by = mal_read(analysis, &at->operands[0]), what = state->registers[MAL_RAX];

	if (at->operands[0].bytes < 4) {
		mal_step_any(analysis, at);
		return;
	}
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
		flags_of(analysis, &by, 1);
		return;
	}
	/* The upper half is the sign of the lower one, or zero. */
	state->registers[MAL_RAX] = mal_make(values, MAL_DIVIDE, 0, what, by, 0);
	state->registers[MAL_RDX] = mal_make(values, MAL_REMAINDER, 0, what, by, 0);
	flags_of(analysis, &by, 1);
}

static void step_clear(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	const struct mal_operand *last = &at->operands[at->operand_count - 1];
	const struct mal_operand *before = last - 1;

	if (at->operand_count >= 2 && last->kind == MAL_OPERAND_REGISTER &&
	    before->kind == MAL_OPERAND_REGISTER && last->reg == before->reg &&
	    !(at->reads & MAL_BIT(MAL_FLAGS))) {
		mal_write(analysis, &at->operands[0], mal_number(&analysis->values, 0));
		if (at->writes & MAL_BIT(MAL_FLAGS))
			mal_set_flags(analysis, mal_number(&analysis->values, 0),
				      mal_number(&analysis->values, 0));
		return;
	}
	if (at->reads & MAL_BIT(MAL_FLAGS))
		mal_step_any(analysis, at);
	else
		mal_step_neutral(analysis, at);
}

static void step_test(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value left = mal_read(analysis, &at->operands[0]);
	mal_value right = mal_read(analysis, &at->operands[1]);
	int64_t a, b;

	if (at->action == MAL_ACTION_COMPARE) {
		mal_set_flags(analysis, left, right);
	} else if (at->action == MAL_ACTION_COMPARE_FLOAT) {
		flags_of(analysis, (mal_value[]){left, right}, 2);
	} else if (left == right && at->operands[1].kind == MAL_OPERAND_REGISTER) {
		mal_set_result(analysis, left);
	} else if (mal_is_number(&analysis->values, left, &a) &&
		   mal_is_number(&analysis->values, right, &b)) {
		mal_set_result(analysis, mal_number(&analysis->values, a & b));
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

	mal_check_counts(analysis);
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
			result = mal_leaf(values, MAL_SHARE, (int64_t)at->address * 8);
	} else if (yes == no) {
		result = yes;
	} else {
		result = mal_blur(values, (mal_value[]){left, right, yes, no}, 4, at->address * 8);
	}
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
		registers[MAL_RDX] =
			mal_blur(&analysis->values, &registers[MAL_RAX], 1, at->address * 8);
}

/* The frame, where it is aligned: far from what was pushed before. */
static int align(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value *top = &analysis->state->registers[MAL_RSP];

	if (at->operands[0].reg != MAL_RSP || mal_node(&analysis->values, *top)->kind != MAL_STACK)
		return 0;
	*top = mal_leaf(&analysis->values, MAL_STACK,
			mal_node(&analysis->values, *top)->key - (1 << 20));
	return 1;
}

void mal_step(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	if (at->lock || at->action == MAL_ACTION_COMPARE_EXCHANGE) {
		mal_step_atomic(analysis, at);
		return;
	}
	switch (at->action) {
	case MAL_ACTION_NONE:
	case MAL_ACTION_EXTEND: return;
	case MAL_ACTION_MOVE: mal_step_move(analysis, at); return;
	case MAL_ACTION_LEA: mal_step_lea(analysis, at); return;
	case MAL_ACTION_MULTIPLY:
		if (at->operand_count == 1) {
			mal_step_any(analysis, at);
			return;
		} /* fall through */
	case MAL_ACTION_ADD:
	case MAL_ACTION_SUBTRACT:
	case MAL_ACTION_INCREMENT:
	case MAL_ACTION_DECREMENT:
	case MAL_ACTION_NEGATE:
	case MAL_ACTION_SHIFT_LEFT: step_linear(analysis, at); return;
	case MAL_ACTION_DIVIDE: step_divide(analysis, at); return;
	case MAL_ACTION_SIGN: step_sign(analysis, at); return;
	case MAL_ACTION_CLEAR_SAME: step_clear(analysis, at); return;
	case MAL_ACTION_AND:
		if (align(analysis, at))
			return; /* fall through */
	case MAL_ACTION_OR:
	case MAL_ACTION_FLOAT_ADD:
	case MAL_ACTION_FLOAT_MULTIPLY:
	case MAL_ACTION_FLOAT_LESS:
	case MAL_ACTION_FLOAT_MORE: mal_step_neutral(analysis, at); return;
	case MAL_ACTION_COMPARE:
	case MAL_ACTION_TEST:
	case MAL_ACTION_COMPARE_FLOAT: step_test(analysis, at); return;
	case MAL_ACTION_SET:
	case MAL_ACTION_CHOOSE: step_condition(analysis, at); return;
	case MAL_ACTION_PAIR: mal_step_pair(analysis, at); return;
	case MAL_ACTION_VECTOR_ADD:
	case MAL_ACTION_SPREAD: mal_step_lanes(analysis, at); return;
	case MAL_ACTION_PUSH:
	case MAL_ACTION_POP:
	case MAL_ACTION_LEAVE: mal_step_stack(analysis, at); return;
	case MAL_ACTION_STRING: mal_step_string(analysis, at); return;
	default:
		if (at->operand_count == 0 && at->reads & MAL_BIT(MAL_RDI))
			mal_step_string(analysis, at);
		else
			mal_step_any(analysis, at);
	}
}
