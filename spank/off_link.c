/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * off_link.c: root's link to the off switch that plugstack.conf names.
 *
 * Invariant: running steps find the switch where off_file= has it now (t/t1004-admin.t).
 */
#include "spank/off_link.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/off_file.h"
#include "spank/plugin.h"

static bool is_right(void)
{
	char now[MAL_OFF_PATH];

	return mal_admin_read_link(now, sizeof(now)) && strcmp(now, balance_config.off_file) == 0;
}

const char *balance_switch_link(void)
{
	char fresh[sizeof(MAL_OFF_LINK) + 16];

	if (is_right())
		return MAL_OFF_LINK;
	/* Steps that start at once replace it by one another's. */
	snprintf(fresh, sizeof(fresh), MAL_OFF_LINK ".%ld", (long)getpid());
	unlink(fresh);
	if (symlink(balance_config.off_file, fresh) == 0 && rename(fresh, MAL_OFF_LINK) < 0)
		unlink(fresh);
	return is_right() ? MAL_OFF_LINK : balance_config.off_file;
}
