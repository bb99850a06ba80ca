/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* steps.c: what one instruction on general registers makes of values. */
#include "libmalleable/inspect/analysis.h"
#include "libmalleable/inspect/changes.h"

#ifdef HAVE_ZYDIS

void mal_set_flags(struct mal_analysis *analysis, enum mal_flags_kind kind, mal_value left,
		   mal_value right)
{
	analysis->state->flags = kind;
	analysis->state->left = left;
	analysis->state->right = right;
}

static void flags_of(struct mal_analysis *analysis, mal_value value)
{
	mal_set_flags(analysis, MAL_FLAGS_COMPARE, value, mal_number(&analysis->values, 0));
}

/* Bounds of shares and lengths alone: what is made of them is a length again. */
static int is_length(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	int found = 0;

	if (form->kind != MAL_LINEAR)
		return 0;
	for (unsigned int i = 0; i < form->count; i++)
		switch (analysis->values.symbols[form->terms[i].symbol].class) {
		case MAL_LOW:
		case MAL_HIGH:
		case MAL_LENGTH:
		case MAL_ROUND: found = 1; break;
		case MAL_CLEAN: break;
		default: return 0;
		}
	return found;
}

/* Whether VALUE has both ends of a share, as often: how long it is, or of the same parity. */
static int has_both_ends(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	int64_t low = 0, high = 0;

	for (unsigned int i = 0; i < form->count; i++) {
		enum mal_symbol_class class = analysis->values.symbols[form->terms[i].symbol].class;

		if ((class != MAL_LOW && class != MAL_HIGH) || form->terms[i].factor)
			return 0;
		*(class == MAL_LOW ? &low : &high) = form->terms[i].times;
	}
	return form->count == 2 && low && (low == high || low == -high);
}

static int is_mask(uint16_t mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_AND || mnemonic == ZYDIS_MNEMONIC_TEST;
}

/* A part of a length, of the same share. */
static mal_value length_of(struct mal_analysis *analysis, mal_value value)
{
	struct mal_symbol symbol = {
		.class = MAL_LENGTH,
		.address = analysis->at->address,
		.role = !is_mask(analysis->at->mnemonic) ? MAL_ROLE_SHIFTED
			: has_both_ends(analysis, value) ? MAL_ROLE_MASKED_WHOLE
							 : MAL_ROLE_MASKED,
		.block = analysis->block,
		.extra = mal_family(&analysis->values, value),
	};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

static mal_value shorten(struct mal_analysis *analysis, mal_value value, mal_value other)
{
	int64_t number;

	value = mal_plain(analysis, value);
	if (mal_is_number(&analysis->values, other, &number) && is_length(analysis, value) &&
	    mal_shows(analysis, value, analysis->block, -1))
		return length_of(analysis, value);
	if (analysis->at->mnemonic == ZYDIS_MNEMONIC_SHR ||
	    analysis->at->mnemonic == ZYDIS_MNEMONIC_SAR)
		return mal_fold(analysis, value, other, MAL_ROLE_QUOTIENT);
	return mal_mixed(analysis, (mal_value[]){value, other}, 2, 370);
}

static mal_value bitwise(struct mal_analysis *analysis, const struct mal_instruction *instruction,
			 mal_value left, mal_value right)
{
	struct mal_values *values = &analysis->values;
	enum mal_reduction operation = instruction->mnemonic == ZYDIS_MNEMONIC_AND  ? MAL_AND
				       : instruction->mnemonic == ZYDIS_MNEMONIC_OR ? MAL_OR
										    : MAL_XOR;
	const struct mal_symbol *symbol = mal_only_symbol(values, left);
	uint32_t base;
	int64_t number, offset;
	int exact;

	if (operation == MAL_XOR && left == right)
		return mal_number(values, 0);
	if (operation == MAL_AND && left == right)
		return left;
	if (mal_is_number(values, right, &number)) {
		if (number == 0 && operation == MAL_AND)
			return right;
		if (number == 0 || (number == -1 && operation == MAL_AND))
			return left;
		/* A truth stays what it is: what the runtime said, in one byte. */
		if (operation == MAL_AND && number == 1 && symbol &&
		    (symbol->class == MAL_ONCE || symbol->class == MAL_MORE))
			return left;
		/* The stack aligned: another base. */
		if (operation == MAL_AND && number < 0 &&
		    mal_is_stack(values, left, &base, &offset, &exact) && exact)
			return mal_fresh(analysis, MAL_STACK, 14);
		if (operation == MAL_AND && is_length(analysis, left))
			return shorten(analysis, left, right);
	} else if (operation == MAL_AND && values->forms[left].kind == MAL_LINEAR &&
		   values->forms[right].kind == MAL_LINEAR &&
		   instruction->mnemonic == ZYDIS_MNEMONIC_AND &&
		   !mal_shows(analysis, left, analysis->block, -1) &&
		   !mal_shows(analysis, right, analysis->block, -1) &&
		   !mal_carried_in(analysis, left) && !mal_carried_in(analysis, right)) {
		return mal_fold(analysis, left, right, MAL_ROLE_REST);
	}
	return mal_reduce(analysis, operation, left, right);
}

static void arithmetic(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	const struct mal_operand *to = &instruction->operands[0];
	mal_value left = mal_read(analysis, to), right = 0, value;

	if (instruction->operand_count > 1)
		right = mal_read(analysis, &instruction->operands[1]);
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_ADD: value = mal_plus(analysis, left, right, 1); break;
	case ZYDIS_MNEMONIC_SUB: value = mal_plus(analysis, left, right, -1); break;
	case ZYDIS_MNEMONIC_INC:
		value = mal_plus(analysis, left, mal_number(&analysis->values, 1), 1);
		break;
	case ZYDIS_MNEMONIC_DEC:
		value = mal_plus(analysis, left, mal_number(&analysis->values, -1), 1);
		break;
	case ZYDIS_MNEMONIC_NEG:
		value = mal_plus(analysis, mal_number(&analysis->values, 0), left, -1);
		break;
	default: value = bitwise(analysis, instruction, left, right); break;
	}
	mal_write(analysis, to, value);
	if (instruction->mnemonic == ZYDIS_MNEMONIC_SUB)
		mal_set_flags(analysis, MAL_FLAGS_COMPARE, left, right);
	else
		flags_of(analysis, value);
}

static void shift(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	const struct mal_operand *to = &instruction->operands[0];
	mal_value left = mal_read(analysis, to), right, value;
	int64_t number;

	right = instruction->operand_count > 1 ? mal_read(analysis, &instruction->operands[1])
					       : mal_number(&analysis->values, 1);
	if (instruction->mnemonic == ZYDIS_MNEMONIC_SHL &&
	    mal_is_number(&analysis->values, right, &number) && number >= 0 && number < 32)
		value = mal_times(analysis, left,
				  mal_number(&analysis->values, (int64_t)1 << number));
	else
		value = shorten(analysis, left, right);
	mal_write(analysis, to, value);
	flags_of(analysis, value);
}

static void multiply(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	const struct mal_operand *operands = instruction->operands;
	mal_value left, right, value;

	if (instruction->operand_count == 1 || instruction->mnemonic == ZYDIS_MNEMONIC_MUL) {
		left = mal_read(analysis, &operands[0]);
		right = analysis->state->registers[MAL_RAX];
		value = mal_mixed(analysis, (mal_value[]){left, right}, 2, 371);
		analysis->state->registers[MAL_RAX] = value;
		analysis->state->registers[MAL_RDX] =
			mal_mixed(analysis, (mal_value[]){left, right}, 2, 372);
		analysis->state->rest[MAL_RAX] = analysis->state->rest[MAL_RDX] = 0;
		mal_set_flags(analysis, MAL_FLAGS_VALUE, value, 0);
		return;
	}
	left = mal_read(analysis, &operands[instruction->operand_count == 3 ? 1 : 0]);
	right = mal_read(analysis, &operands[instruction->operand_count == 3 ? 2 : 1]);
	value = mal_times(analysis, left, right);
	mal_write(analysis, &operands[0], value);
	mal_set_flags(analysis, MAL_FLAGS_VALUE, value, 0);
}

static void divide(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	struct mal_state *state = analysis->state;
	mal_value divisor = mal_read(analysis, &instruction->operands[0]), high, low;

	low = state->registers[MAL_RAX];
	high = state->registers[MAL_RDX];
	if (instruction->operands[0].bytes < 4 || state->rest[MAL_RAX] || state->rest[MAL_RDX] ||
	    mal_shows(analysis, high, analysis->block, -1)) {
		state->registers[MAL_RAX] =
			mal_mixed(analysis, (mal_value[]){low, high, divisor}, 3, 373);
		state->registers[MAL_RDX] =
			mal_mixed(analysis, (mal_value[]){low, high, divisor}, 3, 374);
	} else {
		mal_divide(analysis, low, divisor, &state->registers[MAL_RAX],
			   &state->registers[MAL_RDX]);
	}
	mal_set_flags(analysis, MAL_FLAGS_VALUE, divisor, 0);
}

static void compare(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	mal_value left = mal_read(analysis, &instruction->operands[0]);
	mal_value right = mal_read(analysis, &instruction->operands[1]);

	if (instruction->mnemonic == ZYDIS_MNEMONIC_CMP) {
		mal_set_flags(analysis, MAL_FLAGS_COMPARE, mal_plain(analysis, left),
			      mal_plain(analysis, right));
		return;
	}
	/* Test: a value against 0, or some of its bits. */
	if (left == right)
		flags_of(analysis, mal_plain(analysis, left));
	else
		flags_of(analysis,
			 bitwise(analysis,
				 &(struct mal_instruction){.mnemonic = ZYDIS_MNEMONIC_AND}, left,
				 right));
}

/* The value that a conditional move leaves in its target. */
static mal_value choose(struct mal_analysis *analysis, uint16_t mnemonic, mal_value old,
			mal_value moved)
{
	struct mal_values *values = &analysis->values;
	const struct mal_state *state = analysis->state;
	int condition = mal_condition_of(mnemonic);
	mal_value found[2] = {old, moved}, left = state->left, right = state->right, high = 0,
		  other = 0;
	const struct mal_symbol *a, *b;

	if (old == moved)
		return old;
	if (state->flags != MAL_FLAGS_COMPARE)
		return mal_mixed(analysis, (mal_value[]){old, moved, left}, 3, 375);
	a = mal_only_symbol(values, left);
	b = mal_only_symbol(values, right);
	if (a && b && a->class == MAL_THREAD && b->class == MAL_REST &&
	    (condition == MAL_LESS || condition == MAL_NOT_LESS))
		return mal_pair(analysis, b->extra, condition == MAL_LESS ? moved : old,
				condition == MAL_LESS ? old : moved);
	/* The lesser of a share's end and the loop's; the lesser and the greater in a reduction. */
	if ((left == old && right == moved) || (left == moved && right == old)) {
		int less = condition == MAL_LESS || condition == MAL_NOT_MORE;
		int more = condition == MAL_MORE_THAN || condition == MAL_NOT_LESS;
		int minimum = (less && left == moved) || (more && left == old);

		for (unsigned int i = 0; i < 2; i++) {
			const struct mal_symbol *symbol = mal_only_symbol(values, found[i]);

			if (symbol && symbol->class == MAL_HIGH)
				high = found[i];
			else if (!mal_shows(analysis, found[i], analysis->block, -1))
				other = found[i];
		}
		if (high && other && minimum)
			return high;
		if (less || more)
			return mal_reduce(analysis, minimum ? MAL_MINIMUM : MAL_MAXIMUM, old,
					  moved);
	}
	if (!mal_shows(analysis, left, analysis->block, -1) &&
	    !mal_shows(analysis, right, analysis->block, -1)) {
		mal_value joined = mal_join_partial(analysis, found, 2, 0);

		if (joined)
			return joined;
	}
	return mal_mixed(analysis, (mal_value[]){old, moved, left, right}, 4, 375);
}

static void push(struct mal_analysis *analysis, mal_value value)
{
	struct mal_state *state = analysis->state;
	uint32_t base;
	int64_t offset;
	int exact;

	state->registers[MAL_RSP] =
		mal_plus(analysis, state->registers[MAL_RSP], mal_number(&analysis->values, -8), 1);
	if (mal_is_stack(&analysis->values, state->registers[MAL_RSP], &base, &offset, &exact) &&
	    exact)
		mal_store_slot(analysis, base, (int32_t)offset, 8, value);
	else
		mal_bind(analysis, "a stack of changing size", NULL);
}

static mal_value pop(struct mal_analysis *analysis)
{
	struct mal_state *state = analysis->state;
	mal_value value = mal_taint(&analysis->values, "a stack of changing size");
	uint32_t base;
	int64_t offset;
	int exact;

	if (mal_is_stack(&analysis->values, state->registers[MAL_RSP], &base, &offset, &exact) &&
	    exact)
		value = mal_load_slot(analysis, base, (int32_t)offset, 8);
	state->registers[MAL_RSP] =
		mal_plus(analysis, state->registers[MAL_RSP], mal_number(&analysis->values, 8), 1);
	return value;
}

/* A part of a register or of memory by itself: the same for all, but no position any more. */
static mal_value widen(struct mal_analysis *analysis, mal_value value)
{
	const struct mal_symbol *symbol = mal_only_symbol(&analysis->values, value);
	uint32_t family = mal_family(&analysis->values, value);

	if (mal_is_number(&analysis->values, value, &(int64_t){0}))
		return value;
	/* Only compilers reckon with what the runtime gave, and with no more than they need. */
	if (family && !(family & MAL_PARTITION) && is_length(analysis, value) &&
	    mal_shows(analysis, value, analysis->block, -1))
		return value;
	if (symbol &&
	    (symbol->class == MAL_ONCE || symbol->class == MAL_MORE || symbol->class == MAL_REDUCE))
		return value;
	return mal_mixed(analysis, &value, 1, 376);
}

/* A sum of numbers with a sign, which do not overflow. */
static mal_value widen_signed(struct mal_analysis *analysis, mal_value value)
{
	struct mal_form form = analysis->values.forms[value];

	if (form.kind != MAL_PARTIAL || form.b != 4)
		return value;
	form.b = 8;
	return mal_form(&analysis->values, &form);
}

static int is_between(uint16_t mnemonic, uint16_t first, uint16_t last)
{
	return mnemonic >= first && mnemonic <= last;
}

void mal_step(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	const struct mal_operand *operands = instruction->operands;
	struct mal_state *state = analysis->state;
	uint16_t mnemonic = instruction->mnemonic;
	mal_value value;

	analysis->at = instruction;
	if (instruction->system)
		mal_bind(analysis, "a system instruction", NULL);
	if (instruction->lock) {
		mal_effect_atomic(analysis, instruction);
		return;
	}
	if (is_between(mnemonic, ZYDIS_MNEMONIC_CMOVB, ZYDIS_MNEMONIC_CMOVZ)) {
		mal_write(analysis, &operands[0],
			  choose(analysis, mnemonic, mal_read(analysis, &operands[0]),
				 mal_read(analysis, &operands[1])));
		return;
	}
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		mal_write(analysis, &operands[0], mal_read(analysis, &operands[1]));
		return;
	case ZYDIS_MNEMONIC_MOVSXD:
		mal_write(analysis, &operands[0],
			  widen_signed(analysis, mal_read(analysis, &operands[1])));
		return;
	case ZYDIS_MNEMONIC_CDQE:
		state->registers[MAL_RAX] = widen_signed(analysis, state->registers[MAL_RAX]);
		return;
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
		mal_write(analysis, &operands[0],
			  widen(analysis, mal_read(analysis, &operands[1])));
		return;
	case ZYDIS_MNEMONIC_LEA:
		mal_write(analysis, &operands[0], mal_address(analysis, &operands[1]));
		return;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR: arithmetic(analysis, instruction); return;
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR: shift(analysis, instruction); return;
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_MUL: multiply(analysis, instruction); return;
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV: divide(analysis, instruction); return;
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST: compare(analysis, instruction); return;
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_ENDBR64:
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_MFENCE: return;
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_CQO:
		value = mal_mixed(analysis, &state->registers[MAL_RAX], 1, MAL_RDX);
		state->registers[MAL_RDX] = value;
		state->rest[MAL_RDX] = 0;
		return;
	case ZYDIS_MNEMONIC_PUSH: push(analysis, mal_read(analysis, &operands[0])); return;
	case ZYDIS_MNEMONIC_POP: mal_write(analysis, &operands[0], pop(analysis)); return;
	case ZYDIS_MNEMONIC_LEAVE:
		state->registers[MAL_RSP] = state->registers[MAL_RBP];
		state->registers[MAL_RBP] = pop(analysis);
		return;
	default: break;
	}
	if (mal_step_string(analysis, instruction))
		return;
	if (!mal_step_vector(analysis, instruction))
		mal_step_any(analysis, instruction);
}

#endif
