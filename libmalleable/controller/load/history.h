/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history.h: how many CPUs each rank owned over time, for the report. */
#ifndef MAL_CONTROLLER_LOAD_HISTORY_H
#define MAL_CONTROLLER_LOAD_HISTORY_H

#include <jansson.h>

#include "libmalleable/controller/state/controller.h"

/* Nothing was noted yet. NULL: out of memory. */
struct mal_history *mal_history_create(void);

/*
 * Notes the present numbers if they differ from the last ones; after MAL_HISTORY_MAX changes no
 * more are noted.
 */
#define MAL_HISTORY_MAX 2000
void mal_history_note(struct mal_controller *controller, const struct mal_window *window);

/*
 * [[seconds since the controller's start, [CPUs of rank 0, of rank 1, ...]], ...]; the caller's
 * reference.
 */
json_t *mal_history_json(const struct mal_controller *controller);

/* NULL-safe. */
void mal_history_destroy(struct mal_history *history);

#endif
