/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check.h: is a plan fit to be carried out, whoever made it? */
#ifndef MAL_POLICIES_CHECK_H
#define MAL_POLICIES_CHECK_H

#include "policies/policy.h"

/*
 * Returns NULL if every running rank keeps a CPU, every CPU has a running rank or is left as it was, and no rank gets
 * more than it can use; else a static text that says what is wrong.
 */
const char *mal_plan_flaw(const struct mal_view *view, const struct mal_plan *plan);

#endif
