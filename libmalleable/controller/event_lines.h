/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event_lines.h: what happens in the step, told to those who read it.
 *
 * Invariant: Nobody pays for it where nobody reads (t/unit/test_control.c: events_cost_readers).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Somebody reads from now on. */
void mal_events_begin(struct mal_controller *controller);

/* Tell what has changed since. Returns whether anybody reads: then look again soon. */
bool mal_events_look(struct mal_controller *controller);
