/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * analysis.h: what the parts of the analysis of one region share: the values at each block, what
 * branches depend on, and which loops are shared among the threads.
 */
#ifndef MAL_INSPECT_ANALYSIS_H
#define MAL_INSPECT_ANALYSIS_H

#include "libmalleable/inspect/closure.h"
#include "libmalleable/inspect/flow.h"
#include "libmalleable/inspect/names.h"
#include "libmalleable/inspect/values.h"

enum { MAL_SLOTS = 256, MAL_LOCATIONS = 1 << 15 };

/* A piece of the stack: BASE is a symbol. */
struct mal_stack_slot {
	uint32_t base;
	int32_t offset;
	uint32_t bytes;
	mal_value value;
};

enum mal_flags_kind { MAL_FLAGS_VALUE, MAL_FLAGS_COMPARE, MAL_FLAGS_TEST };

/* What a thread holds at one point. */
struct mal_state {
	int live;
	mal_value registers[MAL_REGISTERS];
	/* Of general registers that were last written in part: what the rest holds, or 0. */
	mal_value rest[16];
	enum mal_flags_kind flags;
	mal_value left, right;
	/* Of gcc's partition: known to be less than the rest (1) or not (2). */
	int side;
	mal_value partition;
	uint32_t slot_count;
	struct mal_stack_slot slots[MAL_SLOTS];
};

/* How a branch may differ among threads. */
enum mal_branch_class {
	MAL_BRANCH_SAME,
	MAL_BRANCH_SHARE,
	MAL_BRANCH_MORE,
	MAL_BRANCH_ONCE,
	MAL_BRANCH_REDUCE,
	MAL_BRANCH_SIDE,
	MAL_BRANCH_OTHER,
};

struct mal_branch {
	enum mal_branch_class class;
	/* The successor that one thread alone takes, or where the number is less than the rest. */
	uint32_t one;
	/* The difference of what is compared. */
	mal_value difference;
	mal_value partition;
	/* The condition to take the first successor: DIFFERENCE against 0. */
	enum {
		MAL_LESS,
		MAL_NOT_LESS,
		MAL_MORE_THAN,
		MAL_NOT_MORE,
		MAL_EQUAL,
		MAL_UNEQUAL,
		MAL_UNCLEAR
	} condition;
	const char *reason;
};

/* How a location changes in a loop. */
enum mal_change {
	MAL_CHANGE_NONE,
	MAL_CHANGE_OPEN,
	MAL_CHANGE_STEP,
	MAL_CHANGE_PARTIAL,
	MAL_CHANGE_ANY,
	MAL_CHANGE_TAINT,
	MAL_CHANGE_FIXED,
	MAL_CHANGE_POSITION,
};

struct mal_location {
	uint64_t key;
	uint32_t block;
	enum mal_change change;
	/* At the entry of the loop, and what the change needs. */
	mal_value entry, value;
	uint32_t bytes;
	uint8_t operation;
	uint8_t used;
};

enum mal_share { MAL_SHARE_NONE, MAL_SHARE_CHUNKS, MAL_SHARE_ITERATIONS };

/* A shared loop: its position is LOW + LENGTHS + STEP * rounds. */
struct mal_shared_loop {
	enum mal_share kind;
	/* Found to be shared just now. */
	int fresh;
	int64_t step;
	/* Once known: the position's beginning, a linear value with LOW once. */
	mal_value start;
};

enum mal_mode { MAL_MODE_ALL, MAL_MODE_SHARE, MAL_MODE_ONCE, MAL_MODE_NEVER };

struct mal_analysis {
	struct mal_program *program;
	const struct mal_image *image;
	struct mal_flow_graph graph;
	struct mal_values values;
	/* Of each block: what holds at its end, and how it ends. */
	struct mal_state *ends;
	struct mal_branch *branches;
	struct mal_shared_loop *loops;
	/* Of each block: a join of ways that differ among threads. */
	uint8_t *joins;
	/* Of each block: who runs it, and whether all threads do or none. */
	enum mal_mode *modes;
	uint8_t *together, *merging, *reducing;
	struct mal_location *locations;
	uint32_t location_count;
	/* Where the analysis is. */
	uint32_t block;
	const struct mal_instruction *at;
	struct mal_state *state;
	/* The last sweep: what is found counts. */
	int final;
	struct mal_finding *finding;
	/* What the function returns, where that differs among threads; and how it was reached. */
	const char *returns;
	int clang;
	int depth;
	uint32_t stack;
};

/* Note why the region is bound, if nothing was yet. */
void mal_bind(struct mal_analysis *analysis, const char *reason, const char *symbol);

/* Why a register holds nothing that a program can use. */
extern const char mal_unset[], mal_lost[];

/*
 * Of what belongs to one iteration behind the vectors of a share: it may be put where that
 * iteration
 * puts it, and be reduced.
 */
extern const char mal_tail[];

/* The reason that weighs more, of two that may be NULL. */
const char *mal_worse(const char *left, const char *right);

/* --- classes.c --- */

/*
 * Why VALUE differs among threads for whoever runs BLOCK, or NULL. Loops that contain BLOCK but
 * not OUTSIDE do not count, -1: all count.
 */
const char *mal_shows(struct mal_analysis *analysis, mal_value value, uint32_t block, int outside);

/* A value that the current instruction makes: the part ROLE of it. */
mal_value mal_fresh(struct mal_analysis *analysis, enum mal_symbol_class class, uint32_t role);

/* What becomes of VALUES by an operation that is not followed. */
mal_value mal_mixed(struct mal_analysis *analysis, const mal_value *values, size_t count,
		    uint32_t role);

/* Whether VALUE leaves what it is reduced with as it is. */
int mal_is_neutral(const struct mal_values *values, mal_value value, unsigned int operation);

/* --- state.c --- */
mal_value mal_load_slot(struct mal_analysis *analysis, uint32_t base, int32_t offset,
			uint32_t bytes);
void mal_store_slot(struct mal_analysis *analysis, uint32_t base, int32_t offset, uint32_t bytes,
		    mal_value value);
void mal_forget_slots(struct mal_analysis *analysis, uint32_t base, int64_t from);

/* Whether VALUE is an address of the stack: its base, what is added, and whether that is all. */
int mal_is_stack(const struct mal_values *values, mal_value value, uint32_t *base, int64_t *offset,
		 int *exact);

/* --- merge.c --- */

/* What holds at the beginning of BLOCK, by what held at the ends before it. */
void mal_enter(struct mal_analysis *analysis, uint32_t block, struct mal_state *state);

/* What changes in loops is compared with what was assumed. Returns whether something was wrong. */
int mal_open_loops(struct mal_analysis *analysis);
int mal_check_loops(struct mal_analysis *analysis);

/* What of COUNT VALUES at BLOCK is the one that stands for all, 0 where none does. */
mal_value mal_join_partial(struct mal_analysis *analysis, const mal_value *values, size_t count,
			   int differs);

/* --- steps.c, vectors.c --- */
void mal_step(struct mal_analysis *analysis, const struct mal_instruction *instruction);
int mal_step_vector(struct mal_analysis *analysis, const struct mal_instruction *instruction);
mal_value mal_read(struct mal_analysis *analysis, const struct mal_operand *operand);
void mal_write(struct mal_analysis *analysis, const struct mal_operand *operand, mal_value value);
mal_value mal_address(struct mal_analysis *analysis, const struct mal_operand *operand);
mal_value mal_plus(struct mal_analysis *analysis, mal_value left, mal_value right, int64_t times);
mal_value mal_reduce(struct mal_analysis *analysis, enum mal_reduction operation, mal_value left,
		     mal_value right);

/* --- partition.c --- */
mal_value mal_times(struct mal_analysis *analysis, mal_value left, mal_value right);
mal_value mal_pair(struct mal_analysis *analysis, mal_value partition, mal_value less,
		   mal_value other);
/* A pair as one value, where it is one. */
mal_value mal_plain(struct mal_analysis *analysis, mal_value value);
mal_value mal_on_side(struct mal_analysis *analysis, mal_value value, mal_value partition,
		      int side);
/* COMBINE of both on each side of the partition of the one that is a pair, 0 where it fails. */
typedef mal_value mal_combine(struct mal_analysis *analysis, mal_value left, mal_value right,
			      int64_t times);
mal_value mal_on_both_sides(struct mal_analysis *analysis, mal_value left, mal_value right,
			    mal_combine *combine, int64_t times);
void mal_divide(struct mal_analysis *analysis, mal_value dividend, mal_value divisor,
		mal_value *quotient, mal_value *rest);

/* --- effects.c --- */
void mal_effect_store(struct mal_analysis *analysis, mal_value address, mal_value value);
void mal_effect_atomic(struct mal_analysis *analysis, const struct mal_instruction *instruction);

/* --- runtime.c, calls.c --- */

/* Bind a region that may call the function NAME of another library, if that observes. */
void mal_check_external(struct mal_analysis *analysis, const char *name);
void mal_step_runtime(struct mal_analysis *analysis, const struct mal_external *external,
		      const struct mal_instruction *instruction);
void mal_step_call(struct mal_analysis *analysis, const struct mal_instruction *instruction);

/* --- branches.c --- */
void mal_step_branch(struct mal_analysis *analysis, const struct mal_instruction *instruction);

/* Find joins, modes and shared loops by the branches. Returns whether something changed. */
int mal_spread_branches(struct mal_analysis *analysis);
/* control.c: whether the loop of HEADER ends where the share does, at the end of BLOCK. */
void mal_check_exit(struct mal_analysis *analysis, uint32_t header, uint32_t block);
void mal_check_shared_loops(struct mal_analysis *analysis);

/* Of CMOVcc, SETcc and Jcc: what the flags say, by the mnemonic of the jump. */
int mal_condition_of(uint16_t mnemonic);

#endif
