/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hierarchy.c: find a cgroup hierarchy, and this process's cgroup in it.
 *
 * Invariant: a path is ours only if the kernel names it in /proc/self (t/unit/test_hierarchy.c:
 * bind_mounts_are_not_the_root, paths_begin_at_the_namespace).
 */
#include "spank/hierarchy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/input.h"

/* This process's cgroups, as the kernel names them; empty: none. */
struct own {
	char v1[PATH_MAX / 2], v2[PATH_MAX / 2];
};

/* A line of mountinfo (proc(5)), split in place. */
struct line {
	char *root;  /* which part of the hierarchy is mounted */
	char *mount; /* where */
	const char *type;
	char *options; /* of the hierarchy: its controllers under v1 */
};

/* Whether WORD is in LIST, separated by SEPARATORS. Splits LIST in place. */
static bool is_listed(char *list, const char *separators, const char *word)
{
	char *save;

	for (char *one = strtok_r(list, separators, &save); one;
	     one = strtok_r(NULL, separators, &save))
		if (strcmp(one, word) == 0)
			return true;
	return false;
}

static bool copy(char *to, size_t size, const char *from)
{
	bool fits = strlen(from) < size;

	if (fits)
		strcpy(to, from);
	return fits;
}

/* A line is NUMBER:CONTROLLERS:PATH; for v2 CONTROLLERS is empty. */
static void read_own(FILE *cgroups, const char *controller, struct own *own)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, cgroups) > 0) {
		char *controllers = strchr(line, ':'),
		     *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (!*++controllers)
			copy(own->v2, sizeof(own->v2), path);
		else if (is_listed(controllers, ",", controller))
			copy(own->v1, sizeof(own->v1), path);
	}
	free(line);
}

/* Turn \040 and the like, for blanks in names, into the characters. */
static void decode(char *text)
{
	char *to = text;

	while (*text) {
		char digits[4] = "", *end = digits;
		long code = 0;

		if (*text == '\\') {
			strncpy(digits, text + 1, 3);
			code = strtol(digits, &end, 8);
		}
		*to++ = end == digits + 3 ? (char)code : *text;
		text += end == digits + 3 ? 4 : 1;
	}
	*to = '\0';
}

/* ID PARENT DEVICE ROOT MOUNT OPTIONS TAG... - TYPE SOURCE OPTIONS */
static bool split(char *text, struct line *line)
{
	char *save, *word = strtok_r(text, " \n", &save);

	*line = (struct line){0};
	for (int i = 0; word && strcmp(word, "-") != 0; i++, word = strtok_r(NULL, " \n", &save)) {
		if (i == 3)
			line->root = word;
		else if (i == 4)
			line->mount = word;
	}
	if (!word || !line->mount)
		return false;
	line->type = strtok_r(NULL, " \n", &save);
	strtok_r(NULL, " \n", &save);
	line->options = strtok_r(NULL, " \n", &save);
	if (!line->options)
		return false;
	decode(line->root);
	decode(line->mount);
	return true;
}

/* What of OWN is below ROOT, NULL: it is elsewhere. */
static const char *below(const char *own, const char *root)
{
	size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (!*own || strncmp(own, root, length) != 0)
		return NULL;
	return own[length] == '/' || !own[length] ? own + length : NULL;
}

/* The hierarchy that the mount in TEXT shows, if it has our cgroup. */
static bool read_mount(char *text, const struct own *own, const char *controller,
		       struct balance_hierarchy *found)
{
	struct line line;
	const char *path = NULL;

	if (!split(text, &line))
		return false;
	found->v2 = strcmp(line.type, "cgroup2") == 0;
	if (found->v2)
		path = below(own->v2, line.root);
	else if (strcmp(line.type, "cgroup") == 0 && is_listed(line.options, ",", controller))
		path = below(own->v1, line.root);
	return path && copy(found->own, sizeof(found->own), path) &&
	       copy(found->mount, sizeof(found->mount), line.mount);
}

bool balance_hierarchy_choose(FILE *mounts, FILE *cgroups, const char *controller,
			      enum balance_mount (*rate)(const struct balance_hierarchy *hierarchy,
							 const char *controller),
			      struct balance_hierarchy *hierarchy)
{
	struct own own = {"", ""};
	struct balance_hierarchy found;
	char *line = NULL;
	size_t size = 0;
	int best = 0;

	read_own(cgroups, controller, &own);
	while (getline(&line, &size, mounts) > 0) {
		int rating;

		if (!read_mount(line, &own, controller, &found))
			continue;
		rating = (int)rate(&found, controller);
		/* Prefer v1: if both are mounted v2 has us too, but Slurm does not use it. */
		if (rating && !found.v2)
			rating += BALANCE_MOUNT_WRITABLE;
		if (rating <= best)
			continue;
		best = rating;
		*hierarchy = found;
	}
	free(line);
	return best > 0;
}

/*
 * Whether the v2 hierarchy has CONTROLLER. It is mounted beside v1 too, without most controllers.
 */
static bool has_controller(const struct balance_hierarchy *hierarchy, const char *controller)
{
	char path[PATH_MAX], line[256];

	snprintf(path, sizeof(path), "%s/cgroup.controllers", hierarchy->mount);
	mal_input_text(path, line, sizeof(line));
	return is_listed(line, " \n", controller) || strcmp(controller, "freezer") == 0;
}

static enum balance_mount rate_mount(const struct balance_hierarchy *hierarchy,
				     const char *controller)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", hierarchy->mount, hierarchy->own);
	if (access(path, F_OK) < 0 || (hierarchy->v2 && !has_controller(hierarchy, controller)))
		return BALANCE_MOUNT_USELESS;
	return access(path, W_OK) == 0 ? BALANCE_MOUNT_WRITABLE : BALANCE_MOUNT_THERE;
}

int balance_hierarchy_find(const char *controller, struct balance_hierarchy *hierarchy,
			   struct mal_error *err)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re"),
	     *cgroups = fopen("/proc/self/cgroup", "re");
	bool found = mounts && cgroups &&
		     balance_hierarchy_choose(mounts, cgroups, controller, rate_mount, hierarchy);

	if (mounts)
		fclose(mounts);
	if (cgroups)
		fclose(cgroups);
	return found ? 0 : mal_fail(err, "no cgroup hierarchy with %s", controller);
}
