/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loadable.h: policies that a site adds as DIRECTORY/policies/NAME.so, or a user in a directory of
 * the own, each with a `const struct mal_policy malleable_policy` (<malleable/policy.h>;
 * doc/policies.md).
 *
 * Such code never runs in a process of ours: a host process (malleable-policy) loads it, describes
 * it and decides. Its answers come back in shared memory, and are checked. If it crashes, ends or
 * takes too long (a second, times base/patience.h) its plan is rejected (plan_check.h), and it is
 * not asked again.
 *
 * Not thread safe.
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/base/error.h"
#include "policies/interface/choice.h"

/* Loadable policies that a process can use. */
#define MAL_LOADABLE_MAX 8

/* Where users say in which directory they have policies of their own, NAME.so. */
#define MAL_LOADABLE_VARIABLE "MALLEABLE_POLICIES"

/*
 * Look for policies in USERS too, behind the site's: a user's own directory, NULL or empty: none.
 * Returns 0, or -1 with ERR: it is no absolute path.
 */
int mal_loadable_add(const char *users, struct mal_error *err);

/* Whether DIRECTORY has a folder for such policies, or there is a user's own. */
bool mal_loadable_has_any(const char *directory);

/*
 * mal_choose() of TEXT, a value for --balance, with the default policy where it names none. If it
 * names one that is not built in and has a file, register that first. ALLOWED as for mal_choose().
 * Returns 0, or -1 with ERR, also if this version cannot use the file. The host that it starts has
 * ended on return.
 */
int mal_loadable_choose(const char *text, const char *directory, const char *allowed,
			struct mal_choice *choice, struct mal_error *err);

/*
 * The same without loading the file, for processes that only pass TEXT on: any parameter is
 * accepted, and any name where a user has a directory, which is not looked into. Starts no process.
 */
int mal_loadable_trust(const char *text, const char *directory, const char *allowed,
		       struct mal_choice *choice, struct mal_error *err);

/*
 * Register all usable policies of DIRECTORY. Prints a line on standard error for each of the
 * others.
 */
void mal_loadable_use_all(const char *directory);
