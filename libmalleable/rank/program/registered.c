/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* registered.c: the entry by which runtimes of LLVM's family find each other in a process. */
#include "libmalleable/rank/program/registered.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME "__KMP_REGISTERED_LIB_"

/* An entry is "ADDRESS-VALUE-FILE", the address that of a variable of the runtime. */
static bool is_of(const char *entry, const void *base)
{
	Dl_info info;

	return dladdr((const void *)(uintptr_t)strtoull(entry, NULL, 16), &info) &&
	       info.dli_fbase == base;
}

/* By open(2): shm_open(3) is in another library where glibc is older than 2.34. */
static void remove_file(const char *folder, const void *base)
{
	char path[64], entry[64] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/" NAME "%d_%d", folder, (int)getpid(), (int)getuid());
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	if (read(fd, entry, sizeof(entry) - 1) > 0 && is_of(entry, base))
		unlink(path);
	close(fd);
}

/* Libraries of some versions, and those without /dev/shm and /tmp. */
static void remove_variable(const char *name, const void *base)
{
	const char *entry = getenv(name);

	if (entry && is_of(entry, base))
		unsetenv(name);
}

void mal_registered_remove(const void *base)
{
	char name[64];

	if (!base)
		return;
	remove_file("/dev/shm", base);
	remove_file("/tmp", base);
	snprintf(name, sizeof(name), NAME "%d_%d", (int)getpid(), (int)getuid());
	remove_variable(name, base);
	snprintf(name, sizeof(name), NAME "%d", (int)getpid());
	remove_variable(name, base);
}
