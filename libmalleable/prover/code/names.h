/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names.h: what is known of functions in other libraries, by their names. */
#pragma once

#include "libmalleable/prover/code/decode.h"

enum mal_external_kind {
	/* Not known: what its library can tell, it can. */
	MAL_EXTERNAL_OTHER,
	/* A thread finds out about itself or its team, or may wait for another one. */
	MAL_EXTERNAL_ASKS,
	MAL_EXTERNAL_BINDS,
	/* Changes nothing that another thread sees. */
	MAL_EXTERNAL_PURE,
	/* Sets or copies memory. */
	MAL_EXTERNAL_MEMORY,
	/* Writes memory or a file. */
	MAL_EXTERNAL_EFFECT,
	/* The same, and calls what it gets the address of. */
	MAL_EXTERNAL_CALLBACK,
	/* Does not return. */
	MAL_EXTERNAL_END,
	/* Of the runtimes: one kind a construct. */
	MAL_EXTERNAL_THREAD,
	MAL_EXTERNAL_THREADS,
	MAL_EXTERNAL_GLOBAL_THREAD,
	MAL_EXTERNAL_STATIC_INIT,
	MAL_EXTERNAL_DISPATCH_NEXT,
	MAL_EXTERNAL_LOOP_NEXT,
	MAL_EXTERNAL_ONCE,
	MAL_EXTERNAL_PROTECT,
	MAL_EXTERNAL_PROTECT_END,
	/* All else that regions of plain constructs call. */
	MAL_EXTERNAL_RUNTIME,
	MAL_EXTERNAL_FORK,
	MAL_EXTERNAL_CLAUSE,
};

enum { MAL_ANY_ARGUMENTS = 6 };
#define MAL_CALL_OF_MPI "a call of MPI"

struct mal_external {
	uint8_t kind;
	/* How many arguments it takes in general registers. */
	uint8_t integers;
	/* In which of the first vector registers, if it is pure: a bit each. */
	uint8_t vectors;
	/* Why it binds; NULL where it does not. */
	const char *reason;
	/* Names with a space before and behind each; one that ends with * is a beginning. */
	const char *names;
};

/* Where a function stores: also where it keeps something from call to call. */
enum mal_external_stores {
	MAL_STORES_NOTHING,
	/* Where its first argument points to, or any of them. */
	MAL_STORES_FIRST,
	MAL_STORES_GIVEN,
	MAL_STORES_ANYWHERE
};

enum mal_external_stores mal_external_stores(const struct mal_external *external, const char *name);

/* Registers of its arguments: of vectors those of mathematics, and of what is not known. */
uint64_t mal_external_arguments(const struct mal_external *external);

/* What is known of the function NAME; never NULL. */
const struct mal_external *mal_external(const char *name);

/* The slot of another library's function that INSTRUCTION calls or jumps to, or NULL. */
const struct mal_slot *mal_call_slot(const struct mal_image *image,
				     const struct mal_instruction *instruction);

/* The function of the image that it calls, 0 if none or not known. */
uint64_t mal_call_target(const struct mal_image *image, const struct mal_instruction *instruction);

/* What is known of the function that SLOT leads to; found once. */
const struct mal_external *mal_slot_external(const struct mal_slot *slot);
