/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* closure.h: what a function can reach by calls, and whether something of it observes a thread. */
#ifndef MAL_INSPECT_CLOSURE_H
#define MAL_INSPECT_CLOSURE_H

#include "libmalleable/inspect/decode.h"

/* What is known of one function with all that it can reach. */
struct mal_reach {
	uint64_t entry;
	/* Why it is bound wherever it is called, or NULL; and the symbol that shows it. */
	const char *reason, *symbol;
	/* It has constructs of OpenMP other than critical and atomic. */
	int constructs;
	int indirect;
	/* Registers that it may write. */
	uint64_t writes;
	int done;
};

struct mal_finding {
	/* Why it is bound, NULL if free; and the symbol that shows it, or NULL. */
	const char *reason, *symbol;
	/* The instruction that shows it, or 0. */
	uint64_t address;
};

/* What a function takes from its caller. */
struct mal_life {
	uint64_t entry, registers;
	int stack;
};

/* What is known of a function that is called so. */
struct mal_callee {
	uint64_t entry;
	const char *reason, *symbol, *returns;
	/* How it is reached, and with which addresses of memory that was allocated. */
	int reached;
	uint16_t heap;
	int done;
};

enum { MAL_LIVES = 2000, MAL_CALLEES = 500 };

struct mal_program {
	const struct mal_image *image;
	struct mal_reach *reaches;
	size_t reach_count;
	/* Functions whose address is taken, other than by the calls that start a region. */
	uint64_t *taken;
	size_t taken_count;
	/* The address of another library's function is taken that may observe a thread. */
	int stub_taken;
	/* Of indirect calls: 0 not yet known, 1 harmless, 2 not. */
	int indirect;
	uint64_t instructions;
	/* When it is too late to look at more; 0: never. */
	uint64_t deadline_ns;
	struct mal_life lives[MAL_LIVES];
	size_t life_count;
	struct mal_callee callees[MAL_CALLEES];
	size_t callee_count;
};

/* The function at ENTRY, NULL for want of memory. Valid until the next call. */
const struct mal_reach *mal_closure(struct mal_program *program, uint64_t entry);

/* Whether no function whose address is taken can observe anything; -1 for want of memory. */
int mal_indirect_harmless(struct mal_program *program);
void mal_program_free(struct mal_program *program);

#endif
