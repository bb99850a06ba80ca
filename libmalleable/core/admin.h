/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admin.h: the administrator's off switch: a file of root, by default on each node, elsewhere where plugstack.conf names one in a shared
 * directory.
 *
 * While it is there no step is balanced: new ones start as without us, in running ones the ranks go back to their own CPUs.
 */
#ifndef MAL_CORE_ADMIN_H
#define MAL_CORE_ADMIN_H

#include <stdbool.h>
#include <sys/stat.h>

#define MAL_OFF_FILE "/run/malleable.off"

/* Is balancing switched off by FILE? A file of somebody else than root counts for nothing. NULL: there is no switch. */
static inline bool mal_admin_is_off(const char *file)
{
	struct stat status;

	return file && stat(file, &status) == 0 && status.st_uid == 0;
}

#endif
