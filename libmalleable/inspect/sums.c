/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sums.c: sums of values, and operations that reduce them. */
#include "libmalleable/inspect/analysis.h"
#include "libmalleable/inspect/changes.h"

#ifdef HAVE_ZYDIS

/* Whether the analysis is in the loop in which SYMBOL is carried. */
static int inside(const struct mal_analysis *analysis, uint32_t symbol)
{
	return symbol &&
	       mal_flow_in_loop(&analysis->graph, (int)analysis->values.symbols[symbol].extra,
				analysis->block);
}

/* The bytes of whole numbers that the current instruction adds; 0: none, or not known. */
static uint32_t width_of(const struct mal_analysis *analysis)
{
	const struct mal_operand *to = &analysis->at->operands[0];

	switch (analysis->at->mnemonic) {
	case ZYDIS_MNEMONIC_PADDD:
	case ZYDIS_MNEMONIC_VPADDD:
	case ZYDIS_MNEMONIC_PSUBD:
	case ZYDIS_MNEMONIC_VPSUBD: return 4;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_LEA: return to->bytes;
	default: return 0;
	}
}

/* The narrower of two widths. */
static uint32_t narrower(uint32_t left, uint32_t right)
{
	return !right || (left && left < right) ? left : right;
}

static mal_value partial(struct mal_analysis *analysis, enum mal_reduction operation,
			 uint32_t carried, uint32_t width)
{
	if (operation == MAL_SUM && analysis->at)
		width = narrower(width, width_of(analysis));
	return mal_form(&analysis->values, &(struct mal_form){.kind = MAL_PARTIAL,
							      .operation = (uint8_t)operation,
							      .a = carried,
							      .b = width});
}

static int is_idempotent(enum mal_reduction operation)
{
	return operation == MAL_MINIMUM || operation == MAL_MAXIMUM || operation == MAL_AND ||
	       operation == MAL_OR;
}

/* Two partial results of one reduction. */
static mal_value both_partial(struct mal_analysis *analysis, enum mal_reduction operation,
			      const struct mal_form *a, const struct mal_form *b)
{
	uint32_t left = a->a, right = b->a, width = narrower(a->b, b->b);

	if (left == right && inside(analysis, left) && is_idempotent(operation))
		return partial(analysis, operation, left, width);
	if (inside(analysis, left) || inside(analysis, right))
		return 0;
	return partial(analysis, operation, left == right ? left : 0, width);
}

/* A partial result and a value that is none. */
static mal_value with_other(struct mal_analysis *analysis, enum mal_reduction operation,
			    uint32_t carried, uint32_t width, mal_value other)
{
	struct mal_values *values = &analysis->values;

	const char *reason = mal_shows(analysis, other, analysis->block, -1);

	if (reason == mal_tail && values->forms[other].kind == MAL_TAINT && carried &&
	    !inside(analysis, carried))
		return partial(analysis, operation, carried, width);
	if (reason)
		return 0;
	if (inside(analysis, carried))
		return partial(analysis, operation, carried, width);
	/* What a thread that found nothing to do alone adds to a least one is not neutral. */
	if (values->forms[other].count == 0 && mal_is_neutral(values, other, operation) &&
	    (!is_idempotent(operation) || analysis->together[analysis->block]))
		return partial(analysis, operation, carried, width);
	return mal_form(values, &(struct mal_form){.kind = MAL_MERGED,
						   .operation = (uint8_t)operation,
						   .a = other,
						   .b = carried,
						   .c = width});
}

mal_value mal_reduce(struct mal_analysis *analysis, enum mal_reduction operation, mal_value left,
		     mal_value right)
{
	struct mal_values *values = &analysis->values;
	const struct mal_form a = values->forms[left], b = values->forms[right];
	uint32_t from = mal_carried_in(analysis, left), to = mal_carried_in(analysis, right);
	mal_value value = 0;

	/* What is carried becomes a partial result by its first operation. */
	if (from && !(a.count > 1 || a.constant) && inside(analysis, from) && !to &&
	    b.kind == MAL_LINEAR)
		value = with_other(analysis, operation, from, 0, right);
	else if (to && !(b.count > 1 || b.constant) && inside(analysis, to) && !from &&
		 a.kind == MAL_LINEAR)
		value = with_other(analysis, operation, to, 0, left);
	else if (a.kind == MAL_PARTIAL && b.kind == MAL_PARTIAL && a.operation == operation &&
		 b.operation == operation)
		value = both_partial(analysis, operation, &a, &b);
	else if (a.kind == MAL_PARTIAL && a.operation == operation &&
		 (b.kind == MAL_LINEAR || b.kind == MAL_TAINT))
		value = with_other(analysis, operation, a.a, a.b, right);
	else if (b.kind == MAL_PARTIAL && b.operation == operation &&
		 (a.kind == MAL_LINEAR || a.kind == MAL_TAINT))
		value = with_other(analysis, operation, b.a, b.b, left);
	return value ? value : mal_mixed(analysis, (mal_value[]){left, right}, 2, 330);
}

static mal_value add(struct mal_analysis *analysis, mal_value left, mal_value right, int64_t times)
{
	return mal_add(&analysis->values, left, right, times);
}

mal_value mal_plus(struct mal_analysis *analysis, mal_value left, mal_value right, int64_t times)
{
	struct mal_values *values = &analysis->values;
	const struct mal_form a = values->forms[left], b = values->forms[right];
	mal_value sum = 0;

	if (a.kind == MAL_LINEAR && b.kind == MAL_LINEAR) {
		sum = mal_add(values, left, right, times);
	} else if (a.kind == MAL_PAIR || b.kind == MAL_PAIR) {
		sum = mal_on_both_sides(analysis, left, right, add, times);
	} else if (times == 1 || (times == -1 && a.kind == MAL_PARTIAL && inside(analysis, a.a) &&
				  b.kind == MAL_LINEAR)) {
		return mal_reduce(analysis, MAL_SUM, left, right);
	}
	return sum ? sum : mal_mixed(analysis, (mal_value[]){left, right}, 2, 331);
}

#endif
