/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * deadline.c: one deadline for all waits of slurmstepd together.
 *
 * Invariant: waits add up to the deadline, and never beyond (t/unit/test_step.c:
 * waits_have_limits).
 */
#include "spank/deadline.h"

#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"

static long deadline_ms;

void balance_deadline_set(int ms)
{
	deadline_ms = mal_now_ms() + mal_patience_ms(ms);
}

int balance_deadline_left(int max)
{
	long left = deadline_ms - mal_now_ms();

	max = mal_patience_ms(max);
	if (left <= 0)
		return 0;
	return left < max ? (int)left : max;
}

long balance_deadline_shorten(int ms)
{
	long before = deadline_ms, earlier = mal_now_ms() + mal_patience_ms(ms);

	if (earlier < before)
		deadline_ms = earlier;
	return before;
}

void balance_deadline_restore(long before)
{
	deadline_ms = before;
}
