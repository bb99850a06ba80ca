/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inside.c: whether this process belongs to the balanced step that its environment names.
 *
 * Invariant: outside its step an environment has no effect (t/unit/test_launch.c:
 * the_kernel_tells_who_is_inside; t/t2017-outside.t).
 */
#include "libmalleable/core/inside.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/raw.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/variables.h"

#define LONGEST 8192

/* Raw, as all that mal_inside() calls: what replaces libc's functions may not have started. */
static bool read_cgroups(char *text, size_t size)
{
	long fd = MAL_RAW(SYS_openat, AT_FDCWD, "/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	long got, used = 0;

	if (fd < 0)
		return false;
	while ((got = MAL_RAW(SYS_read, fd, text + used, (long)size - 1 - used)) > 0)
		used += got;
	MAL_RAW(SYS_close, fd);
	text[used] = '\0';
	return used > 0;
}

/* The path in the line at *NEXT, which is cut off there; NULL: there is no further line. */
static const char *next_path(char **next)
{
	char *line = *next, *end = strchr(line, '\n'), *path;

	if (!end)
		return NULL;
	*end = '\0';
	*next = end + 1;
	path = strchr(line, ':');
	path = path ? strchr(path + 1, ':') : NULL;
	return path ? path + 1 : "";
}

const char *mal_inside_cgroup(char *text, size_t size)
{
	char lines[LONGEST], *next = lines;
	const char *path, *step;

	if (!read_cgroups(lines, sizeof(lines)))
		return NULL;
	while ((path = next_path(&next))) {
		size_t length;

		step = strstr(path, "/step_");
		if (!step)
			continue;
		length = (size_t)(step - path) + 1 + strcspn(step + 1, "/");
		if (length >= size)
			return NULL;
		memcpy(text, path, length);
		text[length] = '\0';
		return text;
	}
	return NULL;
}

enum where { HERE, ELSEWHERE, UNKNOWN };

/* A namespace of cgroups shows a path from its own root. */
static enum where compare(const char *cgroup)
{
	char lines[LONGEST], *next = lines;
	enum where where = UNKNOWN;
	const char *path;
	size_t length;

	if (!cgroup || !read_cgroups(lines, sizeof(lines)))
		return UNKNOWN;
	length = strlen(cgroup);
	while ((path = next_path(&next))) {
		if (strncmp(path, cgroup, length) == 0 && (!path[length] || path[length] == '/'))
			return HERE;
		if (strcmp(path, "/") != 0 && strncmp(path, "/..", 3) != 0)
			where = ELSEWHERE;
	}
	return where;
}

bool mal_inside(void)
{
	const char *socket = mal_variable(environ, MAL_ENV_SOCKET);

	if (!mal_variable(environ, MAL_ENV_SEGMENT_FD))
		return false;
	switch (mal_segment_look(mal_segment_named(environ))) {
	case MAL_SEGMENT_THERE: return true;
	case MAL_SEGMENT_OVER: return false;
	case MAL_SEGMENT_NONE: break;
	}
	switch (compare(mal_variable(environ, MAL_ENV_CGROUP))) {
	case HERE: return true;
	case ELSEWHERE: return false;
	default: return socket && mal_channel_is_open(socket);
	}
}
