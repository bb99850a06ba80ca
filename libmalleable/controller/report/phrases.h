/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * phrases.h: words for what ranks and policies did, for the report.
 *
 * Invariant: What a rank wrote is not believed beyond the enumeration (t/unit/test_report.c:
 * mode_of_most_ranks_is_named).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"
#include "libmalleable/core/absent.h"

/* Lines one after the other in a buffer; one that does not fit is left out. */
struct mal_text {
	char *bytes;
	size_t size, length; /* LENGTH: of what was added, without a terminating null */
};

/* Append, as printf does; nothing if it does not fit. */
void mal_text_add(struct mal_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Why rank RANK's team keeps its size; what it says of itself is not believed beyond the
 * enumeration.
 */
enum mal_mode_reason mal_phrase_reason(const struct mal_controller *controller, unsigned int rank);

/* The same in words; empty for MAL_REASON_NONE. Static storage. */
const char *mal_phrase_of_reason(enum mal_mode_reason reason);

/*
 * For a verdict, in TEXT of SIZE bytes: why nothing was gained where that is the reason of most
 * ranks, and what to try where one of them shows that it may help. Returns TEXT.
 */
const char *mal_phrase_to_try(const struct mal_controller *controller, enum mal_mode_reason reason,
			      char *text, size_t size);

/* Of the ranks that came, those whose teams keep their size. */
struct mal_kept_teams {
	unsigned int ranks, of_ranks;
};

/*
 * Why most ranks that keep their teams do; MAL_REASON_NONE: no rank does. Fills KEPT unless it is
 * NULL.
 */
enum mal_mode_reason mal_phrase_main_reason(const struct mal_controller *controller,
					    struct mal_kept_teams *kept);

/*
 * Of a rank that was told one thread, so that its team does not grow, in TEXT of SIZE bytes: that,
 * and what to try; empty: none. Returns TEXT.
 */
const char *mal_phrase_reported_one(const struct mal_controller *controller, char *text,
				    size_t size);

/*
 * Of the first region of rank RANK that ran and was bound: its name and why, in TEXT of SIZE bytes,
 * what the rank wrote less what cannot be printed; empty: none.
 */
const char *mal_phrase_bound(const struct mal_controller *controller, unsigned int rank, char *text,
			     size_t size);

/*
 * The schedule that was set for loops with schedule(runtime), in TEXT of SIZE bytes; empty: the
 * program's own.
 */
const char *mal_phrase_schedule(const struct mal_controller *controller, char *text, size_t size);

/* Whether a program of the step missed LIBRARY. */
bool mal_phrase_is_absent(const struct mal_controller *controller, enum mal_absent library);

/* Lines on what this build lacks, empty if it does not: libseccomp; PMIx, with several nodes. */
extern const char mal_phrase_no_filter[], mal_phrase_not_joined[];
