/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits.c: finds loops in which a thread waits for what another one writes. Each value in a round
 * is made of what memory holds, or of what the round before left. A loop that ends by the former
 * alone waits: it would never end by itself.
 */
#include "libmalleable/inspect/waits.h"

#include "libmalleable/inspect/names.h"

#ifdef HAVE_ZYDIS

/* Of functions that a loop calls: how long and how deep they are read. */
enum { SLOTS = 128, STORES = 32, CALLEE = 1000, DEPTH = 3 };

/* All loops of a function together: so many instructions are looked at, of nested ones often. */
static const uint64_t steps_most = 4000000;

/* What a value in a round is made of: of memory; of the round before, kept or changed. */
enum { LOADED = 1, KEPT = 2, CHANGED = 4 };

/* A word of the stack that the loop writes. */
struct slot {
	uint8_t base, made_of;
	int64_t number;
};

struct round {
	uint64_t written;
	uint8_t made_of[MAL_REGISTERS];
	struct slot slots[SLOTS];
	size_t slot_count;
	/* Memory elsewhere that it writes; more than that, or where it is not known. */
	struct mal_operand stores[STORES];
	size_t store_count;
	int writes_any;
	/* Of all that ends the loop. */
	uint8_t ends;
};

static int is_frame(const struct mal_operand *operand)
{
	return operand->kind == MAL_OPERAND_MEMORY &&
	       (operand->base == MAL_RSP || operand->base == MAL_RBP) &&
	       operand->index == MAL_NO_REGISTER;
}

static struct slot *slot_of(struct round *round, const struct mal_operand *operand)
{
	for (size_t i = 0; i < round->slot_count; i++)
		if (round->slots[i].base == operand->base &&
		    round->slots[i].number == operand->number)
			return &round->slots[i];
	return NULL;
}

/* What the loop writes, before its first round is looked at. */
static void note_writes(struct round *round, const struct mal_instruction *at)
{
	round->written |= at->writes & ~MAL_BIT(MAL_FLAGS);
	for (unsigned int i = 0; i < at->operand_count; i++) {
		const struct mal_operand *operand = &at->operands[i];

		if (operand->kind != MAL_OPERAND_MEMORY || !operand->written ||
		    at->mnemonic == ZYDIS_MNEMONIC_LEA)
			continue;
		if (slot_of(round, operand))
			continue;
		if (!is_frame(operand) && round->store_count < STORES)
			round->stores[round->store_count++] = *operand;
		else if (is_frame(operand) && round->slot_count < SLOTS)
			round->slots[round->slot_count++] =
				(struct slot){operand->base, KEPT, operand->number};
		else
			round->writes_any = 1;
	}
}

/*
 * Whether the loop itself writes what it reads at OPERAND: by the same words. What it writes
 * elsewhere is no reason for it to end.
 */
static int is_written(const struct round *round, const struct mal_operand *operand)
{
	for (size_t i = 0; i < round->store_count; i++) {
		const struct mal_operand *store = &round->stores[i];

		if (store->base == operand->base && store->index == operand->index &&
		    (store->index != MAL_NO_REGISTER ||
		     (store->number < operand->number + operand->bytes &&
		      operand->number < store->number + store->bytes)))
			return 1;
	}
	return 0;
}

static int is_move(uint16_t mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST: return 1;
	default: return 0;
	}
}

static int is_zero(const struct mal_instruction *at)
{
	return (at->mnemonic == ZYDIS_MNEMONIC_XOR || at->mnemonic == ZYDIS_MNEMONIC_PXOR) &&
	       at->operand_count == 2 && at->operands[0].kind == MAL_OPERAND_REGISTER &&
	       at->operands[1].kind == MAL_OPERAND_REGISTER &&
	       at->operands[0].reg == at->operands[1].reg;
}

/* What the results of an instruction are made of. */
static uint8_t sources(struct round *round, const struct mal_instruction *at)
{
	uint8_t made_of = 0;

	if (is_zero(at))
		return 0;
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (at->reads & MAL_BIT(reg) && reg != MAL_RSP && reg != MAL_RBP)
			made_of |= round->made_of[reg];
	for (unsigned int i = 0; i < at->operand_count; i++) {
		const struct mal_operand *operand = &at->operands[i];
		const struct slot *slot;

		if (operand->kind != MAL_OPERAND_MEMORY || !operand->read ||
		    at->mnemonic == ZYDIS_MNEMONIC_LEA)
			continue;
		slot = is_frame(operand) ? slot_of(round, operand) : NULL;
		/* Elsewhere in each round: a list or an array that is gone through. */
		if (made_of & (KEPT | CHANGED))
			made_of |= CHANGED;
		if (slot)
			made_of |= slot->made_of;
		else if (!is_frame(operand))
			made_of |= is_written(round, operand) ? LOADED | CHANGED : LOADED;
	}
	if (made_of & KEPT && !is_move(at->mnemonic))
		made_of |= CHANGED;
	/* What several threads change at once is a lock, or of use without another thread. */
	return at->lock ? made_of | CHANGED : made_of;
}

static void step(struct round *round, const struct mal_instruction *at)
{
	uint8_t made_of = sources(round, at);

	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (at->writes & MAL_BIT(reg))
			round->made_of[reg] = made_of;
	for (unsigned int i = 0; i < at->operand_count; i++) {
		struct slot *slot = is_frame(&at->operands[i]) && at->operands[i].written
					    ? slot_of(round, &at->operands[i])
					    : NULL;

		if (slot)
			slot->made_of = made_of;
	}
}

static int writes_memory(const struct mal_image *image, const struct mal_instruction *at)
{
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].kind == MAL_OPERAND_MEMORY && at->operands[i].written &&
		    at->mnemonic != ZYDIS_MNEMONIC_LEA && !is_frame(&at->operands[i]))
			return 1;
	return at->lock || at->repeat || at->system || !image;
}

/* Whether CALL leaves all memory alone that a program can wait for. */
static int is_harmless(const struct mal_image *image, const struct mal_instruction *call, int depth)
{
	const char *name = mal_call_name(image, call);
	uint64_t target = mal_call_target(image, call);
	const struct mal_function *function = target ? mal_image_function(image, target) : NULL;
	struct mal_instruction at;
	size_t count = 0;

	if (name)
		switch (mal_external(name)->kind) {
		case MAL_EXTERNAL_PURE:
		case MAL_EXTERNAL_READ:
		case MAL_EXTERNAL_PROTECT: return 1;
		default: return 0;
		}
	if (!function || depth == DEPTH)
		return 0;
	for (uint64_t address = target; address < function->end; address += at.length) {
		if (count++ == CALLEE || !mal_decode(image, address, &at) ||
		    writes_memory(image, &at) ||
		    (at.flow == MAL_FLOW_JUMP &&
		     (at.target < function->start || at.target >= function->end)) ||
		    (at.flow == MAL_FLOW_CALL && !is_harmless(image, &at, depth + 1)))
			return 0;
	}
	return 1;
}

/* Registers that a call may take arguments in; EXTERNAL: NULL for a function of the program. */
static uint64_t arguments_of(const struct mal_external *external)
{
	static const uint8_t integers[] = {MAL_RDI, MAL_RSI, MAL_RDX, MAL_RCX, MAL_R8, MAL_R9};
	int any = !external || external->integers == MAL_ANY_ARGUMENTS;
	uint64_t some = (((uint64_t)1 << (any ? 8 : external->vectors)) - 1) << MAL_XMM0;

	for (size_t i = 0; i < sizeof(integers) && (any || i < external->integers); i++)
		some |= MAL_BIT(integers[i]);
	return some;
}

/* A call that writes nothing: its result is made of memory, of its arguments and of a clock. */
static void step_call(struct round *round, const struct mal_image *image,
		      const struct mal_instruction *call)
{
	const char *name = mal_call_name(image, call);
	const struct mal_external *external = name ? mal_external(name) : NULL;
	uint64_t arguments = arguments_of(external);
	uint8_t made_of = LOADED;

	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (arguments & MAL_BIT(reg) && round->made_of[reg] & (KEPT | CHANGED))
			made_of |= CHANGED;
	if (external && external->kind == MAL_EXTERNAL_READ)
		made_of |= CHANGED;
	round->made_of[MAL_RAX] = round->made_of[MAL_RDX] = made_of;
	round->made_of[MAL_XMM0] = round->made_of[MAL_XMM0 + 1] = made_of;
}

/* Note what the loop writes. Returns whether all of that is understood. */
static int prepare(struct round *round, const struct mal_image *image,
		   const struct mal_instruction *loop, size_t count)
{
	static const uint64_t results =
		MAL_BIT(MAL_RAX) | MAL_BIT(MAL_RDX) | MAL_BIT(MAL_XMM0) | MAL_BIT(MAL_XMM0 + 1);
	int passes = 0, calls = 0;

	for (size_t i = 0; i < count; i++) {
		note_writes(round, &loop[i]);
		if (round->writes_any)
			return 0;
		/* What lies on the stack may be changed by who gets its address. */
		for (unsigned int j = 0; j < loop[i].operand_count; j++)
			passes |= loop[i].mnemonic == ZYDIS_MNEMONIC_LEA &&
				  is_frame(&loop[i].operands[j]);
		calls |= loop[i].flow == MAL_FLOW_CALL;
	}
	if (calls && passes && round->slot_count)
		return 0;
	if (calls)
		round->written |= results;
	for (size_t i = 0; calls && i < count; i++)
		if (loop[i].flow == MAL_FLOW_CALL && !is_harmless(image, &loop[i], 0))
			return 0;
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		round->made_of[reg] = round->written & MAL_BIT(reg) ? KEPT : 0;
	round->made_of[MAL_FLAGS] = KEPT;
	return 1;
}

/* Whether the loop of COUNT instructions waits. */
static int is_wait(const struct mal_image *image, const struct mal_instruction *loop, size_t count)
{
	uint64_t first = loop->address, last = loop[count - 1].address;
	struct round round = {0};
	/* Left by a jump or a return, which a branch within the loop leads to or around. */
	int jumps = 0;

	if (!prepare(&round, image, loop, count))
		return 0;
	for (size_t i = 0; i < count; i++)
		jumps |= loop[i].flow == MAL_FLOW_RETURN || loop[i].flow == MAL_FLOW_TAIL ||
			 loop[i].flow == MAL_FLOW_STOP ||
			 (loop[i].flow == MAL_FLOW_JUMP &&
			  (loop[i].target < first || loop[i].target > last));
	for (size_t i = 0; i < count; i++) {
		int leaves = jumps || loop[i].target < first || loop[i].target > last;

		if (loop[i].flow == MAL_FLOW_NEXT)
			step(&round, &loop[i]);
		else if (loop[i].flow == MAL_FLOW_CALL)
			step_call(&round, image, &loop[i]);
		else if (loop[i].flow == MAL_FLOW_BRANCH && (leaves || i == count - 1))
			round.ends |= sources(&round, &loop[i]);
	}
	return round.ends & LOADED && !(round.ends & CHANGED);
}

int mal_waits(const struct mal_image *image, const struct mal_instruction *instructions,
	      size_t count)
{
	uint64_t steps = 0;

	for (size_t i = 0; i < count; i++) {
		const struct mal_instruction *at = &instructions[i];
		size_t low = 0, high = i + 1;

		if ((at->flow != MAL_FLOW_BRANCH && at->flow != MAL_FLOW_JUMP) || !at->target ||
		    at->target > at->address)
			continue;
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (instructions[middle].address < at->target)
				low = middle + 1;
			else
				high = middle;
		}
		if (low > i || instructions[low].address != at->target)
			continue;
		steps += i + 1 - low;
		if (steps > steps_most || is_wait(image, &instructions[low], i + 1 - low))
			return 1;
	}
	return 0;
}

#else

int mal_waits(const struct mal_image *image, const struct mal_instruction *instructions,
	      size_t count)
{
	(void)image;
	(void)instructions;
	(void)count;
	return 0;
}

#endif
