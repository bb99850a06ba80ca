/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * values.h: what registers and memory of a thread hold: sums of symbols with factors, and what a
 * thread must not show. Equal values have equal numbers.
 */
#ifndef MAL_INSPECT_VALUES_H
#define MAL_INSPECT_VALUES_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t mal_value;

enum mal_symbol_class {
	/* The same for all threads, or, in a shared loop, for whoever runs the iteration. */
	MAL_CLEAN,
	/* An address of the thread's stack. */
	MAL_STACK,
	/* Numbers of the thread and of all of them; what is passed on to the runtime. */
	MAL_THREAD,
	MAL_THREADS,
	MAL_GLOBAL,
	/* A share of a loop: where it begins and ends, and lengths made of these. */
	MAL_LOW,
	MAL_HIGH,
	MAL_LENGTH,
	/* How often a shared loop ran; the same times the number of threads. */
	MAL_ROUND,
	MAL_ROUND_THREADS,
	/* gcc's parts: n / threads, n % threads, and the first times the thread's number. */
	MAL_QUOTIENT,
	MAL_REST,
	MAL_QUOTIENT_THREAD,
	/*
	 * Results of the runtime: this thread runs it; there is more; how to reduce; it was
	 * last.
	 */
	MAL_ONCE,
	MAL_MORE,
	MAL_REDUCE,
	MAL_LAST,
	/* Carried from one round of a shared loop to the next. */
	MAL_CARRIED,
	/* What memory holds at a place that is a thread's own, as where its share begins. */
	MAL_AT,
};

struct mal_symbol {
	enum mal_symbol_class class;
	/* What defines it: the address of an instruction, or of a block's first; and which part. */
	uint64_t address;
	uint32_t role;
	/* The block that defines it. */
	uint32_t block;
	/* The loop, the partition (a value), or of a load the address (a value). */
	uint32_t extra;
};

enum mal_value_kind {
	MAL_LINEAR,
	/* Shows the thread or its share. */
	MAL_TAINT,
	/* A partial result of a reduction by OP: A carries it; of B bytes, where that counts. */
	MAL_PARTIAL,
	/* The same, with these as B and C, put together with A, which memory held. */
	MAL_MERGED,
	/* LEFT where the thread's number is less than the rest of partition A, else RIGHT. */
	MAL_PAIR,
	/* A vector with a value in its first part, and zeros. */
	MAL_FIRST,
};

enum mal_reduction {
	MAL_NO_REDUCTION,
	MAL_SUM,
	MAL_PRODUCT,
	MAL_MINIMUM,
	MAL_MAXIMUM,
	MAL_AND,
	MAL_OR,
	MAL_XOR
};

enum { MAL_TERMS = 8 };

struct mal_term {
	/* FACTOR, a symbol that is clean, or 0. */
	uint32_t symbol, factor;
	int64_t times;
};

struct mal_form {
	enum mal_value_kind kind;
	uint8_t operation, count;
	mal_value a, b, c;
	int64_t constant;
	const char *reason;
	struct mal_term terms[MAL_TERMS];
};

struct mal_values {
	struct mal_form *forms;
	struct mal_symbol *symbols;
	uint32_t form_count, symbol_count, form_room, symbol_room;
	uint32_t *form_hash, *symbol_hash;
	/* Out of memory or too many. */
	int full;
};

int mal_values_make(struct mal_values *values);
void mal_values_free(struct mal_values *values);

/* The symbol with these properties, made where it is not there. 0 is none. */
uint32_t mal_symbol(struct mal_values *values, const struct mal_symbol *symbol);

/* The value that is FORM. 0 is none. */
mal_value mal_form(struct mal_values *values, const struct mal_form *form);
mal_value mal_number(struct mal_values *values, int64_t number);
mal_value mal_taint(struct mal_values *values, const char *reason);
mal_value mal_of_symbol(struct mal_values *values, uint32_t symbol);

/* LEFT + TIMES * RIGHT, both linear; 0 where that has too many terms. */
mal_value mal_add(struct mal_values *values, mal_value left, mal_value right, int64_t times);
mal_value mal_scale(struct mal_values *values, mal_value value, int64_t times);

/* Whether VALUE is linear and a number. */
int mal_is_number(const struct mal_values *values, mal_value value, int64_t *number);

/* The only symbol of a value that is one symbol once, or NULL. */
const struct mal_symbol *mal_only_symbol(const struct mal_values *values, mal_value value);

/* A family of gcc's partitions: a program can make one by hand. */
#define MAL_PARTITION ((uint32_t)1 << 31)

/*
 * Which share the bounds in VALUE are of: 0 where there are none, UINT32_MAX where they are of
 * several.
 */
uint32_t mal_family(const struct mal_values *values, mal_value value);

#endif
