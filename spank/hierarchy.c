/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hierarchy.c: find a cgroup hierarchy, and this process's cgroup in it. */
#include "spank/hierarchy.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>

/*
 * Whether the v2 hierarchy at MOUNT has CONTROLLER. It is mounted beside v1 too, without most
 * controllers.
 */
static bool has_controller(const char *mount, const char *controller)
{
	char path[PATH_MAX], line[256] = "", *save;
	bool has = strcmp(controller, "freezer") == 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.controllers", mount);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(line, sizeof(line), file))
		for (char *word = strtok_r(line, " \n", &save); word;
		     word = strtok_r(NULL, " \n", &save))
			has |= strcmp(word, controller) == 0;
	fclose(file);
	return has;
}

/* Prefer v1: if both are mounted v2 has all processes too, but Slurm does not use it. */
static bool find_mount(const char *controller, struct balance_hierarchy *hierarchy)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	bool found = false, v1 = false;
	struct mntent *entry;

	while (mounts && !v1 && (entry = getmntent(mounts))) {
		v1 = strcmp(entry->mnt_type, "cgroup") == 0 && hasmntopt(entry, controller);
		if (!v1 && !(strcmp(entry->mnt_type, "cgroup2") == 0 &&
			     has_controller(entry->mnt_dir, controller)))
			continue;
		found = true;
		hierarchy->v2 = !v1;
		snprintf(hierarchy->mount, sizeof(hierarchy->mount), "%s", entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Whether CONTROLLER is in LIST, separated by commas. Splits LIST in place. */
static bool is_listed(char *list, const char *controller)
{
	char *save;

	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save))
		if (strcmp(word, controller) == 0)
			return true;
	return false;
}

/* A line is NUMBER:CONTROLLERS:PATH; for v2 CONTROLLERS is empty. */
static bool find_own(const char *controller, struct balance_hierarchy *hierarchy)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':'),
		     *own = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!own)
			continue;
		*own++ = '\0';
		controllers++;
		own[strcspn(own, "\n")] = '\0';
		found = hierarchy->v2 ? !*controllers : is_listed(controllers, controller);
		if (found)
			snprintf(hierarchy->own, sizeof(hierarchy->own), "%s", own);
	}
	if (file)
		fclose(file);
	return found;
}

int balance_hierarchy_find(const char *controller, struct balance_hierarchy *hierarchy,
			   struct mal_error *err)
{
	if (find_mount(controller, hierarchy) && find_own(controller, hierarchy))
		return 0;
	return mal_fail(err, "no cgroup hierarchy with %s", controller);
}
