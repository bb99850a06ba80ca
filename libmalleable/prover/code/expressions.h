/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * expressions.h: what a register or a word of the stack may hold: an expression of numbers, of
 * values that all threads have in common, and of what a thread can find out about itself and its
 * team.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t mal_value;

enum mal_kind {
	/* Not known, the same for all threads; made by the instruction or join KEY. */
	MAL_SYMBOL,
	/* Of a register that a call may have changed. */
	MAL_LOST,
	MAL_NUMBER,
	/* An address in the frame. */
	MAL_STACK,
	/* What the dynamic linker put into the slot at KEY. */
	MAL_SLOT_VALUE,
	/* The thread's number, the number of threads, whether this thread was chosen. */
	MAL_THREAD,
	MAL_THREADS,
	MAL_CHOSEN,
	/* Bounds that LLVM's runtime gives a thread. */
	MAL_LOW,
	MAL_HIGH,
	MAL_ADD,
	MAL_MULTIPLY,
	MAL_DIVIDE,
	MAL_REMAINDER,
	/* Whether A and B compare as the condition KEY; B if A is true, else C. */
	MAL_COMPARE,
	MAL_SELECT,
	/* Of a loop: begins with A, is changed by B each time. */
	MAL_STEP,
	/* Two words side by side in a vector. */
	MAL_PAIR,
	/* A, where B came out as KEY says. */
	MAL_ON_WAY,
	/*
	 * Something that follows from the iterations that a thread has: from one iteration alone if
	 * KEY is 0, else from the bounds, and made at KEY.
	 */
	MAL_SHARE,
	/* Something that a thread can tell itself by, or that is not understood. */
	MAL_TELLS,
};

/* What a value can show, the worst last: nothing, a thread's iterations, its number, anything. */
enum mal_class { MAL_CLEAN, MAL_ITERATIONS, MAL_IDENTITY, MAL_UNKNOWN };

enum {
	/* Carried by a thread from one of its iterations to the next. */
	MAL_CARRIED = 1,
	/* Read from where a thread's iterations led. */
	MAL_ITEM = 2,
	/* Can be evaluated. */
	MAL_EXACT = 4,
	/* An address of memory that the thread allocated for all of its iterations. */
	MAL_OWN = 8,
	/* A count of the thread's iterations. */
	MAL_COUNTED = 16,
	/*
	 * Made of the first iteration, or the last, in such a way that a loop may begin with it; of
	 * what all threads have in common: read there.
	 */
	MAL_PLACE = 32,
	/* Indices of loops within each other: what that iteration is divided into at KEY. */
	MAL_QUOTIENT = 64,
	MAL_REST = 128,
	MAL_INDEX = MAL_QUOTIENT | MAL_REST,
	/* May have been rounded: a floating-point number. */
	MAL_ROUNDS = 256,
	/* An iteration chose it, perhaps among the same few for all. */
	MAL_CHOICE = 512,
	/* It was taken from something. */
	MAL_MINUS = 1 << 24,
	/* All that differs in it was multiplied; what was taken was. */
	MAL_SCALED = 1 << 27,
	MAL_TAKES_SCALED = 1 << 28,
	/* Several iterations may have the same, as of a division; what is left by one. */
	MAL_FOLDED = 1 << 26,
	MAL_LEFT = 1 << 29,
	/* Made of what a loop of iterations begins its turn with. */
	MAL_TURN = 1 << 30,
	/* Carried, and made of an iteration or of what was carried before. */
	MAL_RECURS = 1 << 25,
	/* Carried, and no count: it differs with the iterations that the thread has had. */
	MAL_HISTORY = INT32_MIN,
	/*
	 * What holds on all ways that meet. It differs from iteration to iteration; it is an
	 * address of the function's own memory; it is made of what the function was given in a
	 * register of arguments, or was read from there: six bits each.
	 */
	MAL_VARIES = 1024,
	MAL_NEW = 2048,
	MAL_GIVEN = 1 << 12,
	MAL_WITHIN = 1 << 18,
	MAL_ALL_GIVEN = 63 * MAL_GIVEN,
	MAL_ALL_WITHIN = 63 * MAL_WITHIN,
	MAL_MUST = MAL_VARIES | MAL_NEW | MAL_ALL_GIVEN | MAL_ALL_WITHIN,
};

/* The key of a share's length that was rounded to whole vectors. */
enum { MAL_ROUNDED = -1 };

enum mal_condition {
	MAL_NO_CONDITION,
	MAL_EQUAL,
	MAL_NOT_EQUAL,
	MAL_LESS,
	MAL_NOT_LESS,
	MAL_LESS_EQUAL,
	MAL_MORE,
	MAL_BELOW,
	MAL_NOT_BELOW,
	MAL_BELOW_EQUAL,
	MAL_ABOVE,
	MAL_NEGATIVE,
	MAL_NOT_NEGATIVE,
	MAL_OTHER_CONDITION,
};

/* What an expression of a thread's number can be, by gcc's division of iterations. */
enum mal_shape {
	MAL_SHAPE_UNKNOWN,
	MAL_SHAPE_NONE,
	/* START times the first iteration, plus LENGTH times how many there are, plus others. */
	MAL_SHAPE_BLOCK,
	/* START times the thread's number, plus others. */
	MAL_SHAPE_CHUNK,
};

struct mal_node {
	uint8_t kind, class, shape;
	uint16_t size;
	uint32_t flags;
	mal_value a, b, c;
	/* The number, the instruction, the condition; of MAL_TELLS the text. */
	int64_t key;
	const char *text;
	int64_t start, length, rest;
	/* What is added is the same number always. */
	bool bare;
	/* What a loop adds to a symbol each time, or 0. */
	int64_t step;
};

struct mal_values {
	struct mal_node *nodes;
	uint32_t count;
	uint32_t *table;
	/* The branch that led to where values are looked at, and how it came out; or 0. */
	mal_value compare;
	bool truth;
	/* They are made within a loop of iterations. */
	bool inner;
	/* Too many. */
	bool full;
};

int mal_values_make(struct mal_values *values);
void mal_values_free(struct mal_values *values);

/* The node as it is, each once; 0 where there are too many. */
mal_value mal_intern(struct mal_values *values, const struct mal_node *node);
mal_value mal_number(struct mal_values *values, int64_t number);
mal_value mal_symbol(struct mal_values *values, uint64_t key, uint32_t flags);
/* The same, read from ADDRESS. */
mal_value mal_loaded(struct mal_values *values, uint64_t key, uint32_t flags, mal_value address);
mal_value mal_leaf(struct mal_values *values, enum mal_kind kind, int64_t key);
/* What follows from the iterations that a thread has. */
mal_value mal_share(struct mal_values *values, int64_t key, uint32_t flags);
mal_value mal_tells(struct mal_values *values, const char *text);
/* VALUE where the branch that led there came out as it did. */
mal_value mal_on_way(struct mal_values *values, mal_value value);

/* The flags of VALUE with what follows from its kind. */
uint32_t mal_flags(const struct mal_values *values, mal_value value);
/* Those of what is one of A and B. */
uint32_t mal_flags_of_either(const struct mal_values *values, mal_value a, mal_value b);

/* Whether VALUE is made of the bounds of a thread's iterations. */
bool mal_is_of_bounds(const struct mal_values *values, mal_value value);

/* Whether it is a place that no loop steps; or what was read at one. */
bool mal_is_edge(const struct mal_values *values, mal_value value);

/* Whether it is made of a share's bounds, but neither such a place nor all indices of one. */
bool mal_is_off(struct mal_values *values, mal_value value);

static inline const struct mal_node *mal_node(const struct mal_values *values, mal_value value)
{
	return &values->nodes[value];
}

static inline bool mal_is_rounded(const struct mal_values *values, mal_value value)
{
	return values->nodes[value].kind == MAL_SHARE && values->nodes[value].key == MAL_ROUNDED;
}

static inline bool mal_is_number(const struct mal_values *values, mal_value value, int64_t *number)
{
	*number = values->nodes[value].key;
	return values->nodes[value].kind == MAL_NUMBER;
}
