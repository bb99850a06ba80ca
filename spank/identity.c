/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* identity.c: root's effective id, for a while. */
#include "spank/identity.h"

#include <unistd.h>

#include "spank/plugin.h"

uid_t balance_become_root(void)
{
	uid_t before = geteuid();

	if (before != 0 && seteuid(0) < 0)
		slurm_error("balance: cannot become root");
	return before;
}

void balance_become(uid_t uid)
{
	if (uid != 0 && seteuid(uid) < 0)
		slurm_error("balance: cannot return to user %u", (unsigned int)uid);
}
