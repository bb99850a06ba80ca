/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admin.h: the administrator's off switch, a file owned by root on each node, or in a shared
 * directory if plugstack.conf names one there.
 *
 * While it exists no step is balanced: new steps start as without the plugin, and ranks of running
 * steps return to their own CPUs.
 */
#ifndef MAL_CORE_ADMIN_H
#define MAL_CORE_ADMIN_H

#include <stdbool.h>
#include <sys/stat.h>

#define MAL_OFF_FILE "/run/malleable.off"

/* Whether FILE switches balancing off: only a file owned by root does. NULL: there is no switch. */
static inline bool mal_admin_is_off(const char *file)
{
	struct stat status;

	return file && stat(file, &status) == 0 && status.st_uid == 0;
}

#endif
