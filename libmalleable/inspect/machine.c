/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* machine.c: one instruction after the other. Whole numbers are computed, others are mixed. */
#include "libmalleable/inspect/machine.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/shapes.h"

/* Small numbers: less than that many. */
enum { SMALL = 41 };

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	a = (a ^ a >> 32) * 0xc4ceb9fe1a85ec53u;
	return a ^ a >> 29;
}

static uint64_t cut(uint64_t value, unsigned int bytes)
{
	return bytes >= 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1);
}

static int64_t extend(uint64_t value, unsigned int bytes)
{
	return bytes >= 8 ? (int64_t)value
			  : (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

void mal_machine_begin(struct mal_machine *machine, uint64_t seed, uint64_t scale, int apart)
{
	memset(machine, 0, sizeof(*machine));
	machine->scale = scale;
	machine->apart = apart;
	for (uint64_t i = 0; i < MAL_REGISTERS; i++) {
		uint64_t number = mix(seed, i + 1);

		machine->registers[i] =
			i < 16 ? number % SMALL * scale + (apart ? i << 36 : 0) : number;
	}
	machine->registers[MAL_RSP] = (uint64_t)1 << 44;
}

static uint64_t address_of(const struct mal_machine *machine, const struct mal_operand *operand)
{
	uint64_t address = (uint64_t)operand->number;

	if (operand->base != MAL_NO_REGISTER)
		address += machine->registers[operand->base];
	if (operand->index != MAL_NO_REGISTER)
		address +=
			machine->registers[operand->index] * (operand->scale ? operand->scale : 1);
	return address;
}

static uint64_t load(struct mal_machine *machine, uint64_t address, unsigned int bytes, int whole)
{
	uint64_t value = mix(address, bytes + 1000);

	for (uint32_t i = 0; i < machine->store_count; i++) {
		const struct mal_machine_store *store = &machine->stores[i];

		if (store->address == address && store->bytes == bytes)
			return store->value;
		if (store->address < address + bytes && address < store->address + store->bytes)
			machine->failed = 1;
	}
	if (!whole)
		return value;
	return value % SMALL * machine->scale +
	       (bytes == 8 && machine->apart ? value >> 54 << 44 : 0);
}

static void store(struct mal_machine *machine, uint64_t address, unsigned int bytes, uint64_t value)
{
	uint32_t i = 0;

	while (i < machine->store_count &&
	       (machine->stores[i].address != address || machine->stores[i].bytes != bytes)) {
		if (machine->stores[i].address < address + bytes &&
		    address < machine->stores[i].address + machine->stores[i].bytes)
			machine->failed = 1;
		i++;
	}
	if (i == MAL_MACHINE_STORES) {
		machine->failed = 1;
		return;
	}
	machine->stores[i] = (struct mal_machine_store){address, cut(value, bytes), bytes};
	machine->store_count += i == machine->store_count;
}

static int is_whole(const struct mal_operand *operand)
{
	return operand->kind == MAL_OPERAND_REGISTER && operand->reg < 16;
}

static uint64_t read(struct mal_machine *machine, const struct mal_instruction *at, unsigned int i)
{
	const struct mal_operand *operand = &at->operands[i];

	switch (operand->kind) {
	case MAL_OPERAND_NUMBER: return (uint64_t)operand->number;
	case MAL_OPERAND_MEMORY:
		return load(machine, address_of(machine, operand), operand->bytes,
			    is_whole(&at->operands[0]) || at->action == MAL_ACTION_COMPARE ||
				    at->action == MAL_ACTION_TEST);
	case MAL_OPERAND_REGISTER: break;
	default: return 0;
	}
	if (operand->reg == MAL_NO_REGISTER || operand->high) {
		machine->failed = 1;
		return 0;
	}
	return operand->reg < 16 ? cut(machine->registers[operand->reg], operand->bytes)
				 : machine->registers[operand->reg];
}

static void write(struct mal_machine *machine, const struct mal_operand *operand, uint64_t value)
{
	uint64_t *reg = &machine->registers[operand->reg % MAL_REGISTERS];

	if (operand->kind == MAL_OPERAND_MEMORY)
		store(machine, address_of(machine, operand), operand->bytes, value);
	else if (operand->kind != MAL_OPERAND_REGISTER || operand->reg == MAL_NO_REGISTER ||
		 operand->high)
		machine->failed = 1;
	else if (operand->reg >= 16 || operand->bytes >= 4)
		*reg = operand->reg >= 16 ? value : cut(value, operand->bytes);
	else
		*reg = (*reg ^ cut(*reg, operand->bytes)) | cut(value, operand->bytes);
}

static void compare(struct mal_machine *machine, uint64_t left, uint64_t right, unsigned int bytes)
{
	machine->left = left;
	machine->right = right;
	machine->bytes = bytes;
}

int mal_machine_holds(struct mal_machine *machine, uint8_t condition)
{
	/* A condition and its contrary, as they are of what is not known. */
	static const uint8_t pairs[] = {
		[MAL_EQUAL] = 2,    [MAL_NOT_EQUAL] = 3,  [MAL_LESS] = 4,
		[MAL_NOT_LESS] = 5, [MAL_LESS_EQUAL] = 6, [MAL_MORE] = 7,
		[MAL_BELOW] = 8,    [MAL_NOT_BELOW] = 9,  [MAL_BELOW_EQUAL] = 10,
		[MAL_ABOVE] = 11,   [MAL_NEGATIVE] = 12,  [MAL_NOT_NEGATIVE] = 13,
	};
	int is_unsigned = condition >= MAL_BELOW && condition <= MAL_ABOVE;

	if (condition == MAL_NO_CONDITION || condition >= MAL_OTHER_CONDITION) {
		machine->failed = 1;
		return 0;
	}
	if (!machine->bytes)
		return (mix(machine->left, pairs[condition] / 2) ^ pairs[condition]) & 1;
	if (is_unsigned)
		return mal_compare((enum mal_condition)condition,
				   (int64_t)cut(machine->left, machine->bytes),
				   (int64_t)cut(machine->right, machine->bytes));
	return mal_compare((enum mal_condition)condition, extend(machine->left, machine->bytes),
			   extend(machine->right, machine->bytes));
}

/* What whole numbers become; 0 where that is not computed. */
static int compute(struct mal_machine *machine, const struct mal_instruction *at)
{
	unsigned int count = at->operand_count, bytes = at->operands[0].bytes;
	/* The last two operands, or the only one. */
	uint64_t a = count > 0 ? read(machine, at, count == 3 ? 1 : 0) : 0;
	uint64_t b = count > 1 ? read(machine, at, count - 1) : 0, value;

	switch (at->mnemonic) {
	case ZYDIS_MNEMONIC_ADD: value = a + b; break;
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_SUB: value = a - b; break;
	case ZYDIS_MNEMONIC_INC: value = a + 1; break;
	case ZYDIS_MNEMONIC_DEC: value = a - 1; break;
	case ZYDIS_MNEMONIC_NEG: value = 0 - a; break;
	case ZYDIS_MNEMONIC_NOT: value = ~a; break;
	case ZYDIS_MNEMONIC_IMUL:
		if (count < 2)
			return 0;
		value = a * b;
		break;
	case ZYDIS_MNEMONIC_SHL: value = a << (b & (bytes == 8 ? 63 : 31)); break;
	case ZYDIS_MNEMONIC_SHR: value = a >> (b & (bytes == 8 ? 63 : 31)); break;
	case ZYDIS_MNEMONIC_SAR:
		value = (uint64_t)(extend(a, bytes) >> (b & (bytes == 8 ? 63 : 31)));
		break;
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_AND: value = a & b; break;
	case ZYDIS_MNEMONIC_ANDN: value = ~a & b; break;
	case ZYDIS_MNEMONIC_OR: value = a | b; break;
	case ZYDIS_MNEMONIC_XOR: value = a ^ b; break;
	default: return 0;
	}
	if (at->action == MAL_ACTION_COMPARE || at->action == MAL_ACTION_SUBTRACT)
		compare(machine, a, b, bytes);
	else if (at->writes & MAL_BIT(MAL_FLAGS))
		compare(machine, value, 0, bytes);
	if (at->operands[0].written)
		write(machine, &at->operands[0], value);
	return 1;
}

static int step_move(struct mal_machine *machine, const struct mal_instruction *at)
{
	const struct mal_operand *to = &at->operands[0], *from = &at->operands[1];
	uint64_t value;

	if (at->operand_count != 2 || to->read)
		return 0;
	value = read(machine, at, 1);
	if (at->mnemonic == ZYDIS_MNEMONIC_MOVSX || at->mnemonic == ZYDIS_MNEMONIC_MOVSXD)
		value = (uint64_t)extend(value, from->bytes);
	else if (!is_whole(to) && to->kind == MAL_OPERAND_REGISTER &&
		 (from->kind != MAL_OPERAND_REGISTER || from->bytes != to->bytes))
		value = mix(value, at->mnemonic);
	write(machine, to, value);
	return 1;
}

/* All that is written follows from all that is read. */
static void step_any(struct mal_machine *machine, const struct mal_instruction *at)
{
	uint64_t value = mix(at->mnemonic, at->operand_count), reads = at->reads & ~at->addressing;
	uint64_t writes = at->writes;

	for (unsigned int i = 0; i < at->operand_count; i++) {
		const struct mal_operand *operand = &at->operands[i];

		value = mix(value, operand->bytes);
		if (operand->kind == MAL_OPERAND_NUMBER || operand->read)
			value = mix(value, read(machine, at, i));
		if (operand->kind == MAL_OPERAND_REGISTER && operand->reg != MAL_NO_REGISTER) {
			reads &= ~MAL_BIT(operand->reg);
			writes &= ~MAL_BIT(operand->reg);
		}
	}
	for (unsigned int reg = 0; reg < MAL_FLAGS; reg++)
		if (reads & MAL_BIT(reg))
			value = mix(value, machine->registers[reg]);
	if (reads & MAL_BIT(MAL_FLAGS))
		value = mix(mix(value, machine->left), mix(machine->right, machine->bytes));
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].written)
			write(machine, &at->operands[i], mix(value, i));
	for (unsigned int reg = 0; reg < MAL_FLAGS; reg++)
		if (writes & MAL_BIT(reg))
			machine->registers[reg] = mix(value, reg + 100);
	if (writes & MAL_BIT(MAL_FLAGS))
		compare(machine, value, 0, 0);
	if ((reads | writes) & MAL_BIT(MAL_X87))
		machine->failed = 1;
}

static int is_same(const struct mal_instruction *at)
{
	unsigned int last = at->operand_count - 1;

	return at->action == MAL_ACTION_CLEAR_SAME && at->mnemonic != ZYDIS_MNEMONIC_SBB &&
	       at->operand_count >= 2 && at->operands[last].kind == MAL_OPERAND_REGISTER &&
	       at->operands[last - 1].kind == MAL_OPERAND_REGISTER &&
	       at->operands[last].reg == at->operands[last - 1].reg;
}

void mal_machine_step(struct mal_machine *machine, const struct mal_instruction *at)
{
	if (at->lock || at->repeat || at->system || at->thread_local_ ||
	    at->flow == MAL_FLOW_CALL || at->action == MAL_ACTION_STRING ||
	    (at->action >= MAL_ACTION_PUSH && at->action <= MAL_ACTION_LEAVE)) {
		machine->failed = 1;
		return;
	}
	switch (at->action) {
	case MAL_ACTION_NONE:
	case MAL_ACTION_JUMP: return;
	case MAL_ACTION_LEA:
		write(machine, &at->operands[0], address_of(machine, &at->operands[1]));
		return;
	case MAL_ACTION_EXTEND:
		if (at->mnemonic != ZYDIS_MNEMONIC_CDQE)
			break;
		machine->registers[MAL_RAX] = (uint64_t)extend(machine->registers[MAL_RAX], 4);
		return;
	case MAL_ACTION_SET:
		write(machine, &at->operands[0],
		      (uint64_t)mal_machine_holds(machine, at->condition));
		return;
	case MAL_ACTION_CHOOSE:
		write(machine, &at->operands[0],
		      read(machine, at, mal_machine_holds(machine, at->condition) ? 1 : 0));
		return;
	case MAL_ACTION_MOVE:
		if (step_move(machine, at))
			return;
		break;
	default: break;
	}
	if (is_same(at)) {
		write(machine, &at->operands[0], 0);
		if (at->writes & MAL_BIT(MAL_FLAGS))
			compare(machine, 0, 0, 8);
		return;
	}
	if (!compute(machine, at))
		step_any(machine, at);
}

int mal_machine_same(const struct mal_machine *a, const struct mal_machine *b)
{
	uint64_t sums[2] = {0, 0};

	for (uint32_t i = 0; i < a->store_count; i++)
		sums[0] += mix(mix(a->stores[i].address, a->stores[i].value), a->stores[i].bytes);
	for (uint32_t i = 0; i < b->store_count; i++)
		sums[1] += mix(mix(b->stores[i].address, b->stores[i].value), b->stores[i].bytes);
	return a->store_count == b->store_count && sums[0] == sums[1];
}
