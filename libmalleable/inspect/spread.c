/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spread.c: which blocks and joins depend on branches that threads take differently, and which
 * loops are shared.
 */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

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

/* How BLOCK decides whether JOB runs; of shares, by which one. */
static uint32_t note_guard(struct mal_analysis *analysis, uint32_t block, uint32_t job)
{
	uint32_t by = mal_decides(analysis, block, job);
	mal_value difference = analysis->branches[block].difference;
	uint32_t family = difference ? mal_family(&analysis->values, difference) : UINT32_MAX;

	if (by == (uint32_t)1 << MAL_BRANCH_SHARE)
		analysis->guards[job] = analysis->guards[job] && analysis->guards[job] != family
						? UINT32_MAX
						: family;
	return by;
}

/* Whether a shared loop goes on from positions of FAMILY that ways have where they meet at JOIN. */
static int goes_on(const struct mal_analysis *analysis, int join, uint32_t family)
{
	for (uint32_t header = 0; header < analysis->graph.block_count; header++) {
		mal_value start = analysis->loops[header].start;
		const struct mal_form *form = &analysis->values.forms[start];

		if (analysis->loops[header].kind != MAL_SHARE_ITERATIONS || !start)
			continue;
		for (unsigned int i = 0; i < form->count; i++) {
			const struct mal_symbol *symbol =
				&analysis->values.symbols[form->terms[i].symbol];

			if (symbol->class == MAL_LOW && symbol->role >= 1000 &&
			    (int)symbol->block == join && symbol->extra == family)
				return 1;
		}
	}
	return 0;
}

/*
 * Whether BLOCK asks for bits of a share's length, and of which share. That is what a compiler asks
 * before a loop of which it makes several rounds one: those that are left over come first, and the
 * loop goes on behind them or at the beginning. What a program keeps of its first iteration and its
 * last one it has behind its loop alone.
 */
static uint32_t odd_by(const struct mal_analysis *analysis, uint32_t block, uint32_t now)
{
	const struct mal_branch *branch = &analysis->branches[block];
	const struct mal_symbol *symbol = NULL;

	if (branch->class == MAL_BRANCH_SHARE && branch->difference)
		symbol = mal_only_symbol(&analysis->values, branch->difference);
	if (!symbol || symbol->class != MAL_LENGTH || symbol->role != MAL_ROLE_MASKED_WHOLE ||
	    symbol->extra & MAL_PARTITION ||
	    !goes_on(analysis, analysis->graph.blocks[block].postdominator, symbol->extra))
		return now;
	return symbol->extra;
}

/* The ways from the end of BLOCK by two of its successors. */
static void spread_pair(struct spread *spread, uint32_t block, uint32_t first, uint32_t second)
{
	struct mal_analysis *analysis = spread->analysis;
	const struct mal_branch *branch = &analysis->branches[block];
	int join = analysis->graph.blocks[block].postdominator;
	uint8_t *left = spread->left, *right = spread->right;
	int once = branch->class == MAL_BRANCH_ONCE, whole;

	mal_work(analysis, (uint64_t)4 * analysis->graph.block_count);
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

		if (left[j] || right[j])
			mal_work(analysis, analysis->graph.block_count);
		if ((left[j] || right[j]) && (whole || !both))
			spread->deciding[j] |= note_guard(analysis, block, j);
		if (!both && (left[j] || right[j]))
			analysis->odd[j] = odd_by(analysis, block, analysis->odd[j]);
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
		analysis->modes[block] = analysis->shared ? MAL_MODE_SHARE : MAL_MODE_ALL;
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
	uint8_t *old = malloc(2 * count);
	int changed = 0;

	if (spread.left && spread.right && spread.stack && spread.deciding && spread.once && old) {
		changed = share_loops(analysis);
		/* What was found before counts for nothing where a loop became shared. */
		if (changed)
			memset(analysis->joins, 0, count);
		memcpy(old, analysis->joins, count);
		memcpy(old + count, analysis->reducing, count);
		memset(analysis->guards, 0, count * sizeof(*analysis->guards));
		memset(analysis->odd, 0, count * sizeof(*analysis->odd));
		for (uint32_t block = 0; block < count && !changed && !analysis->values.full;
		     block++)
			if (analysis->ends[block].live &&
			    analysis->branches[block].class != MAL_BRANCH_SAME)
				spread_branch(&spread, block);
		set_modes(&spread);
		changed |= memcmp(old, analysis->joins, count) != 0 ||
			   memcmp(old + count, analysis->reducing, count) != 0;
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

#endif
