/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jump_tables.c: where an indirect jump of a switch goes, by the tables that compilers write. */
#include <Zydis/Zydis.h>
#include <string.h>

#include "libmalleable/prover/code/flow.h"

/* What is known of a table. */
struct table {
	uint64_t address;
	int relative;
};

/* The only table whose address is ever put into REG, 0 where there is none or more. */
static uint64_t table_in(const struct mal_image *image, const struct mal_instruction *instructions,
			 size_t count, uint8_t reg)
{
	uint64_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct mal_instruction *at = &instructions[i];
		uint64_t address = (uint64_t)at->operands[1].number;

		if (at->mnemonic != ZYDIS_MNEMONIC_LEA || at->operands[0].reg != reg ||
		    at->operands[1].base != MAL_NO_REGISTER ||
		    at->operands[1].index != MAL_NO_REGISTER ||
		    mal_image_executable(image, address) || !mal_image_constant(image, address))
			continue;
		/* The last one before the jump, if it is near. */
		if (count - i < 8)
			return address;
		if (found && found != address)
			return 0;
		found = address;
	}
	return found;
}

static bool find_table(const struct mal_image *image, const struct mal_instruction *instructions,
		       size_t count, struct table *table)
{
	const struct mal_operand *to = &instructions[count - 1].operands[0];

	*table = (struct table){0};
	if (to->kind == MAL_OPERAND_MEMORY && to->scale == 8 && to->index != MAL_NO_REGISTER) {
		table->address = to->base == MAL_NO_REGISTER
					 ? (uint64_t)to->number
					 : table_in(image, instructions, count, to->base);
		return table->address != 0;
	}
	if (to->kind != MAL_OPERAND_REGISTER)
		return 0;
	/* movsxd to, [base + index * 4]; add to, base. */
	for (size_t back = 2; back < 8 && back <= count; back++) {
		const struct mal_instruction *at = &instructions[count - back];

		if (at->mnemonic == ZYDIS_MNEMONIC_ADD && at->operands[0].reg == to->reg &&
		    at->operands[1].kind == MAL_OPERAND_REGISTER) {
			uint64_t left = table_in(image, instructions, count, at->operands[1].reg);
			uint64_t right = table_in(image, instructions, count, to->reg);

			table->relative = 1;
			table->address = left ? left : right;
			return table->address != 0;
		}
	}
	return 0;
}

static bool entry_at(const struct mal_image *image, const struct table *table, size_t i,
		     uint64_t *target)
{
	int32_t distance;
	const struct mal_slot *slot;

	if (table->relative) {
		if (!mal_image_copy(image, table->address + 4 * i, &distance, sizeof(distance)))
			return 0;
		*target = table->address + (uint64_t)(int64_t)distance;
		return 1;
	}
	slot = mal_image_slot(image, table->address + 8 * i);
	if (slot && slot->kind == MAL_SLOT_ADDRESS) {
		*target = slot->value;
		return 1;
	}
	return mal_image_copy(image, table->address + 8 * i, target, sizeof(*target));
}

/* How many cases the switch has, or at least, by the comparison before it; 0: unknown. */
static size_t cases(const struct mal_instruction *instructions, size_t count, int *exact)
{
	for (size_t back = 2; back < 16 && back <= count; back++) {
		const struct mal_instruction *at = &instructions[count - back];

		*exact = at[1].mnemonic == ZYDIS_MNEMONIC_JNBE;
		if (at->mnemonic == ZYDIS_MNEMONIC_CMP &&
		    at->operands[1].kind == MAL_OPERAND_NUMBER && at->operands[1].number >= 0 &&
		    at->operands[1].number < MAL_FLOW_TARGETS)
			return (size_t)at->operands[1].number + 1;
	}
	return 0;
}

size_t mal_switch_targets(const struct mal_image *image, const struct mal_instruction *instructions,
			  size_t count, uint64_t *targets)
{
	const struct mal_function *function =
		mal_image_function(image, instructions[count - 1].address);
	int exact = 0;
	size_t found = 0, least = cases(instructions, count, &exact);
	struct table table;

	if (!function || least == 0 || !find_table(image, instructions, count, &table))
		return 0;
	/* All entries that lead into the function, which may be more than there are. */
	while (found < MAL_FLOW_TARGETS && !(exact && found == least)) {
		uint64_t target;

		if (!entry_at(image, &table, found, &target) || target < function->start ||
		    target >= function->end)
			break;
		targets[found++] = target;
	}
	return found < least || found == MAL_FLOW_TARGETS ? 0 : found;
}
