/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * analysis.h: a function is gone through with values instead of data: once as any thread of a team
 * may do it, and once as a thread does it that has no iterations and was not chosen. What that one
 * does, every further thread does too.
 */
#pragma once

#include "libmalleable/prover/code/live.h"
#include "libmalleable/prover/code/operations.h"
#include "libmalleable/prover/code/program.h"
#include "libmalleable/prover/code/shapes.h"

enum {
	MAL_SLOTS = 256,
	/* A variable that all add up takes two: where it is, and what. */
	MAL_LOADS = 32,
	MAL_SEEDS = 256,
	MAL_ESCAPES = 128,
	MAL_NEAR = 256,
	MAL_NOTED = 8192,
	MAL_ITEMS = 512
};

struct mal_stack_slot {
	int64_t offset;
	uint32_t bytes;
	mal_value value;
};

struct mal_state {
	mal_value registers[MAL_REGISTERS];
	struct mal_stack_slot slots[MAL_SLOTS];
	uint32_t slot_count;
	/* What the flags compare; or their result alone against zero. */
	mal_value left, right;
	/* Memory that was read last, by its address, for what is combined with it. */
	mal_value load_addresses[MAL_LOADS], loads[MAL_LOADS];
	uint32_t load_count;
	/* The branch that led here and which of its ways, times 2, plus 2; 0: none. */
	uint32_t side;
	uint8_t live;
	/* The thread has iterations; it has few of them. */
	uint8_t guarded, few;
	/* Between the calls that begin and end a loop of LLVM's: nothing else is there. */
	uint8_t working;
	/* A combination of results that only one thread does at a time. */
	uint8_t protected_;
	/* The same on all ways; one thread alone comes here. */
	uint8_t held, chosen;
};

/* What the branch at the end of a block decides by. */
enum mal_branch {
	MAL_BRANCH_CLEAN,
	/* Iterations: a loop's exit, or its guard. */
	MAL_BRANCH_SHARE,
	/* The guard of chunks. */
	MAL_BRANCH_CHUNK,
	/* One thread was chosen, on the first or the second way. */
	MAL_BRANCH_CHOSEN,
	MAL_BRANCH_NOT_CHOSEN,
	/* A thread's number, as it is divided. */
	MAL_BRANCH_DIVISION,
	MAL_BRANCH_TELLS,
};

/* What a block does. */
enum {
	MAL_EFFECT_STORE = 1,
	MAL_EFFECT_ATOMIC = 2,
	MAL_EFFECT_CALL = 4,
	MAL_EFFECT_RUNTIME = 8,
	/* A store at the bounds of a share, or a call that is given them. */
	MAL_EFFECT_BOUND = 16,
	/* A call of what does something for one thread alone. */
	MAL_EFFECT_CHOOSES = 32,
	/* Something with an iteration. */
	MAL_EFFECT_ITEM = 64,
};

struct mal_block_facts {
	struct mal_state *end;
	/* The comparison that its branch makes, or 0; and what it compares. */
	mal_value compare, left, right;
	/* Where it stored last. */
	mal_value stored;
	uint8_t branch, carried, history, effects, dirty;
	/* Ways that a thread without iterations does not take: a bit each. */
	uint8_t dead;
	/* The way on which the thread has iterations, and that on which it has few, plus 1. */
	uint8_t guard, few;
	/* These may be some. */
	uint8_t some;
	/* Values that differ where ways meet are carried: by iterations, or by what they left. */
	uint8_t force;
	/* Its loop ends by iterations alone. */
	uint8_t shared;
	/* The loop's first block; one of its exits. */
	uint8_t header, leaves;
	/* An exit: 1 before what a loop does with iterations, 2 after that, 3 amid it. */
	uint8_t ends;
	/* Of a loop's first block: its pace (mal_pace()), by places, by what counts. */
	int64_t paces[2];
	/* It decides by the bounds of a share: 1 where these may be an exit's. */
	uint8_t decides;
	uint8_t seen;
	/* It rounds a share's length to whole vectors. */
	uint8_t rounds;
};

enum { MAL_FORCE_LOOP = 1, MAL_FORCE_JOIN = 2, MAL_FORCE_TELLS = 4, MAL_FORCE_HISTORY = 8 };

/* A value that a loop steps, found out at the end of a pass. */
struct mal_seed {
	uint64_t key;
	mal_value first, step;
};

/* Where an iteration loads or stores: OFFSET behind what BASE and INDEX lead to. */
struct mal_place {
	mal_value base, index;
	int64_t offset, stride;
	uint8_t stored;
	const struct mal_instruction *at;
};

/* Places in the frame. */
struct mal_offsets {
	int64_t list[MAL_ESCAPES];
	uint32_t count;
};

struct mal_analysis {
	struct mal_program *program;
	const struct mal_image *image;
	struct mal_flow_graph graph;
	struct mal_values values;
	struct mal_block_facts *facts;
	/* Marks of blocks, for whoever goes through them. */
	uint8_t *marks, *set, *in_share, *once;
	struct mal_seed seeds[MAL_SEEDS];
	uint32_t seed_count;
	/* Locations that loops do not change, by their keys; those that have a history, negated. */
	uint64_t noted[MAL_NOTED];
	uint32_t noted_count;
	bool finds_invariants, finds_histories;
	/*
	 * Of the frame: what others are given the address of; variables of the function's own that
	 * are read by themselves; variables that the runtimes fill.
	 */
	struct mal_offsets escapes, scalars, filled;
	struct mal_reason *reason;
	struct mal_callee *callee;
	/* Addresses that were read, of what an iteration led to. */
	mal_value items[MAL_ITEMS];
	uint32_t item_count;
	/* What loops of iterations step through. */
	struct mal_place places[MAL_ITEMS];
	uint32_t place_count;
	int returns[2];
	/* As a thread without iterations. */
	bool without;
	/* Reasons are noted. */
	bool final;
	bool restart;
	bool chooses;
	uint32_t block;
	const struct mal_instruction *at;
	struct mal_state *state;
};

/*
 * Whether a thread without iterations combines results: what does no more when it is done again
 * may then be left out.
 */
static inline bool mal_combines(const struct mal_analysis *analysis)
{
	return analysis->without && analysis->state->protected_;
}

/* VALUE as several iterations may have it; only there it matters. */
static inline mal_value mal_fold_in(struct mal_analysis *analysis, mal_value value, uint32_t flag)
{
	return analysis->without ? value : mal_fold(&analysis->values, value, flag);
}

/* unrolled.c: take unrolled loops back to one turn; -1 without memory. RETURNS: some value. */
int mal_unrolled_take_back(struct mal_program *program, struct mal_flow_graph *graph, bool returns);

/* checks.c: bind the region; the first reason is kept. SYMBOL may be NULL. */
void mal_mark_bound(struct mal_analysis *analysis, const char *reason, const char *symbol);
/* The same, at the end of BLOCK. */
void mal_bind_block(struct mal_analysis *analysis, uint32_t block, const char *reason);
/* All that a loop of iterations leads to keeps one pace. */
void mal_check_pace(struct mal_analysis *analysis, mal_value value);
void mal_effect(struct mal_analysis *analysis, unsigned int effect);
mal_value mal_fresh(struct mal_analysis *analysis, unsigned int which, uint32_t flags);
/* Whether a value may be seen by others; binds where not. */
bool mal_check_value(struct mal_analysis *analysis, mal_value value, const char *as);
/* A thread's first iteration, by itself, may store another thing at ADDRESS than the others. */
void mal_check_first(struct mal_analysis *analysis, mal_value address);
/* VALUE is stored where others see it. */
void mal_check_history(struct mal_analysis *analysis, mal_value value);
void mal_check_address(struct mal_analysis *analysis, mal_value address, int store);
/* LENGTH times BYTES of what is set or compared from TO on, or copied there from FROM, if any. */
void mal_check_length(struct mal_analysis *analysis, mal_value length, unsigned int bytes,
		      mal_value to, mal_value from);
/* The first block of the loop of iterations that steps VALUE, or NULL. */
struct mal_block_facts *mal_stepped_by(const struct mal_analysis *analysis, mal_value value);

/* sharing.c: what several threads may do to each other. An address is read, or stored to. */
void mal_share_load(struct mal_analysis *analysis, mal_value address);
void mal_share_store(struct mal_analysis *analysis, mal_value address);
/* An iteration loads from ADDRESS or STORES there. */
void mal_share_place(struct mal_analysis *analysis, const struct mal_operand *operand,
		     mal_value address, int stores);
/* Whether an iteration uses what another one stores. */
void mal_share_places(struct mal_analysis *analysis);
/* VALUE is stored there. */
void mal_share_value(struct mal_analysis *analysis, mal_value address, mal_value value);
void mal_share_atomic(struct mal_analysis *analysis, mal_value value);
void mal_share_external(struct mal_analysis *analysis, const struct mal_external *external,
			const char *name);
void mal_share_callee(struct mal_analysis *analysis, uint64_t target);
void mal_share_indirect(struct mal_analysis *analysis);
/* Whether vectors and single numbers of a loop of iterations may be rounded otherwise. */
int mal_share_vectors(struct mal_analysis *analysis);
/* A number is rounded. */
void mal_share_rounding(struct mal_analysis *analysis);

/* rests.c: bind what is the rest of no loop of vectors; -1 without memory. */
int mal_check_rests(struct mal_analysis *analysis);

/* meet.c: what is in registers and in the stack where BLOCK begins. */
void mal_enter(struct mal_analysis *analysis, uint32_t block, struct mal_state *state);

/* stack.c: the frame. Whether OFFSET is among SOME; add it. */
bool mal_has_offset(const struct mal_offsets *some, int64_t offset);
void mal_add_offset(struct mal_analysis *analysis, struct mal_offsets *to, int64_t offset);
/* The place of the first slot at OFFSET or behind it. */
uint32_t mal_slot_at(const struct mal_state *state, int64_t offset);
void mal_store_slot(struct mal_analysis *analysis, int64_t offset, uint32_t bytes, mal_value value);
mal_value mal_load_slot(struct mal_analysis *analysis, int64_t offset, uint32_t bytes);
void mal_forget_slots(struct mal_analysis *analysis, int64_t from, int64_t to);
void mal_escape(struct mal_analysis *analysis, mal_value value);
void mal_forget_escaped(struct mal_analysis *analysis);

/* memory.c: operands. */
mal_value mal_read(struct mal_analysis *analysis, const struct mal_operand *operand);
void mal_write(struct mal_analysis *analysis, const struct mal_operand *operand, mal_value value);
mal_value mal_address(struct mal_analysis *analysis, const struct mal_operand *operand);
/* So many BYTES from TO on become VALUE, or anything where it is 0; 0: some. */
void mal_write_many(struct mal_analysis *analysis, mal_value to, mal_value value, int64_t bytes);

/* instruction.c, memory.c, callees.c, branches.c: instructions. */
void mal_step(struct mal_analysis *analysis, const struct mal_instruction *at);
void mal_step_move(struct mal_analysis *analysis, const struct mal_instruction *at);
void mal_step_lea(struct mal_analysis *analysis, const struct mal_instruction *at);
void mal_step_stack(struct mal_analysis *analysis, const struct mal_instruction *at);
void mal_step_string(struct mal_analysis *analysis, const struct mal_instruction *at);
void mal_step_call(struct mal_analysis *analysis, const struct mal_instruction *at);
void mal_step_branch(struct mal_analysis *analysis, const struct mal_instruction *at);
enum mal_branch mal_branch_of(struct mal_analysis *analysis, enum mal_condition condition,
			      mal_value left, mal_value right);
/* The same of what is compared the other way round. */
enum mal_condition mal_swapped(enum mal_condition condition);
/* Whether VALUE is how many iterations a thread has, or a multiple of that. */
bool mal_is_length(struct mal_values *values, mal_value value);
int mal_outcome(struct mal_analysis *analysis, enum mal_condition condition, mal_value left,
		mal_value right);

/* dependence.c: what branches decide. Find loops of iterations; -1 without memory. */
int mal_find_shared_loops(struct mal_analysis *analysis);
/* Whether values differ at more joins now. */
bool mal_force_joins(struct mal_analysis *analysis);
void mal_check_control(struct mal_analysis *analysis);
