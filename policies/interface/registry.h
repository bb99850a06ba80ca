/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* registry.h: policies by name: the built-in ones, and those a program adds when it starts. */
#pragma once

#include "policies/interface/policy.h"

#define MAL_POLICY_DEFAULT "auto"

/* Add POLICY, which must outlive all use. Ignored if the table is full. Not thread safe. */
void mal_policy_register(const struct mal_policy *policy);

/* The policy of that name, or NULL. Static storage. */
const struct mal_policy *mal_policy_find(const char *name);

/* False for policies that change nothing: reports then say what the others would do. */
bool mal_policy_acts(const struct mal_policy *policy);

/* The policy number INDEX, from 0, or NULL after the last one. */
const struct mal_policy *mal_policy_at(size_t index);

/* All names, as "auto, lewi, ...", cut at SIZE bytes. Returns TEXT. */
char *mal_policy_names(char *text, size_t size);

/* The parameter of that name, or NULL. */
const struct mal_param *mal_param_find(const struct mal_policy *policy, const char *name);

/* All parameters' names of POLICY, in the same way; "none" if there are none. */
char *mal_param_names(const struct mal_policy *policy, char *text, size_t size);
