/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unloadable.c: places where our libraries cannot be loaded: another mount namespace or root, as in
 * a container. No memory of libc's, no lock, little stack: the caller may be a child of vfork(2),
 * or a signal handler on a stack of its own.
 *
 * Invariant: where our libraries cannot be loaded all runs as without us (t/unit/test_core.c:
 * unloadable_is_left_out; t/t4611-unseen.t).
 */
#include "libmalleable/core/unloadable.h"

#include <errno.h>
#include <fcntl.h>
#include <features.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/raw.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/setup.h"
#include "libmalleable/core/variables.h"

#define PRELOAD "LD_PRELOAD"
/* The loader's path, part of the machine's ABI. */
#if defined(__x86_64__)
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif
/* Until glibc 2.33 the loader's path is a link to a file of this name. */
#define OLD_LOADER "ld-2."
/* A link to a longer path is cut off: then its name is that of no old loader. */
#define LINK_SIZE 256

#ifdef LOADER
static bool look(void)
{
	char target[LINK_SIZE];
	long length = MAL_RAW(SYS_readlinkat, AT_FDCWD, LOADER, target, sizeof(target) - 1);
	const char *name;

	/* Without one the programs are static, or of another C library, such as musl. */
	if (length < 0)
		return length != -ENOENT && length != -ENOTDIR;
	target[length] = '\0';
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	return strncmp(name, OLD_LOADER, strlen(OLD_LOADER)) != 0 ||
	       strtol(name + strlen(OLD_LOADER), NULL, 10) >= __GLIBC_MINOR__;
}

/* Some systems have their loaders elsewhere: there a look shows nothing. */
static bool fitted;

__attribute__((constructor)) static void look_at_start(void)
{
	fitted = look();
}

bool mal_unloadable_libc_fits(void)
{
	return !fitted || look();
}
#else
bool mal_unloadable_libc_fits(void)
{
	return true;
}
#endif

/* Whether a library of ours, whose path is the LENGTH bytes at NAME, can be read here, and FITS. */
static bool is_seen(const char *name, size_t length, bool fits)
{
	char *path = __builtin_alloca(length + 1);

	memcpy(path, name, length);
	path[length] = '\0';
	return fits && access(path, R_OK) == 0;
}

/* Whether LIST, of paths to preload, has one of ours that cannot be loaded here. */
static bool has_unloadable(const char *list)
{
	bool fits = mal_unloadable_libc_fits();

	for (; *list; list += *list != '\0') {
		size_t length = strcspn(list, ": ");

		if (length < PATH_MAX && *list == '/' && mal_setup_is_ours(list, length) &&
		    !is_seen(list, length, fits))
			return true;
		list += length;
	}
	return false;
}

static bool is_unloadable(char *const *environment)
{
	const char *preload = mal_variable(environment, PRELOAD);
	int saved = errno;
	bool unloadable =
		preload && mal_variable(environment, MAL_ENV_SEGMENT_FD) && has_unloadable(preload);

	errno = saved;
	return unloadable;
}

size_t mal_unloadable_room(char *const *environment)
{
	const char *preload = mal_variable(environment, PRELOAD);

	if (!is_unloadable(environment))
		return 0;
	return mal_variables_room(environment, sizeof(PRELOAD "=") + strlen(preload));
}

static void unset(void *context, const char *name)
{
	mal_variable_remove(context, name);
}

char *const *mal_unloadable_leave_out(char *const *environment, void *room)
{
	char **variables = room, **preload, *value;
	const struct mal_setup_env env = {.unset = unset, .context = variables};
	int saved = errno;

	value = mal_variables_copy(environment, variables);
	/* The controller says why no rank connected. */
	mal_segment_note_unloadable(mal_segment_named(environment));
	preload = (char **)mal_variable_at(variables, PRELOAD);
	*preload = strcpy(value, *preload);
	value += sizeof(PRELOAD);
	mal_setup_strip(value);
	if (!*value)
		unset(variables, PRELOAD);
	mal_setup_forget(&env, mal_variable(variables, MAL_ENV_HOT_TEAMS));
	errno = saved;
	return variables;
}

void mal_unloadable_clean_up(void)
{
	int saved = errno;

	if (is_unloadable(environ)) {
		mal_segment_note_unloadable(mal_segment_named(environ));
		mal_setup_remove(&mal_setup_own);
	}
	errno = saved;
}
