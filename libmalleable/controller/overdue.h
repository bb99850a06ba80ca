/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * overdue.h: what to do where a window lasts very much longer than the last one.
 *
 * Policies act when a window has ended. Where phases take very much longer than before, as threads
 * have too little of a CPU that was moved, that may be minutes. So while the window lasts the
 * controller takes a move back that it began with.
 *
 * Invariant: A move is taken back once, and not where a later plan stands (t/unit/test_planning.c:
 * overdue_with_orders).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * A window begins behind WINDOW; NULL: the first, or other ranks run, or another policy decides.
 * MOVES: with a plan that moves CPUs.
 */
void mal_overdue_begin(struct mal_controller *controller, const struct mal_window *window,
		       bool moves);

/* Do what is due. */
void mal_overdue_look(struct mal_controller *controller);

/* WINDOW has ended. If a move was taken back in it, its CPUs are those of the move. */
void mal_overdue_end(struct mal_controller *controller, struct mal_window *window);
