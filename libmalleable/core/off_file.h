/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * off_file.h: the administrator's off switch, a file owned by root on each node, or in a shared
 * directory if plugstack.conf names one there.
 *
 * While it exists no step is balanced: new steps start as without the plugin, and ranks of running
 * steps return to their own CPUs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAL_OFF_FILE "/run/malleable.off"
/* Root's link to the switch: what off_file= in plugstack.conf names (spank/off_link.h). */
#define MAL_OFF_LINK "/run/malleable.switch"
#define MAL_OFF_PATH 512

/* Whether FILE switches balancing off: only a file owned by root does. NULL: there is no switch. */
static inline bool mal_admin_is_off(const char *file)
{
	struct stat status;

	return file && stat(file, &status) == 0 && status.st_uid == 0;
}

/* Read where the link leads. Returns false if there is no such link of root's. */
static inline bool mal_admin_read_link(char *path, size_t size)
{
	struct stat status;
	ssize_t length = readlink(MAL_OFF_LINK, path, size);

	if (length <= 0 || (size_t)length == size || lstat(MAL_OFF_LINK, &status) < 0 ||
	    status.st_uid != 0)
		return false;
	path[length] = '\0';
	return true;
}

/* The switch of this node, for processes that cannot read plugstack.conf. */
static inline const char *mal_admin_off_file(void)
{
	char path[MAL_OFF_PATH];

	return mal_admin_read_link(path, sizeof(path)) ? MAL_OFF_LINK : MAL_OFF_FILE;
}
