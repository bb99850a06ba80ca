/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * skip_preload.h: programs that can be no rank and start none, such as most of coreutils: they are
 * executed without our libraries. A script's short commands would else take longer to load these
 * than to run.
 */
#pragma once

#include <stddef.h>

/*
 * Whether ENVIRONMENT preloads our libraries and no other, and the program of the file PATH calls
 * nothing that starts programs or threads or loads libraries, and neither do its libraries. Returns
 * the bytes that mal_skip_preload() needs; 0: no. Safe in a child of vfork(2).
 */
size_t mal_skip_preload_room(const char *path, char *const *environment);

/* Copy ENVIRONMENT to ROOM, but for LD_PRELOAD. As safe. */
char *const *mal_skip_preload(char *const *environment, void *room);
