/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listeners.h: functions of the program that are told how many CPUs its rank has. */
#pragma once

#include <stdbool.h>

typedef void mal_listener(int cpus, void *argument);

/* The pair is known once. Returns false if there is no room. */
bool mal_listeners_add(mal_listener *function, void *argument);
void mal_listeners_remove(mal_listener *function, void *argument);

/* Whether there is one. */
bool mal_listeners_any(void);

/*
 * The rank has CPUS CPUs: call all if that differs from the last time. They may call what calls
 * this, which does nothing then.
 */
void mal_listeners_tell(int cpus);

/* The thread that calls them jumps out of what it does. */
void mal_listeners_left(void);
