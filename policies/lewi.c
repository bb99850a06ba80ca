/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lewi.c: lend when idle (Garcia, Corbalan, Labarta: LeWI, ICPP 2009): a rank that waits in MPI lends its CPUs, others
 * borrow them when their next parallel region starts, and it takes them back when it returns.
 */
#include "policies/builtin.h"

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	(void)view;
	plan->bind = true;
	plan->lend = true;
	return 0;
}

const struct mal_policy mal_policy_lewi = {
	.abi = MAL_POLICY_ABI,
	.name = "lewi",
	.summary = "lend CPUs while waiting in MPI, borrow at region start, as LeWI does",
	.decide = decide,
};
