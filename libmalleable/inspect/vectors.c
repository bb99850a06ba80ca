/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vectors.c: what one instruction on registers of vectors makes of values. */
#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

enum kind {
	OTHER,
	/* Whole registers, or one part with the rest zero. */
	MOVE,
	/* Between a general register or memory and the first part. */
	FIRST,
	/* One part; what else the target holds stays. */
	PART,
	ADD,
	SUBTRACT,
	MULTIPLY,
	MINIMUM,
	MAXIMUM,
	AND,
	OR,
	XOR,
	ADD_INTEGERS,
	SUBTRACT_INTEGERS,
	BROADCAST,
	SHUFFLE,
};

#define BOTH(name) \
	case ZYDIS_MNEMONIC_##name: \
	case ZYDIS_MNEMONIC_V##name
#define REALS(name) BOTH(name##SD) : BOTH(name##SS) : BOTH(name##PD) : BOTH(name##PS)

static enum kind kind_of(uint16_t mnemonic)
{
	switch (mnemonic) {
	BOTH(MOVAPS)
	    : BOTH(MOVAPD)
	    : BOTH(MOVUPS)
	    : BOTH(MOVUPD) : BOTH(MOVDQA) : BOTH(MOVDQU) : case ZYDIS_MNEMONIC_VMOVDQA32:
	case ZYDIS_MNEMONIC_VMOVDQA64:
	case ZYDIS_MNEMONIC_VMOVDQU32:
	case ZYDIS_MNEMONIC_VMOVDQU64:
		BOTH(LDDQU) : return MOVE;
		BOTH(MOVD) : BOTH(MOVQ) : return FIRST;
		BOTH(MOVSD) : BOTH(MOVSS) : return PART;
		REALS(ADD) : return ADD;
		REALS(SUB) : return SUBTRACT;
		REALS(MUL) : return MULTIPLY;
		REALS(MIN) : BOTH(PMINSD) : BOTH(PMINUD) : return MINIMUM;
		REALS(MAX) : BOTH(PMAXSD) : BOTH(PMAXUD) : return MAXIMUM;
		BOTH(PAND) : BOTH(ANDPS) : BOTH(ANDPD) : return AND;
		BOTH(POR) : BOTH(ORPS) : BOTH(ORPD) : return OR;
	BOTH(PXOR) : BOTH(XORPS) : BOTH(XORPD) : case ZYDIS_MNEMONIC_VPXORD:
	case ZYDIS_MNEMONIC_VPXORQ:
		return XOR;
		BOTH(PADDD) : BOTH(PADDQ) : return ADD_INTEGERS;
		BOTH(PSUBD) : BOTH(PSUBQ) : return SUBTRACT_INTEGERS;
	BOTH(PSHUFD)
	    : BOTH(PUNPCKLDQ)
	    : BOTH(PUNPCKLQDQ)
	    : BOTH(UNPCKLPD)
	    : BOTH(UNPCKLPS)
	    : BOTH(MOVDDUP) : BOTH(SHUFPS) : BOTH(SHUFPD) : case ZYDIS_MNEMONIC_VPBROADCASTD:
	case ZYDIS_MNEMONIC_VPBROADCASTQ:
	case ZYDIS_MNEMONIC_VBROADCASTSD:
	case ZYDIS_MNEMONIC_VBROADCASTSS:
		return BROADCAST;
	BOTH(UNPCKHPD)
	    : BOTH(UNPCKHPS)
	    : BOTH(MOVHLPS) : BOTH(MOVSHDUP) : BOTH(PSRLDQ) : case ZYDIS_MNEMONIC_VEXTRACTF128:
	case ZYDIS_MNEMONIC_VEXTRACTI128:
	case ZYDIS_MNEMONIC_VPERMILPD: return SHUFFLE;
		default : return OTHER;
	}
}

static mal_value unwrap(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];

	return form->kind == MAL_FIRST ? form->a : value;
}

/* A value alone in the first part of a vector. */
static mal_value wrap(struct mal_analysis *analysis, mal_value value)
{
	if (analysis->values.forms[value].kind != MAL_LINEAR ||
	    !mal_shows(analysis, value, analysis->block, -1))
		return value;
	return mal_form(&analysis->values, &(struct mal_form){.kind = MAL_FIRST, .a = value});
}

/* Parts of one vector, or of two. */
static mal_value shuffle(struct mal_analysis *analysis, const struct mal_instruction *instruction,
			 mal_value left, mal_value right)
{
	const struct mal_form a = analysis->values.forms[left], b = analysis->values.forms[right];
	int two = instruction->operand_count > 2 &&
		  instruction->operands[2].kind != MAL_OPERAND_NUMBER;

	if (left == right && (a.kind == MAL_PARTIAL || a.kind == MAL_TAINT))
		return left;
	if (a.kind == MAL_PARTIAL && b.kind == MAL_PARTIAL && a.operation == b.operation)
		return mal_reduce(analysis, a.operation, left, right);
	/* The upper half of another register is not used by compilers. */
	if (b.kind == MAL_PARTIAL && !two)
		return right;
	return mal_mixed(analysis, (mal_value[]){left, right}, 2, 391);
}

static mal_value broadcast(struct mal_analysis *analysis, const struct mal_instruction *instruction,
			   mal_value left, mal_value right)
{
	const struct mal_operand *last = &instruction->operands[instruction->operand_count - 1];
	mal_value inner = unwrap(analysis, right);

	switch (instruction->mnemonic) {
		BOTH(PSHUFD)
		    : if (last->kind == MAL_OPERAND_NUMBER &&
			  (last->number & 0xf) == 0) return inner;
		break;
	case ZYDIS_MNEMONIC_VPBROADCASTD:
	case ZYDIS_MNEMONIC_VPBROADCASTQ:
	case ZYDIS_MNEMONIC_VBROADCASTSD:
	case ZYDIS_MNEMONIC_VBROADCASTSS:
		BOTH(MOVDDUP) : return inner;
		BOTH(PUNPCKLDQ)
		    : BOTH(PUNPCKLQDQ)
		    : BOTH(UNPCKLPD) : BOTH(UNPCKLPS) : if (left == right) return inner;
		break;
	default: break;
	}
	return shuffle(analysis, instruction, left, right);
}

static mal_value combine(struct mal_analysis *analysis, const struct mal_instruction *instruction,
			 enum kind kind, mal_value left, mal_value right)
{
	struct mal_values *values = &analysis->values;
	int linear =
		values->forms[left].kind == MAL_LINEAR && values->forms[right].kind == MAL_LINEAR;

	switch (kind) {
	case ADD_INTEGERS:
		if (linear)
			return mal_plus(analysis, left, right, 1);
		/* fall through */
	case ADD: return mal_reduce(analysis, MAL_SUM, left, right);
	case SUBTRACT_INTEGERS: return mal_plus(analysis, left, right, -1);
	case SUBTRACT:
		if (values->forms[left].kind == MAL_PARTIAL)
			return mal_plus(analysis, left, right, -1);
		return mal_mixed(analysis, (mal_value[]){left, right}, 2, 392);
	case MULTIPLY: return mal_reduce(analysis, MAL_PRODUCT, left, right);
	case MINIMUM: return mal_reduce(analysis, MAL_MINIMUM, left, right);
	case MAXIMUM: return mal_reduce(analysis, MAL_MAXIMUM, left, right);
	case AND: return mal_reduce(analysis, MAL_AND, left, right);
	case OR: return mal_reduce(analysis, MAL_OR, left, right);
	case XOR: return mal_reduce(analysis, MAL_XOR, left, right);
	case BROADCAST: return broadcast(analysis, instruction, left, right);
	default: return shuffle(analysis, instruction, left, right);
	}
}

int mal_step_vector(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	const struct mal_operand *operands = instruction->operands;
	enum kind kind = kind_of(instruction->mnemonic);
	mal_value left, right;

	if (kind == OTHER || instruction->operand_count < 2)
		return 0;
	if (operands[0].reg >= MAL_MASK0 && operands[0].kind == MAL_OPERAND_REGISTER)
		return 0;
	/* The zero, whatever was there. */
	if ((kind == XOR || kind == SUBTRACT_INTEGERS) &&
	    operands[0].kind == MAL_OPERAND_REGISTER) {
		const struct mal_operand *a = &operands[instruction->operand_count - 2];
		const struct mal_operand *b = &operands[instruction->operand_count - 1];

		if (a->kind == MAL_OPERAND_REGISTER && b->kind == MAL_OPERAND_REGISTER &&
		    a->reg == b->reg) {
			mal_write(analysis, &operands[0], mal_number(&analysis->values, 0));
			return 1;
		}
	}
	if (kind == MOVE || kind == FIRST || kind == PART) {
		int into = operands[0].kind == MAL_OPERAND_REGISTER && operands[0].reg >= MAL_XMM0;

		/* With a mask, or between two registers: both count. */
		if (instruction->operand_count != 2)
			return 0;
		right = mal_read(analysis, &operands[1]);
		if (kind == MOVE) {
			mal_write(analysis, &operands[0], right);
			return 1;
		}
		if (kind == PART && into && operands[1].kind == MAL_OPERAND_REGISTER) {
			left = mal_read(analysis, &operands[0]);
			if (left != right)
				right = mal_mixed(analysis, (mal_value[]){left, right}, 2, 393);
			mal_write(analysis, &operands[0], right);
			return 1;
		}
		mal_write(analysis, &operands[0],
			  into ? wrap(analysis, right) : unwrap(analysis, right));
		return 1;
	}
	if (instruction->operand_count == 2 ||
	    (instruction->operand_count == 3 && operands[2].kind == MAL_OPERAND_NUMBER)) {
		left = mal_read(analysis, &operands[0]);
		right = mal_read(analysis, &operands[1]);
		/* The target is not read: parts of one register alone. */
		if (!operands[0].read)
			left = right;
		if (kind == SHUFFLE && operands[1].kind == MAL_OPERAND_NUMBER)
			right = left;
	} else {
		left = mal_read(analysis, &operands[1]);
		right = mal_read(analysis, &operands[2]);
	}
	mal_write(analysis, &operands[0], combine(analysis, instruction, kind, left, right));
	return 1;
}

#endif
