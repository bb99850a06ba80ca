/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * limits.h: the largest step on a node that policies handle; it bounds their arrays on the stack.
 */
#ifndef MAL_POLICIES_INTERFACE_LIMITS_H
#define MAL_POLICIES_INTERFACE_LIMITS_H

#define MAL_MAX_RANKS 1024
#define MAL_MAX_CPUS 1024

#endif
