/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * limits.h: the largest step on a node that policies handle, which bounds their arrays on the
 * stack; and the shortest windows.
 */
#ifndef MAL_POLICIES_INTERFACE_LIMITS_H
#define MAL_POLICIES_INTERFACE_LIMITS_H

#define MAL_MAX_RANKS 1024
#define MAL_MAX_CPUS 1024

/* Length that is wanted for windows at first, and while a policy tries something. */
#define MAL_WINDOW_FIRST_S 0.05

#endif
