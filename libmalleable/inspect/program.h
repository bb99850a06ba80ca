/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.h: what is known of the functions of a file, each with all that it can reach. */
#ifndef MAL_INSPECT_PROGRAM_H
#define MAL_INSPECT_PROGRAM_H

#include "libmalleable/inspect/names.h"

/* The functions that calls start as parallel regions. */
enum { MAL_REGIONS = 20000 };

struct mal_start {
	uint64_t entry;
	/* A size of the team is asked for. */
	int clause;
	/* Started by another call than the plain ones: teams, sections, reductions. */
	int other;
};

struct mal_starts {
	struct mal_start *starts;
	size_t count;
	/* A call starts a region whose function was not found. */
	int unknown;
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

struct mal_finding {
	/* Why it is so, empty if it is not; where that is seen, or 0. */
	char reason[200];
	uint64_t where;
};

/* checks.c: note why it is bound. SYMBOL may be NULL. */
void mal_note(struct mal_finding *finding, uint64_t where, const char *reason, const char *symbol);

/* One function by itself. */
struct mal_local {
	uint64_t entry;
	const char *reason, *symbol;
	/* Where the reason is, and where it calls through a pointer. */
	uint64_t where, pointer, writes;
	uint32_t does;
	/* What it gives qsort(), or 0. */
	uint64_t given;
	/* How many bytes of arguments it takes on the stack. */
	int64_t stack;
	/* RBP is the frame's. */
	int frame;
	/* Functions that it calls, or takes the address of. */
	uint64_t *calls;
	uint32_t call_count;
};

/* A function with all that it calls. */
struct mal_reach {
	uint64_t entry;
	const char *reason, *symbol;
	uint64_t where, pointer, writes, given;
	uint32_t does;
};

/* What a function that asks, or has constructs, does where a region calls it. */
struct mal_callee {
	uint64_t entry;
	struct mal_finding finding, replicated;
	/* Why it may be right with one thread alone; why it sums (classify.h). */
	struct mal_finding alone, sums;
	/* Stores by the registers of arguments that lead there: MAL_GIVEN, MAL_WITHIN. */
	uint32_t stores[MAL_STORES], store_count;
	uint64_t stores_at;
	/* The class of what it returns (enum mal_class), in RAX and XMM0. */
	int returns[2];
	/* It returns just the thread's number (enum mal_kind), or 0. */
	int returned;
	/* It does something for one thread alone. */
	int chooses;
	int done;
};

struct mal_inspect_by;

struct mal_program {
	const struct mal_image *image;
	const struct mal_inspect_by *by;
	struct mal_local *locals;
	size_t local_count;
	/* Numbers of functions' locals, plus 1, by the function's place in the image. */
	uint32_t *local_of;
	struct mal_reach *reaches;
	size_t reach_count;
	struct mal_callee **callees;
	size_t callee_count;
	const struct mal_starts *starts;
	/* Functions whose address is taken, other than by the calls that start a region. */
	uint64_t *taken;
	size_t taken_count;
	/* Whether one of them can tell: 0 not yet known, 1 no, 2 yes. */
	int taken_tells;
	/* It was linked to compute fast rather than the same: 0 not yet known, 1 no, 2 yes. */
	int fast;
	/* The address of another library's function is taken that asks. */
	int stub_taken;
	uint64_t instructions;
};

/* regions.c: all regions, each once, sorted by address. */
int mal_find_regions(struct mal_program *program, struct mal_starts *starts, struct mal_error *err);

/* locals.c: the function at ENTRY by itself, NULL where it is not known. */
const struct mal_local *mal_local_at(struct mal_program *program, uint64_t entry);

/* The function at ENTRY, NULL for want of memory. Valid until the next call. */
const struct mal_reach *mal_closure(struct mal_program *program, uint64_t entry);

/* How many bytes of arguments the function at ENTRY takes on the stack. */
int64_t mal_takes_stack(struct mal_program *program, uint64_t entry);

/* Whether a function whose address is taken can tell; what they all do. */
int mal_taken_tells(struct mal_program *program);
uint32_t mal_taken_does(struct mal_program *program);

/* sweep.c: the verdict on the function at ENTRY, NULL where it is not known. */
const struct mal_callee *mal_callee(struct mal_program *program, uint64_t entry);

/* Whether it is too late, or too much, to look at more. */
int mal_is_late(const struct mal_program *program);
void mal_program_free(struct mal_program *program);

#endif
