/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * alternatives.h: what the policies would have made of a step that is only observed
 * (policies/decide/simulation.h).
 *
 * Invariant: Nothing is simulated for a step that is balanced (t/unit/test_report.c:
 * observed_step_is_predicted).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * A window. The first one takes the CPUs' owners as they are then. Nothing is simulated for more
 * than 256 ranks, as that would cost more than it is worth, nor without memory.
 */
void mal_alternatives_window(struct mal_controller *controller, const struct mal_window *window);

/* What came of the policy number INDEX from 0, or NULL behind the last one. */
const struct mal_outcome *mal_alternatives_at(const struct mal_controller *controller,
					      size_t index);

/* Free all of it. */
void mal_alternatives_close(struct mal_controller *controller);
