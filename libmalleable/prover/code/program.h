/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.h: what is known of the functions of a file, each with all that it can reach. */
#pragma once

#include <stdbool.h>

#include "libmalleable/prover/code/names.h"

/* The functions that calls start as parallel regions. */
enum { MAL_REGIONS = 20000 };

struct mal_region_function {
	uint64_t entry;
	/* A size of the team is asked for. */
	bool clause;
	/* Started by another call than the plain ones: teams, sections, reductions. */
	bool other;
};

struct mal_region_functions {
	struct mal_region_function *list;
	size_t count;
	/* A call starts a region whose function was not found. */
	bool unknown;
};

/* What functions do: each by itself, and with all that they call. */
enum {
	/* They ask for the thread's number or for how many there are. */
	MAL_DOES_ASK = 1,
	/* They have other constructs of OpenMP. */
	MAL_DOES_RUNTIME = 2,
	/* Something that counts how often it is done. */
	MAL_DOES_EFFECT = 4,
	MAL_DOES_INDIRECT = 8,
	/* They combine results one by one. */
	MAL_DOES_COMBINE = 16,
};

/* Where a function stores through what it is given. */
enum { MAL_STORES = 16 };

/* Registers that a call of another library may write. */
#define MAL_VOLATILE \
	(MAL_BIT(MAL_RAX) | MAL_BIT(MAL_RCX) | MAL_BIT(MAL_RDX) | MAL_BIT(MAL_RSI) | \
	 MAL_BIT(MAL_RDI) | MAL_BIT(MAL_R8) | MAL_BIT(MAL_R9) | MAL_BIT(MAL_R10) | \
	 MAL_BIT(MAL_R11) | (((uint64_t)1 << 43) - 1) << MAL_XMM0)

#define MAL_SYSTEM "a system instruction"
#define MAL_ONE_ADDRESS "stores to one address in all iterations"

struct mal_reason {
	/* Why it is so, NULL if it is not; what that is used as, or NULL; the function, or NULL. */
	const char *text, *as, *symbol;
	/* Where that is seen, or 0. */
	uint64_t where;
};

/* Note why it is so; the first reason is kept. SYMBOL may be NULL. */
static inline void mal_note(struct mal_reason *to, uint64_t where, const char *text,
			    const char *symbol)
{
	if (!to->text)
		*to = (struct mal_reason){.text = text, .symbol = symbol, .where = where};
}

/* A function with all that it calls. */
struct mal_reach {
	struct mal_reason bound;
	uint64_t pointer, writes;
	uint32_t does;
};

/* One function by itself. */
struct mal_local {
	/* Why it binds. */
	struct mal_reason bound;
	/* Where it calls through a pointer. */
	uint64_t pointer, writes;
	uint32_t does;
	/* How many bytes of arguments it takes on the stack. */
	int64_t stack;
	/* RBP is the frame's. */
	bool frame;
	/* Functions that it calls, or takes the address of. */
	uint64_t *calls;
	uint32_t call_count;
	/* With all that it calls, once that was asked; which closure found this function last. */
	struct mal_reach all;
	bool closed;
	uint32_t closure;
};

/* What a function that asks, or has constructs, does where a region calls it. */
struct mal_callee {
	uint64_t entry;
	struct mal_reason bound, replicated;
	/* Why it may be right with one thread alone; why it sums (classify.h). */
	struct mal_reason alone, sums;
	/* Stores by the registers of arguments that lead there: MAL_GIVEN, MAL_WITHIN. */
	uint32_t stores[MAL_STORES], store_count;
	uint64_t stores_at;
	/* The class of what it returns (enum mal_class), in RAX and XMM0. */
	int returns[2];
	/* It does something for one thread alone. */
	bool chooses;
	bool done;
};

struct mal_inspect_options;
struct mal_verdicts;

struct mal_program {
	const struct mal_image *image;
	const struct mal_inspect_options *options;
	struct mal_verdicts *verdicts;
	/* By the functions' places in the image. */
	struct mal_local **locals;
	uint32_t closures;
	struct mal_callee **callees;
	size_t callee_count;
	const struct mal_region_functions *regions;
	/* Functions whose address is taken, other than by the calls that start a region. */
	uint64_t *taken;
	size_t taken_count;
	/* Whether one of them can tell: 0 not yet known, 1 no, 2 yes. */
	int indirect_observes;
	/* It was linked to compute fast rather than the same: 0 not yet known, 1 no, 2 yes. */
	int fast;
	/* The address of another library's function is taken that asks. */
	bool stub_taken;
	uint64_t instructions;
};

/* classify.c: whether the other object that SYMBOL comes from can tell. */
bool mal_other_tells(const struct mal_program *program, const char *symbol);

/* regions.c: all regions, each once, sorted by address. */
int mal_find_regions(struct mal_program *program, struct mal_region_functions *regions,
		     struct mal_error *err);

/* locals.c: the function at ENTRY by itself, NULL where it is not known. */
struct mal_local *mal_local_at(struct mal_program *program, uint64_t entry);

/* The function at ENTRY, with all that it calls. */
const struct mal_reach *mal_closure(struct mal_program *program, uint64_t entry);

/* How many bytes of arguments the function at ENTRY takes on the stack. */
int64_t mal_takes_stack(struct mal_program *program, uint64_t entry);

/* Whether a function whose address is taken can tell; what they all do. */
bool mal_indirect_observes(struct mal_program *program);
uint32_t mal_taken_does(struct mal_program *program);

/* sweep.c: the verdict on the function at ENTRY, NULL where it is not known. */
const struct mal_callee *mal_callee(struct mal_program *program, uint64_t entry);

void mal_program_free(struct mal_program *program);
