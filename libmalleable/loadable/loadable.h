/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loadable.h: policies that a site adds: DIRECTORY/policies/NAME.so, each with a `const struct mal_policy malleable_policy`
 * (<malleable/policy.h>; doc/policies.md).
 *
 * Such code never runs in a process of ours: a host of its own (malleable-policy) loads it, describes it and decides. What it
 * says comes back in memory that both share, and is checked. If it crashes, takes longer than a second, or ends, that is a flaw of its plan (check.h),
 * and it is not asked again.
 */
#ifndef MAL_LOADABLE_LOADABLE_H
#define MAL_LOADABLE_LOADABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/core/error.h"

/* So many can be used by one process. */
#define MAL_LOADABLE_MOST 8

/*
 * If TEXT, a value for --balance, names a policy that is not built in, but whose file exists, make it known to mal_choose. Returns
 * 0, also where there is nothing to do, or -1 with ERR: the file is no policy that this version can use. Not thread safe; the
 * host that it starts has ended when it returns.
 */
int mal_loadable_use(const char *text, const char *directory, struct mal_error *err);

/*
 * The same without looking into the file, for processes that only pass TEXT on: any parameter is taken for good. Starts nothing.
 */
void mal_loadable_trust(const char *text, const char *directory);

/* Make all policies of DIRECTORY known that are fit; the others are named in a line each on standard error. */
void mal_loadable_use_all(const char *directory);

#endif
