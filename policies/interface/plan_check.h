/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plan_check.h: decide whether a plan may be carried out, whoever made it. */
#pragma once

#include "policies/interface/policy.h"

/*
 * Returns NULL if every running rank keeps a CPU, every CPU goes to a running rank or stays as it
 * was, and no rank gets more CPUs than it can use. Otherwise returns a static text that names the
 * flaw.
 */
const char *mal_plan_check(const struct mal_view *view, const struct mal_plan *plan);
