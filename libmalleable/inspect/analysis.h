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
	MAL_CHANGE_RELOAD,
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
	/* How often it was waited for what an address becomes. */
	uint8_t waits, fresh;
	/* Of a partial result: its bytes. */
	uint8_t width;
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

/* What memory held at ADDRESS before BLOCK put a partial result into it. */
struct mal_before {
	uint32_t block;
	mal_value address, old;
};

/* Of a loop of several iterations a round: which of them values like KEY belong to. */
struct mal_cover {
	uint32_t header;
	mal_value key;
	int64_t constant;
	uint64_t seen;
	/* Of memory, not of a value alone. */
	int memory;
};

enum { MAL_BEFORE = 16, MAL_KEPT = 64, MAL_COVERS = 256 };

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
	/* The share of which the length, by a mask, alone decides whether it runs: 0 none. */
	uint32_t *odd;
	/* The share whose bounds decide whether it runs: 0 none, UINT32_MAX several. */
	uint32_t *guards;
	struct mal_location *locations;
	uint32_t location_count;
	struct mal_before before[MAL_BEFORE];
	uint32_t before_count;
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
	/* All of it is run by one thread, for an iteration. */
	int shared;
	/* Where addresses of allocated memory were written to. */
	mal_value kept[MAL_KEPT];
	uint32_t kept_count;
	struct mal_cover covers[MAL_COVERS];
	uint32_t cover_count;
	/* Of the memory of which the address is looked at: its bytes. */
	uint32_t width;
	/* How much was done, in steps of some nanoseconds. */
	uint64_t work;
	int depth;
	uint32_t stack;
};

/* STEPS more are done; what takes too many is too large. */
static inline void mal_work(struct mal_analysis *analysis, uint64_t steps)
{
	static const uint64_t most = 250000000;

	analysis->work += steps;
	if (analysis->work > most)
		analysis->values.full = 1;
}

/* Note why the region is bound, if nothing was yet. */
void mal_bind(struct mal_analysis *analysis, const char *reason, const char *symbol);

/* Of an instruction: the address of memory that it allocates, of use as an address alone. */
enum { MAL_ROLE_HEAP = 900 };

/* Parts of a length: by a mask, of both ends of the share or not; by a shift. */
enum { MAL_ROLE_MASKED = 13, MAL_ROLE_SHIFTED = 15, MAL_ROLE_MASKED_WHOLE = 16 };

static inline int mal_is_masked(uint32_t role)
{
	return role == MAL_ROLE_MASKED || role == MAL_ROLE_MASKED_WHOLE;
}

/* --- cover.c --- */

/* VALUE belongs to an iteration of the loop of HEADER: it has its position TIMES. */
void mal_note_cover(struct mal_analysis *analysis, uint32_t header, mal_value value, int64_t times);
/* Bind where a loop leaves iterations out. */
void mal_check_covers(struct mal_analysis *analysis);

/* --- folds.c --- */

/* Of a quotient and a rest that iterations share, and of what is made of one. */
enum {
	MAL_ROLE_QUOTIENT = 310,
	MAL_ROLE_REST = 311,
	MAL_ROLE_OF_QUOTIENT = 902,
	MAL_ROLE_OF_REST = 903
};

/* VALUE divided by what is no constant: the quotient or the rest, by ROLE. */
mal_value mal_fold(struct mal_analysis *analysis, mal_value value, mal_value by, uint32_t role);

/* What is made of VALUES, where a single fold alone tells iterations apart in them; else 0. */
mal_value mal_of_fold(struct mal_analysis *analysis, const mal_value *values, size_t count);

extern const char mal_heap_text[];
/* Of what a function returns: such an address, as it is. */
extern const char mal_heap_passed[];

/* Why a register holds nothing that a program can use. */
extern const char mal_unset[], mal_lost[];
int mal_is_nothing(const struct mal_values *values, mal_value value);

/*
 * Of what belongs to one iteration behind the vectors of a share: it may be put where that
 * iteration
 * puts it, and be reduced.
 */
extern const char mal_tail[];
int mal_is_tail_taint(const struct mal_values *values, mal_value value);

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

/* Whether VALUE is made of the address of memory that was allocated. */
int mal_is_heap(const struct mal_values *values, mal_value value);

/* Such an address: what the argument REG is; what was written to ADDRESS, or 0 for nothing such. */
mal_value mal_heap_argument(struct mal_analysis *analysis, unsigned int reg);
mal_value mal_heap_at(struct mal_analysis *analysis, mal_value address);
void mal_keep_heap(struct mal_analysis *analysis, mal_value address);

/*
 * Why LEFT and RIGHT may not be compared, for equality alone or for their order, or NULL. Blocks
 * that are allocated differ; which one lies above the other depends on the thread.
 */
const char *mal_compares_heap(struct mal_analysis *analysis, mal_value left, mal_value right,
			      int equality);

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
/* Nothing is known any more of what lies FROM one offset TO another. */
void mal_forget_slots(struct mal_analysis *analysis, uint32_t base, int64_t from, int64_t to);
/* The same of all that a write of BYTES to ADDRESS, which is not known exactly, can reach. */
void mal_forget_around(struct mal_analysis *analysis, mal_value address, uint32_t bytes);

/* Whether VALUE is an address of the stack: its base, what is added, and whether that is all. */
int mal_is_stack(const struct mal_values *values, mal_value value, uint32_t *base, int64_t *offset,
		 int *exact);

/* --- merge.c --- */

/* What holds at the beginning of BLOCK, by what held at the ends before it. */
void mal_enter(struct mal_analysis *analysis, uint32_t block, struct mal_state *state);

/* What changes in loops is compared with what was assumed. Returns whether something was wrong. */
int mal_open_loops(struct mal_analysis *analysis);
int mal_check_loops(struct mal_analysis *analysis);

/*
 * What of COUNT VALUES at BLOCK is the one that stands for all, 0 where none does: of rounds of a
 * loop, of ways that threads take differently, or behind shares of ways that all of them take
 * together.
 */
enum mal_ways { MAL_WAYS_ROUND, MAL_WAYS_PART, MAL_WAYS_TOGETHER };
mal_value mal_join_partial(struct mal_analysis *analysis, const mal_value *values, size_t count,
			   enum mal_ways differs);

/* --- steps.c, others.c, strings.c, vectors.c --- */
void mal_step(struct mal_analysis *analysis, const struct mal_instruction *instruction);
void mal_set_flags(struct mal_analysis *analysis, enum mal_flags_kind kind, mal_value left,
		   mal_value right);
/* Returns whether it was an instruction on strings. */
int mal_step_string(struct mal_analysis *analysis, const struct mal_instruction *instruction);
void mal_step_any(struct mal_analysis *analysis, const struct mal_instruction *instruction);
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
void mal_effect_store(struct mal_analysis *analysis, mal_value address, uint32_t bytes,
		      mal_value value);
void mal_effect_atomic(struct mal_analysis *analysis, const struct mal_instruction *instruction);
/* Whether VALUE is what memory held before a thread's part came in: it tells their order. */
int mal_is_before(const struct mal_values *values, const struct mal_before *before,
		  mal_value value);
extern const char mal_before_text[];

/* --- runtime.c, calls.c --- */

/* Bind a region that may call the function NAME of another library, if that observes. */
void mal_check_external(struct mal_analysis *analysis, const char *name);
void mal_step_runtime(struct mal_analysis *analysis, const struct mal_external *external,
		      const struct mal_instruction *instruction);
void mal_step_call(struct mal_analysis *analysis, const struct mal_instruction *instruction);

/* --- branches.c --- */
void mal_step_branch(struct mal_analysis *analysis, const struct mal_instruction *instruction);

/* --- guards.c --- */

/*
 * How the branch at the end of BLOCK decides whether JOB runs: the bit of a class of branches. In a
 * loop over a share only the bounds of that share may, at its end or before it: others are what a
 * thread keeps of an earlier loop. Those of a partition may be too, wherever more is asked of them
 * than whether it is empty.
 */
uint32_t mal_decides(struct mal_analysis *analysis, uint32_t block, uint32_t job);

/* --- spread.c --- */

/* Find joins, modes and shared loops by the branches. Returns whether something changed. */
int mal_spread_branches(struct mal_analysis *analysis);
/* control.c: whether the loop of HEADER ends where the share does, at the end of BLOCK. */
void mal_check_exit(struct mal_analysis *analysis, uint32_t header, uint32_t block);
void mal_check_shared_loops(struct mal_analysis *analysis);

/* Of CMOVcc, SETcc and Jcc: what the flags say, by the mnemonic of the jump. */
int mal_condition_of(uint16_t mnemonic);

#endif
