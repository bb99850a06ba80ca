/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path.c: where a path leads, looked up part by part. */
#include "libmalleable/base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40

/* Whether a path may lead over PART, which is in a directory. */
typedef bool rule_fn(const struct stat *part, const struct stat *directory);

static bool is_shared(const struct stat *directory)
{
	return (directory->st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
}

static bool is_no_strangers_link(const struct stat *part, const struct stat *directory)
{
	uid_t user = geteuid();

	return !S_ISLNK(part->st_mode) || part->st_uid == 0 || part->st_uid == user ||
	       (user != 0 && !is_shared(directory));
}

/* In a directory such as /tmp nobody exchanges what is root's. */
static bool is_roots(const struct stat *part, const struct stat *directory)
{
	(void)directory;
	return part->st_uid == 0 &&
	       (S_ISLNK(part->st_mode) || !(part->st_mode & (S_IWGRP | S_IWOTH)) ||
		(S_ISDIR(part->st_mode) && is_shared(part)));
}

/* NAME in DIRECTORY, or the link that it is. A directory is mounted if that is due. */
static int open_part(int directory, const char *name)
{
	static const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(directory, name, flags | O_DIRECTORY);

	return fd < 0 && (errno == ENOTDIR || errno == ELOOP) ? openat(directory, name, flags) : fd;
}

static int open_base(int directory, const char *path)
{
	return openat(directory, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Put the target of LINK in front of what is behind it in REST, at AFTER. */
static int follow(int link, const char *after, char rest[PATH_MAX])
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(link, "", target, sizeof(target));

	if (length < 0)
		return -1;
	if ((size_t)length + strlen(after) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memmove(rest + length, after, strlen(after) + 1);
	memcpy(rest, target, (size_t)length);
	return 0;
}

/* Take the first part of REST into NAME. Returns what is behind it, or NULL with errno. */
static const char *take_part(const char *rest, char name[NAME_MAX + 1])
{
	size_t length;

	rest += strspn(rest, "/");
	length = strcspn(rest, "/");
	if (length > NAME_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	snprintf(name, NAME_MAX + 1, "%.*s", length ? (int)length : 1, length ? rest : ".");
	return rest + length;
}

/*
 * Go from DIRECTORY over the first part of REST, which becomes the rest behind it. Returns the
 * next directory, DIRECTORY itself at the end, or -1 with errno.
 */
static int step(int directory, rule_fn *rule, bool followed, char rest[PATH_MAX],
		char name[NAME_MAX + 1])
{
	const char *after = take_part(rest, name);
	struct stat part, parent;
	int there, next = -1;

	if (!after)
		return -1;
	there = open_part(directory, name);
	if (there < 0)
		return errno == ENOENT && !*after ? directory : -1;
	if (fstat(there, &part) == 0 && fstat(directory, &parent) == 0) {
		if (!rule(&part, &parent)) {
			errno = EMLINK;
		} else if (S_ISLNK(part.st_mode) && (*after || followed)) {
			if (follow(there, after, rest) == 0)
				next = open_base(directory, rest);
		} else if (!*after) {
			next = directory;
		} else {
			memmove(rest, after, strlen(after) + 1);
			return there;
		}
	}
	close(there);
	return next;
}

static int walk(const char *path, rule_fn *rule, bool followed, char name[NAME_MAX + 1])
{
	char rest[PATH_MAX];
	int directory;

	if (!*path || snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest)) {
		errno = *path ? ENAMETOOLONG : ENOENT;
		return -1;
	}
	directory = open_base(AT_FDCWD, path);
	/* A link is a part more, and each part needs a byte or two. */
	for (unsigned int parts = 0; directory >= 0; parts++) {
		int next = -1;

		if (parts < PATH_MAX + LINKS_MAX)
			next = step(directory, rule, followed, rest, name);
		else
			errno = ELOOP;
		if (next == directory)
			break;
		close(directory);
		directory = next;
	}
	return directory;
}

int mal_path_open(const char *path, bool followed, char name[NAME_MAX + 1])
{
	return walk(path, is_no_strangers_link, followed, name);
}

bool mal_path_is_roots(const char *path)
{
	char name[NAME_MAX + 1];
	struct stat top, end;
	bool roots;
	int directory = *path == '/' && stat("/", &top) == 0 && is_roots(&top, &top)
				? walk(path, is_roots, true, name)
				: -1;

	if (directory < 0)
		return false;
	/* What is not there yet others may make, in a directory such as /tmp. */
	roots = fstatat(directory, name, &end, AT_SYMLINK_NOFOLLOW) == 0 && is_roots(&end, &top);
	close(directory);
	return roots;
}
