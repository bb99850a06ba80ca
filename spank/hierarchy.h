/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hierarchy.h: find a cgroup hierarchy, v1 or v2, and this process's cgroup in it. */
#ifndef MAL_SPANK_HIERARCHY_H
#define MAL_SPANK_HIERARCHY_H

#include <limits.h>
#include <stdbool.h>

#include "libmalleable/base/error.h"

struct balance_hierarchy {
	bool v2;
	char mount[PATH_MAX / 2];
	char own[PATH_MAX / 2]; /* this process's cgroup, relative to MOUNT */
};

/*
 * Find the hierarchy with CONTROLLER, a name as in cgroups(7) ("cpuset", "freezer"). Under v2 each
 * cgroup can be frozen, without a controller. Returns 0, or -1 with ERR.
 */
int balance_hierarchy_find(const char *controller, struct balance_hierarchy *hierarchy,
			   struct mal_error *err);

#endif
