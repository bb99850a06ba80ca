/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dependence.c: what is done depending on a thread's number, its iterations, or what it carries;
 * and whether a thread does all of its iterations, by where loops end and what guards them.
 */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/analysis.h"

static bool is_exit_by_share(const struct mal_analysis *analysis, uint32_t block)
{
	uint8_t branch = analysis->facts[block].branch;

	return branch == MAL_BRANCH_SHARE || branch == MAL_BRANCH_CHUNK;
}

/* Whether VALUE is made of what changes in the loop NUMBER. */
static bool changes(const struct mal_analysis *analysis, mal_value value, const uint32_t *loop,
		    uint32_t number)
{
	const struct mal_node *node = mal_node(&analysis->values, value);
	const mal_value parts[] = {node->a, node->b, node->c};
	uint32_t block = (uint32_t)(node->key >> 40) & 0x3fffff;

	if (node->key >> 62 == 1 && (node->kind == MAL_SYMBOL || node->kind == MAL_STEP) &&
	    block < analysis->graph.block_count && loop[block] == number)
		return 1;
	if (node->kind == MAL_SYMBOL && node->key >> 62 == 1)
		return 0;
	for (size_t i = 0; i < 3 && node->kind != MAL_TELLS; i++)
		if (parts[i] && changes(analysis, parts[i], loop, number))
			return 1;
	return 0;
}

/* Whether iterations decide again what follows BLOCK, before anything else is done. */
static bool leads_to_share(struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block *at = &analysis->graph.blocks[block];

	if (is_exit_by_share(analysis, block) || analysis->facts[block].seen)
		return 1;
	if (analysis->facts[block].effects & MAL_EFFECT_RUNTIME || !at->next_count)
		return !at->ends;
	analysis->facts[block].seen = 1;
	for (uint32_t i = 0; i < at->next_count; i++)
		if (!leads_to_share(analysis, at->next[i]))
			return 0;
	return 1;
}

static void count_exits(struct mal_analysis *analysis, const uint32_t *loop, uint32_t number,
			unsigned int *shared, unsigned int *others, uint32_t *early)
{
	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block *block = &analysis->graph.blocks[i];

		for (uint32_t j = 0; loop[i] == number && j < block->next_count; j++) {
			uint32_t next = block->next[j];

			if (loop[next] == number || !analysis->graph.blocks[next].ends)
				continue;
			for (uint32_t k = 0; k < analysis->graph.block_count; k++)
				analysis->facts[k].seen = 0;
			if (is_exit_by_share(analysis, i)) {
				++*shared;
			} else if (!leads_to_share(analysis, next)) {
				++*others;
				*early = i;
			}
		}
	}
}

static void check_wait(struct mal_analysis *analysis, const uint32_t *loop, uint32_t number)
{
	const struct mal_node *read = NULL;
	mal_value other;
	uint8_t kind;

	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block_facts *facts = &analysis->facts[i];
		const struct mal_block *block = &analysis->graph.blocks[i];
		int leaves = 0;

		if (loop[i] != number)
			continue;
		if (facts->effects & (MAL_EFFECT_CALL | MAL_EFFECT_RUNTIME | MAL_EFFECT_ATOMIC))
			return;
		for (uint32_t j = 0; j < block->next_count; j++)
			leaves |= loop[block->next[j]] != number;
		if (!leaves)
			continue;
		other = facts->right;
		read = mal_node(&analysis->values, facts->left);
		if (read->kind != MAL_SYMBOL || !read->a) {
			other = facts->left;
			read = mal_node(&analysis->values, facts->right);
		}
		kind = mal_node(&analysis->values, other)->kind;
		if (read->kind != MAL_SYMBOL || !read->a || read->key >> 62 == 1 ||
		    (kind != MAL_NUMBER && kind != MAL_STEP) ||
		    changes(analysis, other, loop, number) ||
		    changes(analysis, read->a, loop, number))
			return;
		for (uint32_t j = 0; j < analysis->graph.block_count; j++)
			if (loop[j] == number && analysis->facts[j].stored == read->a)
				return;
		analysis->at = mal_flow_last(&analysis->graph, i);
	}
	if (read)
		mal_mark_bound(analysis, "waits for another thread", NULL);
}

/* What a loop does with its iterations must all be before its exit, or all behind it. */
static void check_end(struct mal_analysis *analysis, uint32_t block)
{
	uint8_t *marks = analysis->marks, *set = analysis->set;
	const struct mal_flow_graph *graph = &analysis->graph;
	int after = analysis->facts[block].ends == 2;
	unsigned int effects = MAL_EFFECT_STORE | MAL_EFFECT_ATOMIC | MAL_EFFECT_CALL |
			       (after ? MAL_EFFECT_ITEM : 0);

	if (analysis->facts[block].ends == 3)
		mal_bind_block(analysis, block, "a loop that takes several iterations at once");
	memset(marks, 0, graph->block_count);
	for (uint32_t i = 0; i < graph->block_count; i++)
		set[i] = !analysis->facts[i].shared   ? 0
			 : !analysis->facts[i].header ? 1
			 : after		      ? i == block
						      : 2;
	mal_flow_reach(graph, set, block, !after, 1, marks);
	for (uint32_t i = 0; i < graph->block_count; i++)
		if (marks[i] && (i != block || !after) && analysis->facts[i].effects & effects)
			mal_bind_block(analysis, block, "a loop that leaves out an iteration");
}

/* A guard before a loop that a thread with some iterations does not pass. */
static void check_guard(struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block_facts *facts = &analysis->facts[block];
	uint8_t done = 0;

	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block_facts *there = &analysis->facts[i];

		if (!there->end || !there->end->live || !(there->effects & MAL_EFFECT_ITEM))
			continue;
		done |= analysis->marks[i];
		if (!there->shared &&
		    analysis->graph.blocks[i].order <= analysis->graph.blocks[block].order)
			return;
	}
	if (done && !(done & facts->few))
		mal_bind_block(analysis, block, "a loop that leaves out an iteration");
}

static bool is_reached(const struct mal_analysis *analysis, uint32_t block)
{
	return analysis->facts[block].end && analysis->facts[block].end->live;
}

/* The loops within the blocks of SET, from the outermost on; those of a shared one only wait. */
static int find_loops(struct mal_analysis *analysis, const uint8_t *set)
{
	struct mal_flow_graph *graph = &analysis->graph;
	uint32_t *loop = calloc((size_t)graph->block_count + 1, sizeof(*loop)), early = 0;
	uint8_t *inner = calloc((size_t)graph->block_count + 1, 1);
	int count = loop && inner ? mal_flow_loops(graph, set, loop) : -1, more = 0;

	for (uint32_t number = 1; number <= (uint32_t)(count > 0 ? count : 0); number++) {
		unsigned int others = 0, shared = 0;
		int within = 0;

		for (uint32_t i = 0; i < graph->block_count; i++)
			within |= loop[i] == number && analysis->facts[i].shared;
		check_wait(analysis, loop, number);
		if (!within)
			count_exits(analysis, loop, number, &shared, &others, &early);
		if (shared && others) {
			analysis->at = mal_flow_last(graph, early);
			mal_mark_bound(analysis, "a loop of iterations that ends early", NULL);
		}
		for (uint32_t i = 0; i < graph->block_count; i++) {
			int header = 0;

			if (loop[i] != number)
				continue;
			for (uint32_t j = 0; j < graph->blocks[i].before_count; j++)
				header |= loop[graph->blocks[i].before[j]] != number;
			analysis->facts[i].leaves = 0;
			for (uint32_t j = 0; j < graph->blocks[i].next_count; j++)
				analysis->facts[i].leaves |=
					loop[graph->blocks[i].next[j]] != number;
			if (shared && !others) {
				analysis->facts[i].shared = 1;
				analysis->facts[i].header = (uint8_t)header;
			}
			more |= !header;
			inner[i] = !header;
		}
	}
	free(loop);
	if (count > 0 && more)
		count = find_loops(analysis, inner);
	free(inner);
	return count;
}

int mal_find_shared_loops(struct mal_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		analysis->facts[i].shared = analysis->facts[i].header = 0;
		analysis->set[i] = (uint8_t)is_reached(analysis, i);
	}
	return find_loops(analysis, analysis->set) < 0 ? -1 : 0;
}

/* What the ways of a branch lead to before they meet again: 1 the first, 2 others. */
static void mark_ways(const struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block *at = &analysis->graph.blocks[block];
	uint8_t *marks = analysis->marks, *set = analysis->set;

	memset(marks, 0, analysis->graph.block_count);
	memset(set, 1, analysis->graph.block_count);
	/* Not through the branch again. */
	set[block] = 2;
	if (at->postdominator >= 0)
		set[at->postdominator] = 0;
	for (uint32_t i = 0; i < at->next_count; i++)
		if (set[at->next[i]])
			mal_flow_reach(&analysis->graph, set, at->next[i], 0, i ? 2 : 1, marks);
}

/* Where ways of a branch meet, values may differ by it. */
static bool force_at(struct mal_analysis *analysis, uint32_t block, uint8_t force)
{
	const struct mal_flow_graph *graph = &analysis->graph;
	const uint8_t *marks = analysis->marks;
	int changed = 0;

	for (uint32_t i = 0; i < graph->block_count; i++) {
		const struct mal_block *at = &graph->blocks[i];
		int meet = 0;

		if (marks[i] != 3 && (int)i != graph->blocks[block].postdominator)
			continue;
		if (force == MAL_FORCE_JOIN && analysis->facts[i].shared &&
		    !analysis->facts[i].header)
			continue;
		for (uint32_t j = 0; j < at->before_count; j++) {
			uint32_t before = at->before[j];

			meet |= before == block || marks[before] == 1 || marks[before] == 2;
		}
		if (!meet)
			continue;
		changed |= !(analysis->facts[i].force & force);
		analysis->facts[i].force |= force;
	}
	return changed;
}

/* Whether all ways of a branch stay in a loop of iterations. */
static bool is_inner(const struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block *at = &analysis->graph.blocks[block];
	int inner = analysis->facts[block].shared;

	for (uint32_t i = 0; i < at->next_count; i++)
		inner &= analysis->facts[at->next[i]].shared;
	return inner;
}

bool mal_force_joins(struct mal_analysis *analysis)
{
	bool changed = 0;

	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		struct mal_block_facts *facts = &analysis->facts[i];

		if (facts->header && !(facts->force & MAL_FORCE_LOOP)) {
			facts->force |= MAL_FORCE_LOOP;
			changed = 1;
		}
		if (!is_reached(analysis, i) ||
		    (facts->branch == MAL_BRANCH_CLEAN && !facts->history))
			continue;
		mark_ways(analysis, i);
		if (facts->history)
			changed |= force_at(analysis, i, MAL_FORCE_HISTORY);
		if (facts->branch == MAL_BRANCH_CLEAN)
			continue;
		if (!is_exit_by_share(analysis, i))
			changed |= force_at(analysis, i, MAL_FORCE_TELLS);
		else if (!is_inner(analysis, i))
			changed |= force_at(analysis, i, MAL_FORCE_JOIN);
	}
	return changed;
}

static void check_branch(struct mal_analysis *analysis, uint32_t block)
{
	const uint8_t *marks = analysis->marks;
	const struct mal_block_facts *facts = &analysis->facts[block];
	uint8_t alone = facts->branch == MAL_BRANCH_CHOSEN ? 1 : 2;
	int loops = facts->branch == MAL_BRANCH_CHUNK && !facts->shared;

	if (facts->carried & MAL_COUNTED && is_inner(analysis, block))
		mal_bind_block(analysis, block, "a branch on how many iterations a thread has had");
	if (facts->decides && is_inner(analysis, block) && (facts->decides > 1 || !facts->leaves))
		mal_bind_block(analysis, block, "the bounds of a thread's iterations in a branch");
	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block_facts *there = &analysis->facts[i];
		const unsigned int counts = MAL_EFFECT_ATOMIC | MAL_EFFECT_CALL;

		if (!marks[i] || !is_reached(analysis, i))
			continue;
		if (facts->history && facts->shared && there->shared &&
		    there->effects & (counts | MAL_EFFECT_STORE))
			mal_bind_block(analysis, block,
				       "an effect that depends on a thread's other iterations");
		switch (facts->branch) {
		case MAL_BRANCH_DIVISION:
			if (marks[i] != 3 && (there->effects & ~MAL_EFFECT_ITEM || i == block ||
					      !analysis->graph.blocks[i].ends))
				mal_bind_block(analysis, block, "a branch on a thread's number");
			break;
		case MAL_BRANCH_CHUNK:
			loops &= !there->shared;
			analysis->in_share[i] = 1;
			if (!there->shared &&
			    there->effects & ~(MAL_EFFECT_RUNTIME | MAL_EFFECT_ITEM))
				mal_bind_block(analysis, block, "a branch on a thread's number");
			break;
		case MAL_BRANCH_SHARE: analysis->in_share[i] = 1; break;
		case MAL_BRANCH_CHOSEN:
		case MAL_BRANCH_NOT_CHOSEN:
			analysis->once[i] |= marks[i] == alone;
			if (marks[i] == alone && facts->shared && there->effects & ~MAL_EFFECT_ITEM)
				mal_bind_block(analysis, block,
					       "one thread alone within a loop of iterations");
			break;
		default:
			if (facts->carried & MAL_CARRIED && there->effects & counts && i != block)
				mal_bind_block(
					analysis, block,
					"an effect that depends on a thread's other iterations");
		}
	}
	if (loops)
		mal_bind_block(analysis, block, "a branch on a thread's number");
}

/* Whether what follows one of LLVM's calls is also in the loop: then it is an iteration of it. */
static bool is_iteration(const struct mal_analysis *analysis, uint32_t block)
{
	const unsigned int counts = MAL_EFFECT_ATOMIC | MAL_EFFECT_CALL;

	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block_facts *facts = &analysis->facts[i];

		if (is_reached(analysis, i) && facts->shared && facts->end->working &&
		    facts->effects & counts)
			return analysis->facts[block].end->working;
	}
	return 0;
}

static void check_blocks(struct mal_analysis *analysis)
{
	const uint8_t *in_share = analysis->in_share, *once = analysis->once;

	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block_facts *facts = &analysis->facts[i];

		if (!is_reached(analysis, i) || !analysis->graph.blocks[i].ends)
			continue;
		if (facts->effects & MAL_EFFECT_BOUND && !facts->shared)
			mal_bind_block(analysis, i,
				       "something at the bounds of a thread's iterations");
		if (facts->effects & MAL_EFFECT_CHOOSES && (facts->shared || in_share[i]))
			mal_bind_block(analysis, i, "one thread alone within a loop of iterations");
		if (in_share[i] && !facts->shared && !once[i] && !is_iteration(analysis, i) &&
		    facts->effects & (MAL_EFFECT_ATOMIC | MAL_EFFECT_CALL))
			mal_bind_block(analysis, i, "an effect of each thread that has iterations");
	}
}

void mal_check_control(struct mal_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block_facts *facts = &analysis->facts[i];

		if (!is_reached(analysis, i) ||
		    (facts->branch == MAL_BRANCH_CLEAN && !facts->carried && !facts->history))
			continue;
		mark_ways(analysis, i);
		analysis->chooses |= facts->branch == MAL_BRANCH_CHOSEN ||
				     facts->branch == MAL_BRANCH_NOT_CHOSEN;
		check_branch(analysis, i);
		if (!facts->shared && facts->some)
			check_guard(analysis, i);
		if (facts->shared && facts->ends)
			check_end(analysis, i);
	}
	check_blocks(analysis);
}
