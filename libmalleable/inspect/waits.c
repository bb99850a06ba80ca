/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits.c: a loop waits if it reads memory and changes nothing by itself: no register is stepped,
 * nothing is called that may change memory, and nothing is stored outside the stack.
 */
#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/program.h"

enum { LONGEST = 80 };

/* Instructions after which a register is what it was, or a part of it. */
static int keeps(const struct mal_instruction *at)
{
	switch (at->action) {
	case MAL_ACTION_AND:
	case MAL_ACTION_EXTEND:
	case MAL_ACTION_SIGN:
	case MAL_ACTION_TEST:
	case MAL_ACTION_COMPARE:
	case MAL_ACTION_COMPARE_FLOAT:
	case MAL_ACTION_SET:
	case MAL_ACTION_EXCHANGE:
	case MAL_ACTION_COMPARE_EXCHANGE:
	case MAL_ACTION_CLEAR_SAME:
	case MAL_ACTION_CHOOSE:
	case MAL_ACTION_OR: return 1;
	default: return 0;
	}
}

/* Whether a register becomes something that depends on what it was before. */
static int steps_register(const struct mal_instruction *body, size_t count)
{
	uint64_t from[MAL_FLAGS], written = 0;

	for (unsigned int reg = 0; reg < MAL_FLAGS; reg++)
		from[reg] = MAL_BIT(reg);
	for (size_t i = 0; i < count; i++) {
		uint64_t before = 0, writes = body[i].writes & ~MAL_BIT(MAL_RSP);

		if (keeps(&body[i]) || body[i].flow != MAL_FLOW_NEXT)
			continue;
		/* At once; what is read through a register is new. */
		if (body[i].reads & body[i].writes & ~body[i].addressing & ~MAL_BIT(MAL_FLAGS) &
		    ~MAL_BIT(MAL_RSP))
			return 1;
		for (unsigned int reg = 0; reg < MAL_FLAGS; reg++)
			if (body[i].reads & MAL_BIT(reg))
				before |= from[reg];
		for (unsigned int reg = 0; reg < MAL_FLAGS; reg++)
			if (writes & MAL_BIT(reg))
				from[reg] = before;
		written |= writes;
	}
	for (unsigned int reg = 0; reg < MAL_FLAGS; reg++)
		if (written & from[reg] & MAL_BIT(reg))
			return 1;
	return 0;
}

static int calls_change(const struct mal_program *program, const struct mal_instruction *at)
{
	const struct mal_slot *slot = mal_call_slot(program->image, at);
	enum mal_external_kind kind;

	if (!slot)
		return 1;
	kind = mal_slot_external(slot)->kind;
	return kind != MAL_EXTERNAL_PURE;
}

static int is_constant(const struct mal_instruction *at)
{
	return at->action == MAL_ACTION_CLEAR_SAME ||
	       (at->action == MAL_ACTION_MOVE && at->operands[1].kind == MAL_OPERAND_NUMBER);
}

/* Whether what jumps away at AT is all that leads to what is behind it. */
static int leaves(const struct mal_instruction *body, size_t count, size_t at)
{
	for (size_t i = 0; i < count; i++)
		if (body[i].flow != MAL_FLOW_NEXT && body[i].target > body[at].address &&
		    body[i].target <= body[count - 1].address)
			return 0;
	return 1;
}

static int progresses(const struct mal_program *program, const struct mal_instruction *body,
		      size_t count)
{
	int set = 0, reads = 0;

	if (steps_register(body, count))
		return 1;

	for (size_t i = 0; i < count; i++) {
		const struct mal_instruction *at = &body[i];

		if (at->flow == MAL_FLOW_CALL
			    ? calls_change(program, at)
			    : at->flow == MAL_FLOW_RETURN || at->flow == MAL_FLOW_STOP)
			return 1;
		if (at->flow == MAL_FLOW_JUMP && i + 1 < count && leaves(body, count, i))
			return 1;
		if (at->action == MAL_ACTION_STRING || at->action == MAL_ACTION_EXCHANGE_ADD)
			return 1;
		/* What compares with what it read before gets on when no other thread does. */
		if (at->action == MAL_ACTION_COMPARE_EXCHANGE && !set)
			return 1;
		if (at->writes & MAL_BIT(MAL_RAX))
			set = is_constant(at);
		reads |= at->flow == MAL_FLOW_CALL;
		for (unsigned int j = 0; j < at->operand_count; j++) {
			const struct mal_operand *operand = &at->operands[j];

			if (operand->kind != MAL_OPERAND_MEMORY || at->action == MAL_ACTION_LEA)
				continue;
			reads |= operand->read &&
				 (operand->index != MAL_NO_REGISTER ||
				  (operand->base != MAL_RSP && operand->base != MAL_RBP));
			/* A counter in memory, or a store. */
			if (operand->written && !at->lock &&
			    (operand->read ||
			     (operand->base != MAL_RSP && operand->base != MAL_RBP)))
				return 1;
		}
	}
	return !reads;
}

uint64_t mal_waits(const struct mal_program *program, const struct mal_instruction *text,
		   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct mal_instruction *at = &text[i];
		size_t first = i + 1;

		if ((at->flow != MAL_FLOW_BRANCH && at->flow != MAL_FLOW_JUMP) ||
		    at->target > at->address || at->target < text[0].address)
			continue;
		while (first > 0 && text[first - 1].address >= at->target &&
		       i + 1 - first < LONGEST)
			first--;
		if (text[first].address != at->target)
			continue;
		/* An endless loop, or one whose test is at the top. */
		if (!progresses(program, &text[first], i + 1 - first))
			return at->address;
	}
	return 0;
}
