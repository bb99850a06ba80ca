/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branches.c: which branches threads take differently, which blocks and joins depend on them, and
 * which loops are shared.
 */
#include "libmalleable/inspect/analysis.h"
#include "libmalleable/inspect/changes.h"

#include <stdlib.h>
#include <string.h>

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

/*
 * Blocks on ways from START that do not come through STOP; and, where ROUND is a block, that end
 * where another round of a loop around it begins.
 */
static void reach(const struct mal_analysis *analysis, uint32_t start, int stop, int round,
		  uint8_t *seen, uint32_t *stack)
{
	uint32_t depth = 0;

	memset(seen, 0, analysis->graph.block_count);
	if ((int)start == stop)
		return;
	seen[start] = 1;
	stack[depth++] = start;
	while (depth) {
		uint32_t number = stack[--depth];
		const struct mal_block *block = &analysis->graph.blocks[number];

		if (round >= 0 && block->header &&
		    mal_flow_in_loop(&analysis->graph, (int)number, (uint32_t)round))
			continue;
		for (uint32_t i = 0; i < block->next_count; i++)
			if ((int)block->next[i] != stop && !seen[block->next[i]]) {
				seen[block->next[i]] = 1;
				stack[depth++] = block->next[i];
			}
	}
}

struct spread {
	struct mal_analysis *analysis;
	uint8_t *left, *right;
	uint32_t *stack;
	/* Of each block: bits of the classes of branches that decide whether it runs. */
	uint32_t *deciding;
	uint8_t *once;
};

/* Whether the bounds in VALUE are those that the loop of HEADER gets in each round. */
static int is_made_in(const struct mal_analysis *analysis, mal_value value, uint32_t header)
{
	const struct mal_form *form = &analysis->values.forms[value];

	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_symbol *symbol = &analysis->values.symbols[form->terms[i].symbol];

		if ((symbol->class == MAL_LOW || symbol->class == MAL_HIGH ||
		     symbol->class == MAL_LENGTH) &&
		    !mal_flow_in_loop(&analysis->graph, (int)header, symbol->block))
			return 0;
	}
	return 1;
}

static int is_exit(const struct mal_analysis *analysis, uint32_t header, uint32_t block)
{
	const struct mal_block *at = &analysis->graph.blocks[block];

	for (uint32_t i = 0; i < at->next_count; i++)
		if (analysis->graph.blocks[at->next[i]].ends &&
		    !mal_flow_in_loop(&analysis->graph, (int)header, at->next[i]))
			return 1;
	return 0;
}

/* Whether a share is empty: its beginning against its end, and nothing else. */
static int asks_for_empty(const struct mal_analysis *analysis, mal_value difference)
{
	const struct mal_form *form = &analysis->values.forms[difference];
	const struct mal_symbol *symbols = analysis->values.symbols;

	return form->count == 2 && form->constant == 0 && !form->terms[0].factor &&
	       !form->terms[1].factor && form->terms[0].times == -form->terms[1].times &&
	       symbols[form->terms[0].symbol].class != symbols[form->terms[1].symbol].class &&
	       symbols[form->terms[0].symbol].class != MAL_LENGTH &&
	       symbols[form->terms[1].symbol].class != MAL_LENGTH;
}

/*
 * How the branch at the end of BLOCK decides whether JOB runs. In a loop over a share only the
 * bounds of that share may, at its end or before it: others are what a thread keeps of an earlier
 * loop. Those of a partition may be too, wherever more is asked of them than whether it is empty.
 */
static uint32_t decides(const struct mal_analysis *analysis, uint32_t block, uint32_t job)
{
	const struct mal_branch *branch = &analysis->branches[block];
	const uint32_t other = (uint32_t)1 << MAL_BRANCH_OTHER;
	uint32_t family =
		branch->difference ? mal_family(&analysis->values, branch->difference) : 0;
	int ends = 0;

	if (branch->class != MAL_BRANCH_SHARE)
		return (uint32_t)1 << branch->class;
	for (uint32_t header = 0; header < analysis->graph.block_count; header++) {
		mal_value start = analysis->loops[header].start;
		int within;

		if (analysis->loops[header].kind != MAL_SHARE_ITERATIONS)
			continue;
		within = mal_flow_in_loop(&analysis->graph, (int)header, block);
		ends |= within && is_exit(analysis, header, block);
		if (!mal_flow_in_loop(&analysis->graph, (int)header, job))
			continue;
		if (start && mal_family(&analysis->values, start) != family)
			return other;
		if (within && !is_exit(analysis, header, block) &&
		    !is_made_in(analysis, branch->difference, header))
			return other;
	}
	if (family & MAL_PARTITION && !ends && !asks_for_empty(analysis, branch->difference))
		return other;
	return (uint32_t)1 << MAL_BRANCH_SHARE;
}

/* Whether a loop around BLOCK goes on for one of its two ways alone. */
static int parts_loops(const struct spread *spread, uint32_t block)
{
	const struct mal_flow_graph *graph = &spread->analysis->graph;

	for (uint32_t header = 0; header < graph->block_count; header++)
		if (graph->blocks[header].header && mal_flow_in_loop(graph, (int)header, block) &&
		    spread->left[header] != spread->right[header])
			return 1;
	return 0;
}

/* The ways from the end of BLOCK by two of its successors. */
static void spread_pair(struct spread *spread, uint32_t block, uint32_t first, uint32_t second)
{
	struct mal_analysis *analysis = spread->analysis;
	const struct mal_branch *branch = &analysis->branches[block];
	int join = analysis->graph.blocks[block].postdominator;
	uint8_t *left = spread->left, *right = spread->right;
	int once = branch->class == MAL_BRANCH_ONCE, whole;

	reach(analysis, first, join, (int)block, left, spread->stack);
	reach(analysis, second, join, (int)block, right, spread->stack);
	for (uint32_t j = 0; j < analysis->graph.block_count; j++)
		analysis->joins[j] |= left[j] && right[j];
	/* One thread's way and the others' meet again: what follows is for all. */
	whole = !once || parts_loops(spread, block);
	if (whole) {
		reach(analysis, first, join, -1, left, spread->stack);
		reach(analysis, second, join, -1, right, spread->stack);
	}
	for (uint32_t j = 0; j < analysis->graph.block_count; j++) {
		int both = left[j] && right[j];

		if ((left[j] || right[j]) && (whole || !both))
			spread->deciding[j] |= decides(analysis, block, j);
		if (once && !both && (branch->one == first ? left[j] : right[j]))
			spread->once[j] = 1;
	}
}

static void spread_branch(struct spread *spread, uint32_t block)
{
	struct mal_analysis *analysis = spread->analysis;
	const struct mal_block *at = &analysis->graph.blocks[block];
	int join = at->postdominator;

	if (at->next_count < 2)
		return;
	for (uint32_t i = 0; i + 1 < at->next_count; i++)
		spread_pair(spread, block, at->next[i], at->next[i + 1]);
	if (join >= 0)
		analysis->joins[join] = 1;
}

/* What kind of shared loop the branch at the end of BLOCK makes of the loop of HEADER. */
static enum mal_share share_by(const struct mal_analysis *analysis, uint32_t header, uint32_t block)
{
	const struct mal_branch *branch = &analysis->branches[block];
	const struct mal_block *at = &analysis->graph.blocks[block];
	enum mal_share now = analysis->loops[header].kind;

	if (branch->class == MAL_BRANCH_SAME || !analysis->ends[block].live ||
	    !mal_flow_in_loop(&analysis->graph, (int)header, block))
		return now;
	for (uint32_t i = 0; i < at->next_count; i++)
		if (analysis->graph.blocks[at->next[i]].ends &&
		    !mal_flow_in_loop(&analysis->graph, (int)header, at->next[i]) &&
		    now != MAL_SHARE_ITERATIONS)
			now = branch->class == MAL_BRANCH_SHARE ? MAL_SHARE_ITERATIONS
								: MAL_SHARE_CHUNKS;
	return now;
}

/*
 * Loops that threads leave differently become shared, the outermost first: in it the inner ones may
 * be the same for whoever runs an iteration. Returns whether one was not.
 */
static int share_loops(struct mal_analysis *analysis)
{
	const struct mal_flow_graph *graph = &analysis->graph;
	int changed = 0;

	for (uint32_t i = 0; i < graph->order_count; i++) {
		uint32_t header = graph->order[i];
		enum mal_share now = analysis->loops[header].kind;
		int inner = 0;

		for (uint32_t j = 0; j < i && graph->blocks[header].header; j++)
			inner |= analysis->loops[graph->order[j]].fresh &&
				 mal_flow_in_loop(graph, (int)graph->order[j], header);
		if (!graph->blocks[header].header || inner)
			continue;
		for (uint32_t block = 0; block < graph->block_count; block++) {
			enum mal_share by = share_by(analysis, header, block);

			if (by > now || now == MAL_SHARE_CHUNKS)
				now = by == MAL_SHARE_ITERATIONS || now == MAL_SHARE_NONE ? by
											  : now;
		}
		if (now != analysis->loops[header].kind) {
			analysis->loops[header].kind = now;
			analysis->loops[header].fresh = 1;
			changed = 1;
		}
	}
	for (uint32_t i = 0; i < graph->block_count; i++)
		analysis->loops[i].fresh = 0;
	return changed;
}

static int in_iterations(const struct mal_analysis *analysis, uint32_t block)
{
	for (uint32_t header = 0; header < analysis->graph.block_count; header++)
		if (analysis->loops[header].kind == MAL_SHARE_ITERATIONS &&
		    mal_flow_in_loop(&analysis->graph, (int)header, block))
			return 1;
	return 0;
}

static void set_modes(struct spread *spread)
{
	struct mal_analysis *analysis = spread->analysis;
	const uint32_t share = (uint32_t)1 << MAL_BRANCH_SHARE | (uint32_t)1 << MAL_BRANCH_MORE;
	const uint32_t reduce = share | (uint32_t)1 << MAL_BRANCH_REDUCE;

	for (uint32_t block = 0; block < analysis->graph.block_count; block++) {
		uint32_t by = spread->deciding[block];

		analysis->together[block] = by == 0;
		analysis->merging[block] = (by & ~reduce) == 0 && !in_iterations(analysis, block);
		analysis->reducing[block] = (by & ~share) != 0;
		analysis->modes[block] = MAL_MODE_ALL;
		if (by && (by & ~share) == 0 && in_iterations(analysis, block))
			analysis->modes[block] = MAL_MODE_SHARE;
		if (spread->once[block] && by == (uint32_t)1 << MAL_BRANCH_ONCE)
			analysis->modes[block] = MAL_MODE_ONCE;
	}
}

int mal_spread_branches(struct mal_analysis *analysis)
{
	size_t count = analysis->graph.block_count;
	struct spread spread = {.analysis = analysis,
				.left = malloc(count),
				.right = malloc(count),
				.stack = malloc(count * sizeof(uint32_t)),
				.deciding = calloc(count, sizeof(uint32_t)),
				.once = calloc(count, 1)};
	uint8_t *old = malloc(count);
	int changed = 0;

	if (spread.left && spread.right && spread.stack && spread.deciding && spread.once && old) {
		changed = share_loops(analysis);
		/* What was found before counts for nothing where a loop became shared. */
		if (changed)
			memset(analysis->joins, 0, count);
		memcpy(old, analysis->joins, count);
		for (uint32_t block = 0; block < count && !changed; block++)
			if (analysis->ends[block].live &&
			    analysis->branches[block].class != MAL_BRANCH_SAME)
				spread_branch(&spread, block);
		set_modes(&spread);
		changed |= memcmp(old, analysis->joins, count) != 0;
	} else {
		analysis->values.full = 1;
	}
	free(spread.left);
	free(spread.right);
	free(spread.stack);
	free(spread.deciding);
	free(spread.once);
	free(old);
	return changed;
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
