/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unloadable.h: places where our libraries cannot be loaded: another mount namespace or root, as in
 * a container.
 *
 * There ld.so prints an error for each library in each process, and an older C library starts
 * nothing. So a program that is executed there gets an environment without us.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a C library is here that is as new as the one that we were built with. True where that
 * could not be told when this process started.
 */
bool mal_unloadable_libc_fits(void);

/*
 * Whether ENVIRONMENT preloads our libraries, and a program that is executed here could not load
 * them. Returns the bytes that mal_unloadable_leave_out() needs; 0: no. Safe in a child of
 * vfork(2).
 */
size_t mal_unloadable_room(char *const *environment);

/* Copy ENVIRONMENT to ROOM, without what is ours. Its step's segment is told. As safe. */
char *const *mal_unloadable_leave_out(char *const *environment, void *room);

/* The same for the own environment, before libc executes something by itself. Not as safe. */
void mal_unloadable_clean_up(void);
