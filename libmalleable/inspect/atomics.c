/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* atomics.c: atomic operations: every further thread must leave memory as it is. */
#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/analysis.h"

/* Whether combining memory with VALUE leaves it as it is. */
static int is_neutral(struct mal_analysis *analysis, const struct mal_instruction *at,
		      mal_value value)
{
	const struct mal_node *expected =
		mal_node(&analysis->values, analysis->state->registers[MAL_RAX]);
	int64_t number;
	int known = mal_is_number(&analysis->values, value, &number);

	switch (at->action) {
	case MAL_ACTION_COMPARE_EXCHANGE:
		return value && value == analysis->state->registers[MAL_RAX] &&
		       expected->kind == MAL_SYMBOL;
	case MAL_ACTION_AND: return known && number == -1;
	case MAL_ACTION_ADD:
	case MAL_ACTION_SUBTRACT:
	case MAL_ACTION_OR:
	case MAL_ACTION_CLEAR_SAME:
	case MAL_ACTION_EXCHANGE_ADD: return known && number == 0;
	default: return 0;
	}
}

void mal_step_atomic(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_state *state = analysis->state;
	mal_value address = 0, value = mal_number(&analysis->values, 1);

	for (unsigned int i = 0; i < at->operand_count; i++) {
		if (at->operands[i].kind == MAL_OPERAND_MEMORY) {
			address = mal_address(analysis, &at->operands[i]);
			continue;
		}
		value = mal_read(analysis, &at->operands[i]);
		/* All threads' lengths, each once, add up to the same. */
		if (at->action != MAL_ACTION_ADD || analysis->values.inner ||
		    !mal_is_length(&analysis->values, value))
			mal_check_value(analysis, value, "in an atomic operation");
	}
	if (mal_node(&analysis->values, address)->kind != MAL_STACK) {
		mal_check_address(analysis, address, 1);
		mal_effect(analysis, MAL_EFFECT_ATOMIC);
		if (analysis->without && analysis->graph.blocks[analysis->block].ends &&
		    !is_neutral(analysis, at, value))
			mal_bind(analysis, "an atomic operation of every thread", NULL);
	} else if (at->action != MAL_ACTION_OR) {
		mal_forget_slots(analysis, mal_node(&analysis->values, address)->key,
				 mal_node(&analysis->values, address)->key + 8);
	}
	for (unsigned int reg = 0; reg < 16; reg++)
		if (at->writes & MAL_BIT(reg))
			state->registers[reg] = mal_fresh(analysis, 1, 0);
	state->load_count = 0;
	state->left = mal_fresh(analysis, 7, 0);
	state->right = mal_number(&analysis->values, 0);
}
