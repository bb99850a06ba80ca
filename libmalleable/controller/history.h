/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history.h: how many CPUs each rank owned over time, for the report. */
#ifndef MAL_CONTROLLER_HISTORY_H
#define MAL_CONTROLLER_HISTORY_H

#include <jansson.h>

#include "libmalleable/controller/controller.h"

/* Notes the present numbers if they differ from the last ones; after MAL_HISTORY_MOST changes no more are noted. */
#define MAL_HISTORY_MOST 2000
void mal_history_note(struct mal_controller *controller);

/* [[seconds since the controller's start, [CPUs of rank 0, of rank 1, ...]], ...]; the caller's reference. */
json_t *mal_history_json(const struct mal_controller *controller);

/* Frees what was noted. */
void mal_history_clear(struct mal_controller *controller);

#endif
