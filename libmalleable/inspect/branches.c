/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* branches.c: which branches threads take differently. */
#include "libmalleable/inspect/analysis.h"
#include "libmalleable/inspect/changes.h"

#ifdef HAVE_ZYDIS

int mal_condition_of(uint16_t mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_JB:
	case ZYDIS_MNEMONIC_JL:
	case ZYDIS_MNEMONIC_CMOVB:
	case ZYDIS_MNEMONIC_CMOVL: return MAL_LESS;
	case ZYDIS_MNEMONIC_JNB:
	case ZYDIS_MNEMONIC_JNL:
	case ZYDIS_MNEMONIC_CMOVNB:
	case ZYDIS_MNEMONIC_CMOVNL: return MAL_NOT_LESS;
	case ZYDIS_MNEMONIC_JBE:
	case ZYDIS_MNEMONIC_JLE:
	case ZYDIS_MNEMONIC_CMOVBE:
	case ZYDIS_MNEMONIC_CMOVLE: return MAL_NOT_MORE;
	case ZYDIS_MNEMONIC_JNBE:
	case ZYDIS_MNEMONIC_JNLE:
	case ZYDIS_MNEMONIC_CMOVNBE:
	case ZYDIS_MNEMONIC_CMOVNLE: return MAL_MORE_THAN;
	case ZYDIS_MNEMONIC_JZ: return MAL_EQUAL;
	case ZYDIS_MNEMONIC_JNZ: return MAL_UNEQUAL;
	default: return MAL_UNCLEAR;
	}
}

/* Bounds of shares, rounds and what is clean alone. */
static int is_bound(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	int threads = 0, rounds = 0;

	if (form->kind != MAL_LINEAR)
		return 0;
	for (unsigned int i = 0; i < form->count; i++)
		switch (analysis->values.symbols[form->terms[i].symbol].class) {
		case MAL_THREAD: threads++; break;
		case MAL_ROUND_THREADS: rounds++; break;
		case MAL_CLEAN:
		case MAL_LOW:
		case MAL_HIGH:
		case MAL_LENGTH:
		case MAL_ROUND: break;
		default: return 0;
		}
	return threads == rounds;
}

/* A loop from the thread's number on, before its step is known. */
static int is_cyclic_entry(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	int threads = 0;

	if (form->kind != MAL_LINEAR)
		return 0;
	for (unsigned int i = 0; i < form->count; i++) {
		enum mal_symbol_class class = analysis->values.symbols[form->terms[i].symbol].class;

		if (class == MAL_THREAD)
			threads++;
		else if (class == MAL_THREADS)
			threads += form->terms[i].times != 1;
		else if (class != MAL_CLEAN && class != MAL_ROUND_THREADS)
			return 0;
	}
	return threads == 1;
}

static void classify_symbol(struct mal_analysis *analysis, const struct mal_symbol *symbol,
			    int64_t against, struct mal_branch *branch, const uint32_t *next)
{
	int equal = branch->condition == MAL_EQUAL;

	if (branch->condition != MAL_EQUAL && branch->condition != MAL_UNEQUAL)
		return;
	switch (symbol->class) {
	case MAL_ONCE:
		if (against != 0 && against != 1)
			return;
		branch->class = MAL_BRANCH_ONCE;
		branch->one = next[(equal != 0) == (against == 1) ? 0 : 1];
		return;
	case MAL_THREAD:
		if (against != 0)
			return;
		branch->class = MAL_BRANCH_ONCE;
		branch->one = next[equal ? 0 : 1];
		return;
	case MAL_MORE: branch->class = MAL_BRANCH_MORE; return;
	case MAL_REDUCE: branch->class = MAL_BRANCH_REDUCE; return;
	default: (void)analysis; return;
	}
}

void mal_step_branch(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	struct mal_values *values = &analysis->values;
	struct mal_branch *branch = &analysis->branches[analysis->block];
	const struct mal_block *block = &analysis->graph.blocks[analysis->block];
	const struct mal_state *state = analysis->state;
	mal_value left = state->left, right = state->right;
	const struct mal_symbol *a, *b;
	const char *reason;
	int outside = -1;
	int64_t number;

	*branch = (struct mal_branch){.condition = mal_condition_of(instruction->mnemonic)};
	/* A branch that leaves a loop is looked at from outside. */
	for (uint32_t i = 0; block->loop >= 0 && i < block->next_count; i++)
		if (analysis->graph.blocks[block->next[i]].ends &&
		    !mal_flow_in_loop(&analysis->graph, block->loop, block->next[i]))
			outside = (int)block->next[i];
	if (instruction->mnemonic == ZYDIS_MNEMONIC_JRCXZ ||
	    instruction->mnemonic == ZYDIS_MNEMONIC_JECXZ) {
		left = state->registers[MAL_RCX];
		right = mal_number(values, 0);
		branch->condition = MAL_EQUAL;
	}
	reason = mal_shows(analysis, left, analysis->block, outside);
	if (!reason && right)
		reason = mal_shows(analysis, right, analysis->block, outside);
	if (!reason)
		reason = mal_compares_heap(analysis, left, right,
					   branch->condition == MAL_EQUAL ||
						   branch->condition == MAL_UNEQUAL);
	if (!reason)
		return;
	branch->class = MAL_BRANCH_OTHER;
	branch->reason = reason;
	if (state->flags != MAL_FLAGS_COMPARE || block->next_count != 2)
		return;
	a = mal_only_symbol(values, left);
	b = mal_only_symbol(values, right);
	if (a && b && a->class == MAL_THREAD && b->class == MAL_REST &&
	    (branch->condition == MAL_LESS || branch->condition == MAL_NOT_LESS)) {
		branch->class = MAL_BRANCH_SIDE;
		branch->one = block->next[branch->condition == MAL_LESS ? 0 : 1];
		branch->partition = b->extra;
		return;
	}
	if (a && mal_is_number(values, right, &number))
		classify_symbol(analysis, a, number, branch, block->next);
	if (branch->class != MAL_BRANCH_OTHER)
		return;
	if (values->forms[left].kind != MAL_LINEAR || values->forms[right].kind != MAL_LINEAR)
		return;
	branch->difference = mal_add(values, left, right, -1);
	if (branch->difference && (is_bound(analysis, branch->difference) ||
				   is_cyclic_entry(analysis, branch->difference)))
		branch->class = MAL_BRANCH_SHARE;
}

void mal_take_branch(struct mal_analysis *analysis, uint32_t from, uint32_t block,
		     struct mal_state *state)
{
	const struct mal_branch *branch;

	if (from == UINT32_MAX)
		return;
	branch = &analysis->branches[from];
	if (branch->class != MAL_BRANCH_SIDE)
		return;
	state->side = branch->one == block ? 1 : 2;
	state->partition = branch->partition;
}

/* Whether the way out of a shared loop is by the end of the share, and by nothing else. */
static void check_exit(struct mal_analysis *analysis, uint32_t header, uint32_t block)
{
	const struct mal_branch *branch = &analysis->branches[block];

	switch (branch->class) {
	case MAL_BRANCH_SHARE:
	case MAL_BRANCH_MORE: break;
	case MAL_BRANCH_SAME: mal_bind(analysis, "a shared loop that is left early", NULL); break;
	default: mal_bind(analysis, branch->reason ? branch->reason : "a shared loop", NULL);
	}
	if (analysis->loops[header].kind == MAL_SHARE_ITERATIONS &&
	    branch->class == MAL_BRANCH_SHARE && branch->difference)
		mal_check_exit(analysis, header, block);
}

void mal_check_shared_loops(struct mal_analysis *analysis)
{
	for (uint32_t header = 0; header < analysis->graph.block_count; header++) {
		if (analysis->loops[header].kind == MAL_SHARE_NONE)
			continue;
		for (uint32_t block = 0; block < analysis->graph.block_count; block++) {
			const struct mal_block *at = &analysis->graph.blocks[block];

			if (!mal_flow_in_loop(&analysis->graph, (int)header, block) ||
			    !analysis->ends[block].live)
				continue;
			for (uint32_t i = 0; i < at->next_count; i++)
				if (analysis->graph.blocks[at->next[i]].ends &&
				    !mal_flow_in_loop(&analysis->graph, (int)header, at->next[i]))
					check_exit(analysis, header, block);
		}
	}
}

#endif
