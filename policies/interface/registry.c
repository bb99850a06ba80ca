/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* registry.c: look up policies by name. */
#include "policies/interface/registry.h"

#include <stdio.h>
#include <string.h>

#include "policies/interface/builtin.h"

static const struct mal_policy *const policies[] = {
	&mal_policy_auto,     &mal_policy_lewi,	   &mal_policy_sabo, &mal_policy_explore,
	&mal_policy_external, &mal_policy_observe, &mal_policy_off,
};

#define BUILT_IN (sizeof(policies) / sizeof(policies[0]))
#define MAX_MORE 16

static const struct mal_policy *more[MAX_MORE];
static size_t more_count;

void mal_policy_register(const struct mal_policy *policy)
{
	if (more_count < MAX_MORE)
		more[more_count++] = policy;
}

const struct mal_policy *mal_policy_at(size_t index)
{
	if (index < BUILT_IN)
		return policies[index];
	return index - BUILT_IN < more_count ? more[index - BUILT_IN] : NULL;
}

bool mal_policy_acts(const struct mal_policy *policy)
{
	return policy != &mal_policy_observe && policy != &mal_policy_off;
}

const struct mal_policy *mal_policy_find(const char *name)
{
	const struct mal_policy *policy;

	for (size_t i = 0; (policy = mal_policy_at(i)); i++)
		if (strcmp(policy->name, name) == 0)
			return policy;
	return NULL;
}

static void append(char *text, size_t size, const char *name)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
}

char *mal_policy_names(char *text, size_t size)
{
	const struct mal_policy *policy;

	text[0] = '\0';
	for (size_t i = 0; (policy = mal_policy_at(i)); i++)
		append(text, size, policy->name);
	return text;
}

const struct mal_param *mal_param_find(const struct mal_policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->param_count; i++)
		if (strcmp(policy->params[i].name, name) == 0)
			return &policy->params[i];
	return NULL;
}

char *mal_param_names(const struct mal_policy *policy, char *text, size_t size)
{
	snprintf(text, size, "%s", policy->param_count ? "" : "none");
	for (size_t i = 0; i < policy->param_count; i++)
		append(text, size, policy->params[i].name);
	return text;
}
