/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hierarchy.h: find a cgroup hierarchy, v1 or v2, and this process's cgroup in it. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "libmalleable/base/error.h"

struct balance_hierarchy {
	bool v2;
	char mount[PATH_MAX / 2];
	char own[PATH_MAX / 2]; /* this process's cgroup, relative to MOUNT */
};

/* How well a mount serves: not at all, its files are there, they can be written. */
enum balance_mount { BALANCE_MOUNT_USELESS, BALANCE_MOUNT_THERE, BALANCE_MOUNT_WRITABLE };

/*
 * Of what MOUNTS and CGROUPS say, /proc/self/mountinfo and /proc/self/cgroup, choose a mount of the
 * hierarchy with CONTROLLER that has this process's cgroup in it: one of several may show another
 * part of the hierarchy. RATE says how well one serves. Returns false if none does.
 */
bool balance_hierarchy_choose(FILE *mounts, FILE *cgroups, const char *controller,
			      enum balance_mount (*rate)(const struct balance_hierarchy *hierarchy,
							 const char *controller),
			      struct balance_hierarchy *hierarchy);

/*
 * Find the hierarchy with CONTROLLER, a name as in cgroups(7) ("cpuset", "freezer"). Under v2 each
 * cgroup can be frozen, without a controller. Returns 0, or -1 with ERR.
 */
int balance_hierarchy_find(const char *controller, struct balance_hierarchy *hierarchy,
			   struct mal_error *err);
