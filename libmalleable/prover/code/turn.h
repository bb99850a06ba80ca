/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * turn.h: what instructions make of registers and memory that are not known: terms, each once. Two
 * pieces of code that end with the same terms do the same.
 */
#pragma once

#include "libmalleable/prover/code/expressions.h"
#include "libmalleable/prover/code/program.h"

struct mal_turn {
	struct mal_program *program;
	struct mal_values *values;
	mal_value registers[MAL_REGISTERS];
	/* What was stored, one in another. */
	mal_value memory;
	/* Something was done that no term stands for. */
	bool failed;
	/* Vectors of more than 16 bytes were there. */
	bool wide;
};

/* A sum of terms, each times a number, and a number; 2^64 is 0. */
enum { MAL_TERMS = 12 };

struct mal_sum {
	mal_value terms[MAL_TERMS];
	int64_t factors[MAL_TERMS], number;
	uint32_t count;
	bool failed;
};

/* What was never set before. */
void mal_turn_begin(struct mal_turn *turn, struct mal_program *program, struct mal_values *values);
mal_value mal_turn_unset(struct mal_values *values, uint64_t which);

void mal_turn_step(struct mal_turn *turn, const struct mal_instruction *at);

/* Whether it makes zero of whatever it reads. */
bool mal_turn_clears(const struct mal_instruction *at);

/* Adds FACTOR times VALUE. */
void mal_sum_add(const struct mal_values *values, struct mal_sum *sum, mal_value value,
		 int64_t factor);
mal_value mal_sum_value(struct mal_values *values, const struct mal_sum *sum);

/* LEFT plus FACTOR times RIGHT. */
mal_value mal_turn_plus(struct mal_turn *turn, mal_value left, mal_value right, int64_t factor);

/* What the lower half of VALUE is that of: a sum, without what becomes of upper halves. */
mal_value mal_turn_low(struct mal_turn *turn, mal_value value);
/* That half alone, with zeros above. */
mal_value mal_turn_half(struct mal_turn *turn, mal_value value);
bool mal_turn_is_half(const struct mal_values *values, mal_value value);

/* What a branch on CONDITION compares, as a difference; 0 where that is not seen. */
mal_value mal_turn_compared(struct mal_turn *turn, uint8_t condition);

/* The term of VALUE shifted right, or under a mask: what, and by what number; else 0. */
mal_value mal_turn_shifted(const struct mal_values *values, mal_value value, int64_t *number);
mal_value mal_turn_masked(const struct mal_values *values, mal_value value, int64_t *number);
