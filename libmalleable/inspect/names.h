/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names.h: what is known of functions in other libraries, by their names. */
#ifndef MAL_INSPECT_NAMES_H
#define MAL_INSPECT_NAMES_H

#include "libmalleable/inspect/decode.h"

enum mal_external_kind {
	MAL_EXTERNAL_UNKNOWN,
	/* A thread learns which one it is, or how many there are. */
	MAL_EXTERNAL_IDENTITY,
	/* Its result depends on its arguments alone. */
	MAL_EXTERNAL_PURE,
	/* The same, with results in memory. */
	MAL_EXTERNAL_OUT,
	MAL_EXTERNAL_ALLOCATE,
	MAL_EXTERNAL_RELEASE,
	/* Reads memory or a clock. */
	MAL_EXTERNAL_READ,
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
	MAL_EXTERNAL_DISPATCH_INIT,
	MAL_EXTERNAL_DISPATCH_NEXT,
	MAL_EXTERNAL_LOOP_START,
	MAL_EXTERNAL_LOOP_START_ULL,
	MAL_EXTERNAL_LOOP_NEXT,
	MAL_EXTERNAL_LOOP_END,
	MAL_EXTERNAL_BARRIER,
	MAL_EXTERNAL_ONCE,
	MAL_EXTERNAL_ONCE_END,
	MAL_EXTERNAL_PROTECT,
	MAL_EXTERNAL_REDUCE,
	MAL_EXTERNAL_REDUCE_END,
	MAL_EXTERNAL_FORK,
	MAL_EXTERNAL_CLAUSE,
};

enum { MAL_ANY_ARGUMENTS = 15 };

struct mal_external {
	const char *name;
	uint8_t kind;
	/* How many arguments it takes in general registers and in those of vectors. */
	uint8_t integers, vectors;
};

/* The tables: of whole names, sorted, and of how names begin. */
extern const struct mal_external mal_external_table[], mal_external_beginnings[];
extern const size_t mal_external_count, mal_external_beginning_count;

/* What is known of the function NAME; never NULL. */
const struct mal_external *mal_external(const char *name);

/* Whether the function NAME may learn of a thread or of how many there are. */
int mal_external_observes(const char *name);

/* The name of the function in another library that INSTRUCTION calls or jumps to, or NULL. */
const char *mal_call_name(const struct mal_image *image, const struct mal_instruction *instruction);

/* The function of the image that it calls, 0 where there is none or it is not known. */
uint64_t mal_call_target(const struct mal_image *image, const struct mal_instruction *instruction);

/* Whether the call never returns. */
int mal_call_ends(const struct mal_image *image, const struct mal_instruction *instruction);

#endif
