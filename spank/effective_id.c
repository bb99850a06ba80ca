/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * effective_id.c: take on root's effective id for a while.
 *
 * Invariant: a step whose user's id cannot be restored is not balanced (t/unit/test_step.c:
 * no_way_back).
 */
#include "spank/effective_id.h"

#include <unistd.h>

int balance_become_root(uid_t *before, struct mal_error *err)
{
	*before = geteuid();
	return *before != 0 && seteuid(0) < 0 ? mal_fail_errno(err, "cannot become root") : 0;
}

int balance_become(uid_t uid, struct mal_error *err)
{
	if (geteuid() == uid || seteuid(uid) == 0)
		return 0;
	return mal_fail_errno(err, "cannot return to user %u", (unsigned int)uid);
}
