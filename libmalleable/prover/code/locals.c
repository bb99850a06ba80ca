/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * locals.c: what each function does by itself. The whole of it is read, whether it is reached or
 * not, so that what exceptions run is seen too.
 */
#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/find.h"
#include "libmalleable/prover/code/flow.h"
#include "libmalleable/prover/code/program.h"

enum { LONGEST = 80 };

/* Instructions after which a register is what it was, or a part of it. */
static bool keeps(const struct mal_instruction *at)
{
	static const uint8_t actions[] = {
		MAL_ACTION_AND,	       MAL_ACTION_EXTEND,   MAL_ACTION_SIGN,
		MAL_ACTION_TEST,       MAL_ACTION_COMPARE,  MAL_ACTION_COMPARE_FLOAT,
		MAL_ACTION_SET,	       MAL_ACTION_EXCHANGE, MAL_ACTION_COMPARE_EXCHANGE,
		MAL_ACTION_CLEAR_SAME, MAL_ACTION_CHOOSE,   MAL_ACTION_OR};

	return memchr(actions, at->action, sizeof(actions));
}

/* Whether a register becomes something that depends on what it was before. */
static bool steps_register(const struct mal_instruction *body, size_t count)
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

static bool calls_change(const struct mal_program *program, const struct mal_instruction *at)
{
	const struct mal_slot *slot = mal_call_slot(program->image, at);

	return !slot || mal_slot_external(slot)->kind != MAL_EXTERNAL_PURE;
}

static bool is_constant(const struct mal_instruction *at)
{
	return at->action == MAL_ACTION_CLEAR_SAME ||
	       (at->action == MAL_ACTION_MOVE && at->operands[1].kind == MAL_OPERAND_NUMBER);
}

/* Whether what jumps away at AT is all that leads to what is behind it. */
static bool leaves(const struct mal_instruction *body, size_t count, size_t at)
{
	for (size_t i = 0; i < count; i++)
		if (body[i].flow != MAL_FLOW_NEXT && body[i].target > body[at].address &&
		    body[i].target <= body[count - 1].address)
			return 0;
	return 1;
}

static bool progresses(const struct mal_program *program, const struct mal_instruction *body,
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

static uint64_t waits(const struct mal_program *program, const struct mal_instruction *text,
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

static const uint64_t instructions_most = 3000000;

/* Why the other library's function in SLOT binds, or NULL. */
static const char *binds(const struct mal_program *program, const struct mal_slot *slot)
{
	const struct mal_external *external;

	if (slot->kind == MAL_SLOT_RESOLVER)
		return "a function chosen at start";
	if (slot->kind == MAL_SLOT_TLS)
		return "thread-local storage";
	external = mal_slot_external(slot);
	if (external->kind != MAL_EXTERNAL_OTHER)
		return external->reason;
	return mal_other_tells(program, slot->symbol) ? "an unknown function" : NULL;
}

static void visit_external(struct mal_program *program, struct mal_local *local, uint64_t where,
			   const struct mal_slot *slot, int called)
{
	const char *reason = binds(program, slot);
	enum mal_external_kind kind = mal_slot_external(slot)->kind;

	local->writes |= MAL_VOLATILE;
	if (reason)
		mal_note(&local->bound, where, reason, slot->symbol);
	switch (kind) {
	case MAL_EXTERNAL_ASKS:
	case MAL_EXTERNAL_BINDS:
	case MAL_EXTERNAL_PURE:
	case MAL_EXTERNAL_MEMORY:
	case MAL_EXTERNAL_END: return;
	case MAL_EXTERNAL_THREAD:
	case MAL_EXTERNAL_THREADS:
		local->does |= MAL_DOES_ASK;
		/* Called through its address. */
		if (!called)
			mal_note(&local->bound, where, "asks for a thread's number", slot->symbol);
		return;
	case MAL_EXTERNAL_OTHER:
	case MAL_EXTERNAL_CALLBACK: local->does |= MAL_DOES_INDIRECT; /* fall through */
	case MAL_EXTERNAL_EFFECT: local->does |= MAL_DOES_EFFECT; return;
	case MAL_EXTERNAL_PROTECT: local->does |= MAL_DOES_COMBINE; /* fall through */
	default: local->does |= MAL_DOES_RUNTIME;
	}
}

static void add_call(struct mal_program *program, struct mal_local *local, uint64_t where,
		     uint64_t target)
{
	const struct mal_function *function = mal_image_function(program->image, target);

	if (!function) {
		mal_note(&local->bound, where, "code without unwind information", NULL);
		return;
	}
	for (uint32_t i = local->call_count; i-- > 0;)
		if (local->calls[i] == function->start)
			return;
	if (mal_grow(&local->calls, local->call_count, sizeof(*local->calls)))
		local->calls[local->call_count++] = function->start;
	else
		mal_note(&local->bound, where, "out of memory", NULL);
}

static void visit_call(struct mal_program *program, struct mal_local *local,
		       const struct mal_instruction *at)
{
	const struct mal_slot *slot = mal_call_slot(program->image, at);
	uint64_t target = mal_call_target(program->image, at);

	if (slot)
		visit_external(program, local, at->address, slot, 1);
	else if (target)
		add_call(program, local, at->address, target);
	else
		local->does |= MAL_DOES_INDIRECT;
}

/* Addresses of functions and of thread-local variables that an instruction makes. */
static void visit_operand(struct mal_program *program, struct mal_local *local,
			  const struct mal_instruction *at, const struct mal_operand *operand)
{
	const struct mal_image *image = program->image;
	uint64_t number = (uint64_t)operand->number;
	const struct mal_slot *slot = NULL;
	const struct mal_function *function;

	if (operand->kind == MAL_OPERAND_REGISTER || !number ||
	    (operand->kind == MAL_OPERAND_NUMBER && !image->fixed) ||
	    operand->base != MAL_NO_REGISTER || operand->index != MAL_NO_REGISTER)
		return;
	if (operand->kind == MAL_OPERAND_MEMORY)
		slot = mal_image_slot(image, number);
	if (slot && slot->kind == MAL_SLOT_ADDRESS)
		number = slot->value;
	else if (slot && (slot->function || slot->kind == MAL_SLOT_TLS))
		visit_external(program, local, at->address, slot,
			       at->mnemonic == ZYDIS_MNEMONIC_MOV);
	if (slot && slot->kind != MAL_SLOT_ADDRESS)
		return;
	if (!mal_image_executable(image, number) ||
	    (!slot && operand->kind == MAL_OPERAND_MEMORY && at->action != MAL_ACTION_LEA))
		return;
	slot = mal_image_stub(image, number);
	if (slot && slot->kind != MAL_SLOT_ADDRESS) {
		visit_external(program, local, at->address, slot, 0);
		return;
	}
	function = mal_image_function(image, slot ? slot->value : number);
	if (function && function->start == (slot ? slot->value : number))
		add_call(program, local, at->address, function->start);
}

/* Arguments on the stack are beyond the frame, by what was pushed and reserved so far. */
static void visit_stack(struct mal_local *local, const struct mal_instruction *at, int64_t *depth)
{
	if (at->action == MAL_ACTION_PUSH)
		*depth += 8;
	else if (at->action == MAL_ACTION_SUBTRACT && at->operands[0].reg == MAL_RSP &&
		 at->operands[1].kind == MAL_OPERAND_NUMBER)
		*depth += at->operands[1].number;
	if (at->action == MAL_ACTION_MOVE && at->operands[0].reg == MAL_RBP &&
	    at->operands[1].reg == MAL_RSP)
		local->frame = 1;
	for (unsigned int i = 0; i < at->operand_count; i++) {
		const struct mal_operand *operand = &at->operands[i];
		int64_t end = operand->number - (operand->base == MAL_RBP ? 8 : *depth);

		if (operand->kind == MAL_OPERAND_MEMORY && end > local->stack && end <= 256 &&
		    (operand->base == MAL_RSP || (operand->base == MAL_RBP && local->frame)))
			local->stack = end;
	}
}

static void visit_instruction(struct mal_program *program, struct mal_local *local,
			      const struct mal_instruction *at, const struct mal_function *function)
{
	int within = at->target >= function->start && at->target < function->end;

	if (at->thread_local_ & 1)
		mal_note(&local->bound, at->address, "thread-local storage", function->name);
	if (at->system)
		mal_note(&local->bound, at->address, MAL_SYSTEM, function->name);
	local->writes |= at->writes;
	if (at->lock)
		local->does |= MAL_DOES_EFFECT;
	if (at->action == MAL_ACTION_COMPARE_EXCHANGE)
		local->does |= MAL_DOES_COMBINE;
	switch (at->flow) {
	case MAL_FLOW_CALL: visit_call(program, local, at); return;
	case MAL_FLOW_JUMP:
		if (!within && (at->target || at->slot))
			visit_call(program, local, at);
		return;
	case MAL_FLOW_BRANCH:
		if (!within)
			visit_call(program, local, at);
		return;
	default:
		for (unsigned int i = 0; i < at->operand_count; i++)
			visit_operand(program, local, at, &at->operands[i]);
	}
}

static void read_function(struct mal_program *program, struct mal_local *local,
			  const struct mal_function *function)
{
	struct mal_instruction *text = NULL;
	uint64_t targets[MAL_FLOW_TARGETS];
	size_t count = 0;
	int64_t depth = 0;
	uint32_t before;

	for (uint64_t at = function->start; at < function->end && !local->bound.text;) {
		if (!mal_grow(&text, count, sizeof(*text)) ||
		    program->instructions + count > instructions_most) {
			mal_note(&local->bound, at, "too large", NULL);
			break;
		}
		if (!mal_decode(program->image, at, &text[count])) {
			mal_note(&local->bound, at, "an instruction that cannot be decoded",
				 function->name);
			break;
		}
		before = local->does;
		visit_instruction(program, local, &text[count], function);
		visit_stack(local, &text[count], &depth);
		if (!local->pointer && local->does & ~before & MAL_DOES_INDIRECT)
			local->pointer = text[count].address;
		if (text[count].flow == MAL_FLOW_JUMP && !text[count].target && !text[count].slot &&
		    !mal_switch_targets(program->image, text, count + 1, targets)) {
			local->does |= MAL_DOES_INDIRECT;
			local->pointer = text[count].address;
		}
		at += text[count++].length;
	}
	program->instructions += count;
	if (!local->bound.text && waits(program, text, count))
		mal_note(&local->bound, waits(program, text, count), "waits for another thread",
			 function->name);
	free(text);
}

struct mal_local *mal_local_at(struct mal_program *program, uint64_t entry)
{
	const struct mal_function *function = mal_image_function(program->image, entry);
	struct mal_local **local;

	if (function && !program->locals)
		program->locals = calloc(program->image->function_count, sizeof(*program->locals));
	if (!function || !program->locals)
		return NULL;
	local = &program->locals[function - program->image->functions];
	if (!*local) {
		*local = calloc(1, sizeof(**local));
		if (*local)
			read_function(program, *local, function);
	}
	return *local;
}

int64_t mal_takes_stack(struct mal_program *program, uint64_t entry)
{
	const struct mal_local *local = mal_local_at(program, entry);

	return local ? local->stack : 256;
}
