/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * turn.c: one instruction after the other, on terms.
 *
 * Invariant: what two pieces of code make is one term only if it is the same, whatever was in
 * registers and memory before; what no term stands for fails. Programs: t/inspect/programs/turns.c
 * (t/t0011-inspect.t: unrolled loops are one turn again where all turns are alike).
 */
#include "libmalleable/prover/code/turn.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/analysis.h"

/* Kinds of terms; those of instructions follow, by their mnemonics. */
enum {
	UNSET,
	PART,
	HALF,
	MERGED,
	LOADED,
	STORED,
	FORWARDED,
	CALLED,
	GIVEN,
	CHANGED,
	COMPARED,
	RESULT,
	OPERAND,
	INSTRUCTION,
};

static mal_value term(struct mal_values *values, int64_t what, int64_t more, const mal_value *parts)
{
	struct mal_node node = {.kind = MAL_SYMBOL,
				.size = 1,
				.key = (what << 40) | (more & 0xffffffffff),
				.a = parts[0],
				.b = parts[1],
				.c = parts[2]};

	return mal_intern(values, &node);
}

#define TERM(turn, what, more, ...) \
	term((turn)->values, what, more, (const mal_value[3]){__VA_ARGS__})

static bool is(const struct mal_node *node, int64_t what)
{
	return node->kind == MAL_SYMBOL && node->key >> 40 == what;
}

mal_value mal_turn_unset(struct mal_values *values, uint64_t which)
{
	return term(values, UNSET, (int64_t)which, (const mal_value[3]){0});
}

void mal_turn_begin(struct mal_turn *turn, struct mal_program *program, struct mal_values *values)
{
	*turn = (struct mal_turn){.program = program, .values = values};
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		turn->registers[reg] = mal_turn_unset(values, 1 + reg);
	turn->memory = mal_turn_unset(values, 0);
}

void mal_sum_add(const struct mal_values *values, struct mal_sum *sum, mal_value value,
		 int64_t factor)
{
	const struct mal_node *node = mal_node(values, value);
	uint32_t at = 0;

	if (node->kind == MAL_NUMBER) {
		sum->number += (int64_t)((uint64_t)node->key * (uint64_t)factor);
		return;
	}
	if (node->kind == MAL_ADD || node->kind == MAL_MULTIPLY) {
		if (node->kind == MAL_ADD)
			mal_sum_add(values, sum, node->a, factor);
		mal_sum_add(values, sum, node->b,
			    (int64_t)((uint64_t)factor * (uint64_t)node->key));
		return;
	}
	while (at < sum->count && sum->terms[at] < value)
		at++;
	if (at == sum->count || sum->terms[at] != value) {
		if (sum->count == MAL_TERMS) {
			sum->failed = 1;
			return;
		}
		for (uint32_t i = sum->count++; i > at; i--) {
			sum->terms[i] = sum->terms[i - 1];
			sum->factors[i] = sum->factors[i - 1];
		}
		sum->terms[at] = value;
		sum->factors[at] = 0;
	}
	sum->factors[at] = (int64_t)((uint64_t)sum->factors[at] + (uint64_t)factor);
	if (sum->factors[at])
		return;
	for (sum->count--; at < sum->count; at++) {
		sum->terms[at] = sum->terms[at + 1];
		sum->factors[at] = sum->factors[at + 1];
	}
}

mal_value mal_sum_value(struct mal_values *values, const struct mal_sum *sum)
{
	mal_value result = 0;

	for (uint32_t i = 0; i < sum->count; i++) {
		struct mal_node times = {.kind = MAL_MULTIPLY,
					 .size = 1,
					 .key = sum->factors[i],
					 .b = sum->terms[i]};
		struct mal_node add = {.kind = MAL_ADD, .size = 1, .key = 1, .a = result};

		add.b = sum->factors[i] == 1 ? sum->terms[i] : mal_intern(values, &times);
		result = result ? mal_intern(values, &add) : add.b;
	}
	if (sum->number || !result) {
		struct mal_node add = {.kind = MAL_ADD, .size = 1, .key = 1, .a = result};

		add.b = mal_number(values, sum->number);
		result = result ? mal_intern(values, &add) : add.b;
	}
	return result;
}

mal_value mal_turn_plus(struct mal_turn *turn, mal_value left, mal_value right, int64_t factor)
{
	struct mal_sum sum = {0};

	mal_sum_add(turn->values, &sum, left, 1);
	mal_sum_add(turn->values, &sum, right, factor);
	turn->failed |= sum.failed;
	return mal_sum_value(turn->values, &sum);
}

mal_value mal_turn_low(struct mal_turn *turn, mal_value value)
{
	struct mal_sum all = {0}, low = {0};

	mal_sum_add(turn->values, &all, value, 1);
	low.number = all.number;
	for (uint32_t i = 0; i < all.count; i++) {
		const struct mal_node *node = mal_node(turn->values, all.terms[i]);

		mal_sum_add(turn->values, &low, is(node, HALF) ? node->a : all.terms[i],
			    all.factors[i]);
	}
	low.number = (int32_t)low.number;
	for (uint32_t i = 0; i < low.count; i++)
		low.factors[i] = (int32_t)low.factors[i];
	turn->failed |= all.failed || low.failed;
	return mal_sum_value(turn->values, &low);
}

/* The lower half, and its sign or zeros above. */
static mal_value half(struct mal_turn *turn, mal_value value, bool sign)
{
	int64_t number;

	value = mal_turn_low(turn, value);
	if (mal_is_number(turn->values, value, &number))
		return sign ? value : mal_number(turn->values, (uint32_t)number);
	return TERM(turn, HALF, sign, value);
}

mal_value mal_turn_half(struct mal_turn *turn, mal_value value)
{
	return half(turn, value, 0);
}

bool mal_turn_is_half(const struct mal_values *values, mal_value value)
{
	return is(mal_node(values, value), HALF) && !(mal_node(values, value)->key & 1);
}

bool mal_turn_clears(const struct mal_instruction *at)
{
	return at->action == MAL_ACTION_CLEAR_SAME && at->mnemonic != ZYDIS_MNEMONIC_SBB &&
	       mal_is_of_one(at) && at->operands[at->operand_count - 1].bytes >= 4;
}

static mal_value address_of(struct mal_turn *turn, const struct mal_operand *operand)
{
	mal_value address = mal_number(turn->values, operand->number);

	if (operand->base != MAL_NO_REGISTER)
		address = mal_turn_plus(turn, address, turn->registers[operand->base], 1);
	if (operand->index != MAL_NO_REGISTER)
		address = mal_turn_plus(turn, address, turn->registers[operand->index],
					operand->scale ? operand->scale : 1);
	return address;
}

/* Whether two places are apart, and how far the second one is behind the first. */
static bool are_apart(struct mal_turn *turn, const struct mal_node *stored, mal_value address,
		      int64_t bytes, int64_t *distance)
{
	mal_value behind = mal_turn_plus(turn, address, stored->b, -1);

	return mal_is_number(turn->values, behind, distance) &&
	       (*distance >= (stored->key & 0xffff) || *distance <= -bytes);
}

static mal_value load(struct mal_turn *turn, mal_value address, int64_t bytes)
{
	mal_value memory = turn->memory;
	int64_t distance;

	for (;;) {
		const struct mal_node *node = mal_node(turn->values, memory);

		if (!is(node, STORED))
			break;
		if (node->b == address && (node->key & 0xffff) == bytes)
			return TERM(turn, FORWARDED, bytes, node->c);
		if (!are_apart(turn, node, address, bytes, &distance))
			break;
		memory = mal_node(turn->values, memory)->a;
	}
	return TERM(turn, LOADED, bytes, memory, address);
}

/* Stores that are apart from each other are in the order of their places. */
static mal_value store(struct mal_turn *turn, mal_value memory, mal_value address, int64_t bytes,
		       mal_value value)
{
	struct mal_node node = *mal_node(turn->values, memory);
	int64_t distance;

	if (is(&node, STORED) && are_apart(turn, &node, address, bytes, &distance) && distance < 0)
		return TERM(turn, STORED, node.key & 0xffff,
			    store(turn, node.a, address, bytes, value), node.b, node.c);
	return TERM(turn, STORED, bytes, memory, address, value);
}

static mal_value read(struct mal_turn *turn, const struct mal_instruction *at, unsigned int i)
{
	const struct mal_operand *operand = &at->operands[i];
	mal_value value;

	switch (operand->kind) {
	case MAL_OPERAND_NUMBER: return mal_number(turn->values, operand->number);
	case MAL_OPERAND_MEMORY:
		value = load(turn, address_of(turn, operand), operand->bytes);
		return operand->bytes == 4 ? half(turn, value, 0) : value;
	case MAL_OPERAND_REGISTER: break;
	default: turn->failed = 1; return 0;
	}
	if (operand->reg == MAL_NO_REGISTER || operand->high) {
		turn->failed = 1;
		return 0;
	}
	value = turn->registers[operand->reg];
	if (operand->reg >= 16 || operand->bytes > 4)
		return value;
	return operand->bytes == 4 ? half(turn, value, 0)
				   : TERM(turn, PART, operand->bytes, mal_turn_low(turn, value));
}

static void write(struct mal_turn *turn, const struct mal_operand *operand, mal_value value)
{
	/* What is apart from vectors of addresses is not known. */
	if (operand->kind == MAL_OPERAND_MEMORY && operand->index != MAL_NO_REGISTER &&
	    operand->index >= MAL_XMM0)
		turn->failed = 1;
	else if (operand->kind == MAL_OPERAND_MEMORY)
		turn->memory = store(turn, turn->memory, address_of(turn, operand), operand->bytes,
				     operand->bytes == 4 ? mal_turn_low(turn, value) : value);
	else if (operand->kind != MAL_OPERAND_REGISTER || operand->reg == MAL_NO_REGISTER ||
		 operand->high)
		turn->failed = 1;
	else if (operand->reg < 16 && operand->bytes < 4)
		turn->registers[operand->reg] =
			TERM(turn, MERGED, operand->bytes, turn->registers[operand->reg], value);
	else
		turn->registers[operand->reg] =
			operand->reg < 16 && operand->bytes == 4 ? half(turn, value, 0) : value;
}

/* Whether AT copies 16 bytes, and clears what is behind them. */
static bool copies_half(const struct mal_instruction *at)
{
	const struct mal_operand *to = &at->operands[0];

	return at->action == MAL_ACTION_MOVE && at->operand_count == 2 && to->bytes == 16 &&
	       to->kind == MAL_OPERAND_REGISTER && at->operands[1].kind == MAL_OPERAND_REGISTER &&
	       (at->encoded[0] == 0xc4 || at->encoded[0] == 0xc5 || at->encoded[0] == 0x62);
}

/* Of vectors that may be wider, 16 bytes stay. */
static void clear_halves(struct mal_turn *turn)
{
	for (unsigned int reg = MAL_XMM0; turn->wide && reg < MAL_MASK0; reg++)
		turn->registers[reg] = TERM(turn, PART, 16, turn->registers[reg]);
}

/* What no operand shows: of AVX-512 how it rounds, and what becomes of what a mask leaves out. */
static int64_t hidden(const struct mal_instruction *at)
{
	return at->encoded[0] == 0x62 ? at->encoded[3] & 0xf0 : 0;
}

/* Sums and products are the same whichever operand is first. */
static void sort_operands(const struct mal_instruction *at, mal_value *values)
{
	mal_value *pair = values + (at->operand_count == 3), first = pair[0];

	if ((at->action != MAL_ACTION_FLOAT_ADD && at->action != MAL_ACTION_FLOAT_MULTIPLY &&
	     at->action != MAL_ACTION_VECTOR_ADD) ||
	    at->operand_count > 3 || pair[0] <= pair[1])
		return;
	pair[0] = pair[1];
	pair[1] = first;
}

/* All that is written follows from all that is read. */
static void step_any(struct mal_turn *turn, const struct mal_instruction *at)
{
	uint64_t reads = at->reads & ~at->addressing, writes = at->writes;
	mal_value values[4] = {0};
	mal_value all = TERM(turn, INSTRUCTION + at->mnemonic, hidden(at), 0);

	/* What is behind four operands was not kept. */
	turn->failed |= at->operand_count == 4 && at->operands[1].kind == MAL_OPERAND_REGISTER &&
			at->operands[1].reg >= MAL_MASK0;
	/* Shifted by 0, flags stay. */
	turn->failed |= writes & MAL_BIT(MAL_FLAGS) &&
			(at->action == MAL_ACTION_FOLD || at->action == MAL_ACTION_SHIFT_LEFT) &&
			at->operands[1].kind == MAL_OPERAND_REGISTER;
	for (unsigned int i = 0; i < at->operand_count; i++) {
		const struct mal_operand *operand = &at->operands[i];

		values[i] = operand->kind == MAL_OPERAND_NUMBER || operand->read ? read(turn, at, i)
										 : 0;
		if (operand->kind == MAL_OPERAND_REGISTER && operand->reg != MAL_NO_REGISTER) {
			reads &= ~MAL_BIT(operand->reg);
			writes &= ~MAL_BIT(operand->reg);
		}
	}
	sort_operands(at, values);
	/* How wide it is shows in the first operand, or where one is wide. */
	for (unsigned int i = 0; i < at->operand_count; i++)
		all = TERM(turn, OPERAND,
			   i == 0 || at->operands[i].bytes > 16 ? at->operands[i].bytes : 0, all,
			   values[i]);
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (reads & MAL_BIT(reg))
			all = TERM(turn, OPERAND, 1 << 24 | reg, all, turn->registers[reg]);
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].written)
			write(turn, &at->operands[i], TERM(turn, RESULT, i, all));
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (writes & MAL_BIT(reg))
			/* Some set some flags alone. */
			turn->registers[reg] = TERM(turn, RESULT, 100 + reg, all,
						    reg == MAL_FLAGS && at->action == MAL_ACTION_ANY
							    ? turn->registers[reg]
							    : 0);
}

/* Sums of whole numbers; false where it is none. */
static bool step_sum(struct mal_turn *turn, const struct mal_instruction *at)
{
	unsigned int count = at->operand_count;
	mal_value a, b, result, before = turn->registers[MAL_FLAGS];
	bool steps = at->mnemonic == ZYDIS_MNEMONIC_INC || at->mnemonic == ZYDIS_MNEMONIC_DEC;
	int64_t number = 1;

	if (!count || at->operands[0].bytes < 4 || at->operands[0].high ||
	    (at->operands[0].kind == MAL_OPERAND_REGISTER && at->operands[0].reg >= 16))
		return 0;
	a = read(turn, at, count == 3 ? 1 : 0);
	b = count > 1 ? read(turn, at, count - 1) : mal_number(turn->values, 1);
	if (at->mnemonic == ZYDIS_MNEMONIC_ADD || at->mnemonic == ZYDIS_MNEMONIC_INC) {
		result = mal_turn_plus(turn, a, b, 1);
	} else if (at->mnemonic == ZYDIS_MNEMONIC_SUB || at->mnemonic == ZYDIS_MNEMONIC_DEC) {
		result = mal_turn_plus(turn, a, b, -1);
	} else if (at->mnemonic == ZYDIS_MNEMONIC_NEG || at->mnemonic == ZYDIS_MNEMONIC_NOT) {
		number = at->mnemonic == ZYDIS_MNEMONIC_NOT ? -1 : 0;
		result = mal_turn_plus(turn, mal_number(turn->values, number), a, -1);
	} else if ((at->mnemonic == ZYDIS_MNEMONIC_IMUL || at->mnemonic == ZYDIS_MNEMONIC_SHL) &&
		   count > 1 && mal_is_number(turn->values, b, &number)) {
		if (at->mnemonic == ZYDIS_MNEMONIC_SHL)
			number = (int64_t)1 << (number & (at->operands[0].bytes == 8 ? 63 : 31));
		result = mal_turn_plus(turn, mal_number(turn->values, 0), a, number);
	} else {
		return 0;
	}
	write(turn, &at->operands[0], result);
	if (at->mnemonic == ZYDIS_MNEMONIC_SUB)
		turn->registers[MAL_FLAGS] = TERM(turn, COMPARED, at->operands[0].bytes, a, b);
	else if (at->writes & MAL_BIT(MAL_FLAGS))
		turn->registers[MAL_FLAGS] =
			TERM(turn, INSTRUCTION + at->mnemonic, at->operands[0].bytes, a,
			     steps ? before : b, result);
	return 1;
}

/* Whether it sets the first word of a vector, and clears the others. */
static bool is_first(const struct mal_instruction *at)
{
	static const uint16_t some[] = {ZYDIS_MNEMONIC_MOVSD,  ZYDIS_MNEMONIC_MOVSS,
					ZYDIS_MNEMONIC_VMOVSD, ZYDIS_MNEMONIC_VMOVSS,
					ZYDIS_MNEMONIC_MOVQ,   ZYDIS_MNEMONIC_VMOVQ,
					ZYDIS_MNEMONIC_MOVD,   ZYDIS_MNEMONIC_VMOVD};
	bool is = 0;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		is |= at->mnemonic == some[i];
	return is;
}

/* Copies; false where it makes another value of it. */
static bool step_move(struct mal_turn *turn, const struct mal_instruction *at)
{
	const struct mal_operand *to = &at->operands[0], *from = &at->operands[1];
	bool general = to->kind == MAL_OPERAND_REGISTER && to->reg < 16;

	if (at->operand_count != 2 || to->read)
		return 0;
	if (turn->wide && copies_half(at)) {
		write(turn, to, TERM(turn, PART, 16, read(turn, at, 1)));
		return 1;
	}
	if (at->mnemonic == ZYDIS_MNEMONIC_MOVSXD) {
		write(turn, to, half(turn, read(turn, at, 1), 1));
		return 1;
	}
	if (to->kind == MAL_OPERAND_REGISTER && from->kind == MAL_OPERAND_REGISTER &&
	    (general ? from->reg >= 16 || from->bytes < 4
		     : from->reg < 16 || from->bytes != to->bytes || is_first(at)))
		return 0;
	if (from->kind == MAL_OPERAND_MEMORY && from->bytes != to->bytes && !is_first(at))
		return 0;
	write(turn, to, read(turn, at, 1));
	return 1;
}

/* All that a function may change follows from what it is given, and from memory. */
static void step_call(struct mal_turn *turn, const struct mal_instruction *at)
{
	const struct mal_image *image = turn->program->image;
	const struct mal_slot *slot = mal_call_slot(image, at);
	uint64_t target = mal_call_target(image, at),
		 given = mal_taken_by(image, at, mal_given_most, 0);
	const struct mal_reach *reach = target ? mal_closure(turn->program, target) : NULL;
	uint64_t writes = !target ? MAL_VOLATILE : reach->bound.text ? ~(uint64_t)0 : reach->writes;
	mal_value all = TERM(turn, CALLED, (int64_t)(slot ? slot->address : target), turn->memory,
			     slot || target ? 0 : read(turn, at, 0));

	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (given & MAL_BIT(reg))
			all = TERM(turn, GIVEN, reg, all, turn->registers[reg]);
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if ((writes | MAL_BIT(MAL_FLAGS)) & ~mal_saved & MAL_BIT(reg))
			turn->registers[reg] = TERM(turn, CHANGED, reg, all);
	/* What takes others than numbers may set them, or return something else each time. */
	if (!slot || mal_slot_external(slot)->kind != MAL_EXTERNAL_PURE ||
	    mal_slot_external(slot)->integers)
		turn->memory = TERM(turn, CHANGED, 100, all);
}

/* As an AND, of which only the flags are kept. */
static void step_test(struct mal_turn *turn, const struct mal_instruction *at)
{
	mal_value left = read(turn, at, 0), right = read(turn, at, 1);
	mal_value all = TERM(turn, INSTRUCTION + ZYDIS_MNEMONIC_AND, 0, 0);

	all = TERM(turn, OPERAND, at->operands[0].bytes << 8, all, left);
	all = TERM(turn, OPERAND, at->operands[1].bytes << 8, all, right);
	turn->registers[MAL_FLAGS] = TERM(turn, COMPARED, at->operands[0].bytes,
					  left == right ? left : TERM(turn, RESULT, 0, all),
					  mal_number(turn->values, 0));
}

/* Whether AT does no more than what terms stand for. */
static bool is_followed(const struct mal_instruction *at)
{
	bool calls = at->flow == MAL_FLOW_CALL;

	/* Addresses of 32 bits are not known. */
	return at->mnemonic != ZYDIS_MNEMONIC_VZEROALL && (at->encoded[0] != 0x67 || calls) &&
	       !at->lock && !at->repeat && !at->system && !at->thread_local_ &&
	       !((at->reads | at->writes) & MAL_BIT(MAL_X87)) && at->action != MAL_ACTION_STRING &&
	       (calls || (!(at->writes & MAL_BIT(MAL_RSP)) && at->flow <= MAL_FLOW_BRANCH));
}

void mal_turn_step(struct mal_turn *turn, const struct mal_instruction *at)
{
	mal_value *flags = &turn->registers[MAL_FLAGS], zero = mal_number(turn->values, 0);

	for (unsigned int i = 0; i < at->operand_count; i++)
		turn->wide |= at->operands[i].bytes > 16;
	if (at->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER)
		clear_halves(turn);
	if (!is_followed(at)) {
		turn->failed = 1;
	} else if (at->flow == MAL_FLOW_CALL) {
		step_call(turn, at);
	} else if (at->mnemonic == ZYDIS_MNEMONIC_CDQE) {
		turn->registers[MAL_RAX] = half(turn, turn->registers[MAL_RAX], 1);
	} else if (at->action == MAL_ACTION_LEA) {
		write(turn, &at->operands[0], address_of(turn, &at->operands[1]));
	} else if (at->action == MAL_ACTION_COMPARE) {
		*flags = TERM(turn, COMPARED, at->operands[0].bytes, read(turn, at, 0),
			      read(turn, at, 1));
	} else if (at->action == MAL_ACTION_TEST) {
		step_test(turn, at);
	} else if (mal_turn_clears(at)) {
		write(turn, &at->operands[0], zero);
		if (at->writes & MAL_BIT(MAL_FLAGS))
			*flags = TERM(turn, COMPARED, 4, zero, zero);
	} else if (at->action != MAL_ACTION_NONE && at->action != MAL_ACTION_JUMP &&
		   !(at->action == MAL_ACTION_MOVE && step_move(turn, at)) && !step_sum(turn, at)) {
		step_any(turn, at);
	}
}

/* The operand I, counted from the last one, of the instruction that made VALUE. */
static mal_value operand_of(const struct mal_values *values, mal_value value, unsigned int i)
{
	const struct mal_node *node = mal_node(values, value);

	for (value = node->a; is(mal_node(values, value), OPERAND) && i; i--)
		value = mal_node(values, value)->a;
	return is(mal_node(values, value), OPERAND) ? mal_node(values, value)->b : 0;
}

static bool is_made_by(const struct mal_values *values, mal_value value, int mnemonic)
{
	const struct mal_node *node = mal_node(values, value);

	if (!is(node, RESULT))
		return 0;
	for (node = mal_node(values, node->a); is(node, OPERAND);)
		node = mal_node(values, node->a);
	return is(node, INSTRUCTION + mnemonic);
}

mal_value mal_turn_shifted(const struct mal_values *values, mal_value value, int64_t *number)
{
	if (!is_made_by(values, value, ZYDIS_MNEMONIC_SHR) &&
	    !is_made_by(values, value, ZYDIS_MNEMONIC_SAR))
		return 0;
	return mal_is_number(values, operand_of(values, value, 0), number)
		       ? operand_of(values, value, 1)
		       : 0;
}

mal_value mal_turn_masked(const struct mal_values *values, mal_value value, int64_t *number)
{
	if (is(mal_node(values, value), HALF))
		value = mal_node(values, value)->a;
	if (!is_made_by(values, value, ZYDIS_MNEMONIC_AND) ||
	    !mal_is_number(values, operand_of(values, value, 0), number))
		return 0;
	value = operand_of(values, value, 1);
	/* The lowest byte is enough for small masks. */
	return *number >= 0 && *number < 256 && is(mal_node(values, value), PART)
		       ? mal_node(values, value)->a
		       : value;
}

mal_value mal_turn_compared(struct mal_turn *turn, uint8_t condition)
{
	mal_value flags = turn->registers[MAL_FLAGS], value = 0;
	struct mal_node node = *mal_node(turn->values, flags);
	bool equal = condition == MAL_EQUAL || condition == MAL_NOT_EQUAL;

	if (is(&node, COMPARED))
		value = mal_turn_plus(turn, node.a, node.b, -1);
	else if (is_made_by(turn->values, flags, ZYDIS_MNEMONIC_AND))
		return TERM(turn, RESULT, 0, node.a);
	else if (equal && node.kind == MAL_SYMBOL && node.key >> 40 > INSTRUCTION)
		value = node.c;
	return value && (node.key & 0xffff) == 4 ? mal_turn_low(turn, value) : value;
}
