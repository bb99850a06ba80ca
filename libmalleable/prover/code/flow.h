/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flow.h: a function's instructions as blocks, with its loops and what its branches decide. */
#pragma once

#include "libmalleable/prover/code/decode.h"

enum { MAL_FLOW_INSTRUCTIONS = 60000, MAL_FLOW_BLOCKS = 3000, MAL_FLOW_TARGETS = 512 };

struct mal_block {
	/* Instructions FIRST to FIRST + COUNT - 1. */
	uint32_t first, count;
	/* Blocks that follow; of a branch the first is where it jumps to. */
	uint32_t *next;
	uint32_t next_count;
	uint32_t *before;
	uint32_t before_count;
	/* The block that every way to the end comes through; -1: none. */
	int postdominator;
	/* A way leads from it to the end of the function. */
	bool ends;
	/* In depth-first order, reversed; -1: never reached. */
	int order;
};

struct mal_flow_graph {
	uint64_t entry;
	struct mal_instruction *instructions;
	uint32_t instruction_count;
	struct mal_block *blocks;
	uint32_t block_count;
	/* Blocks in reversed depth-first order. */
	uint32_t *order;
	uint32_t order_count;
	/* Why it cannot be analysed, or NULL. */
	const char *trouble;
};

/* What leads to each block, the order of the blocks, and dominators, by what follows each. */
int mal_flow_order(struct mal_flow_graph *graph);

/* walk.c: the graph of the function at ENTRY. Only for want of memory it returns -1. */
int mal_flow_build(const struct mal_image *image, uint64_t entry, struct mal_flow_graph *graph);

void mal_flow_free(struct mal_flow_graph *graph);

/* The number of the instruction at ADDRESS, or -1. */
int64_t mal_flow_find(const struct mal_flow_graph *graph, uint64_t address);

/* The last instruction of a block. */
const struct mal_instruction *mal_flow_last(const struct mal_flow_graph *graph, uint32_t block);

/*
 * Mark with WHICH what is reached from FROM, BACK against the ways, through blocks that SET has;
 * no way leads on from those that it has as 2.
 */
void mal_flow_reach(const struct mal_flow_graph *graph, const uint8_t *set, uint32_t from, int back,
		    uint8_t which, uint8_t *marks);

/*
 * Cut the blocks that SET marks into loops. LOOP[i] becomes the number, from 1 on, of the loop
 * that block i is in, or 0. Returns how many loops there are; -1 without memory.
 */
int mal_flow_loops(const struct mal_flow_graph *graph, const uint8_t *set, uint32_t *loop);

/*
 * Where an indirect jump goes: a switch. Fills TARGETS, returns how many, or 0 where that is
 * unknown. INSTRUCTIONS end with the jump.
 */
size_t mal_switch_targets(const struct mal_image *image, const struct mal_instruction *instructions,
			  size_t count, uint64_t *targets);
