/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* builtin.h: the policies that are linked in. */
#pragma once

#include "policies/interface/policy.h"

extern const struct mal_policy mal_policy_auto;
extern const struct mal_policy mal_policy_explore;
extern const struct mal_policy mal_policy_external;
extern const struct mal_policy mal_policy_lewi;
extern const struct mal_policy mal_policy_observe;
extern const struct mal_policy mal_policy_off;
extern const struct mal_policy mal_policy_sabo;
