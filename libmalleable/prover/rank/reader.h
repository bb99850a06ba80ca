/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reader.h: the thread that reads objects while the program goes on. It computes as usual while the
 * program waits for it. Then it has the CPU time that nobody else needs, and 1.4 % of a CPU else.
 */
#pragma once

#include "libmalleable/prover/rank/loaded.h"
#include "libmalleable/prover/rank/verdict_files.h"

/*
 * What the ranks of a node share: which process reads, 0, or MAL_EACH_READS where no file can be
 * kept; how often verdicts were kept; and the region that one of them started last without a
 * verdict, as in its object's file: it is read next. And how a thread is started in the background,
 * and whether it is at work.
 */
enum { MAL_EACH_READS = -1 };
struct mal_reader_share {
	_Atomic int32_t *turn;
	_Atomic uint32_t *verdicts_kept;
	_Atomic uint64_t *awaited;
	bool (*start)(void *(*function)(void *));
	bool (*works)(void);
};

/* One object. What comes of it is there once it is DONE. */
struct mal_reader_job {
	size_t index; /* among those that were loaded */
	struct mal_identity identity;
	struct mal_verdicts verdicts;
	const char *trouble; /* why nothing is known of it, or NULL */
	uint64_t stored_ns;  /* the thread's CPU time when its verdicts were kept last */
	_Atomic bool done;
};

/*
 * Returns false with *TROUBLE, static storage, if no object can be read. STAMP is a number for the
 * code that finds verdicts.
 */
bool mal_reader_open(struct mal_reader_share share, uint64_t *stamp, const char **trouble);

/* Whether none is at work, so that another list of objects can be begun. */
bool mal_reader_is_free(void);

/*
 * Add an object to the list that is begun next, INDEX of FROM; begin with it. Returns false if
 * that is not possible: the list is empty then.
 */
void mal_reader_add(size_t index, const struct mal_identity *identity);
bool mal_reader_begin(const struct mal_loaded *from);

/* Those that were begun last; what is taken from them is the caller's. Drop them, if none works. */
struct mal_reader_job *mal_reader_jobs(const struct mal_loaded **of, size_t *count);
void mal_reader_clear(void);

/* The program waits for it no longer. */
void mal_reader_give_way(void);
