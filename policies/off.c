/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* off.c: no balancing: the step runs as if the plugin were not there. */
#include "policies/interface/builtin.h"

const struct mal_policy mal_policy_off = {
	.abi = MAL_POLICY_ABI,
	.name = "off",
	.summary = "nothing is started, the step runs as without the plugin",
};
