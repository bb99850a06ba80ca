/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* phrases.h: words for what ranks and policies did, for the report. */
#ifndef MAL_CONTROLLER_REPORT_PHRASES_H
#define MAL_CONTROLLER_REPORT_PHRASES_H

#include "libmalleable/controller/state/controller.h"

/*
 * Why rank RANK's team keeps its size; what it says of itself is not believed beyond the
 * enumeration.
 */
enum mal_mode_reason mal_phrase_reason(const struct mal_controller *controller, unsigned int rank);

/* The same in words; empty for MAL_REASON_NONE. Static storage. */
const char *mal_phrase_of_reason(enum mal_mode_reason reason);

/*
 * The schedule that was set for loops with schedule(runtime), in TEXT of SIZE bytes; empty: the
 * program's own.
 */
const char *mal_phrase_schedule(const struct mal_controller *controller, char *text, size_t size);

#endif
