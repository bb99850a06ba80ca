/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * status_json.h: the step as it is now, for malleable status and malleable top.
 *
 * Invariant: A window that was not measured has no load (t/unit/test_report.c:
 * status_shows_the_present_step).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* One JSON object on one line (doc/man/malleable.1), to be freed; NULL: out of memory. */
char *mal_status_json(const struct mal_controller *controller);
