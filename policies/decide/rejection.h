/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rejection.h: tell a policy's author what was wrong with a plan.
 *
 * Invariant: of a plan that moves CPUs the text has the window, the counts, and the rank that they
 * are wrong for (t/unit/test_planning.c: leaves_rank_without, gives_too_many).
 */
#pragma once

#include "policies/interface/policy.h"

#define MAL_REJECTION_TEXT 256

/* WHY, and of what plan, which was made on VIEW after window number WINDOW. Returns TEXT. */
const char *mal_rejection_describe(const char *why, const struct mal_view *view,
				   const struct mal_plan *plan, unsigned int window,
				   char text[MAL_REJECTION_TEXT]);
