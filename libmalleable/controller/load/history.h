/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * history.h: how many CPUs each rank owned over time, for the report.
 *
 * Invariant: Two entries in a row differ (t/unit/test_sampling.c: changes_are_noted).
 */
#pragma once

#include <jansson.h>

#include "libmalleable/controller/state/controller.h"

#define MAL_HISTORY_MAX 2000

/*
 * Notes the present numbers if they differ from the last ones; after MAL_HISTORY_MAX changes no
 * more are noted.
 */
void mal_history_note(struct mal_controller *controller, const struct mal_window *window);

/*
 * [[seconds since the controller's start, [CPUs of rank 0, of rank 1, ...]], ...]; the caller's
 * reference.
 */
json_t *mal_history_json(const struct mal_controller *controller);
