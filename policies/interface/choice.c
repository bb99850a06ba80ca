/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * choice.c: check a user's --balance.
 *
 * Invariant: what is wrong is named before a task starts (t/unit/test_choice.c; t/t1001-options.t).
 */
#include "policies/interface/choice.h"

#include <stdlib.h>
#include <string.h>

#include "policies/interface/builtin.h"
#include "policies/interface/registry.h"

static bool in_list(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
			return true;
	return false;
}

static int choose_policy(const char *name, const char *allowed, struct mal_choice *choice,
			 struct mal_error *err)
{
	char names[160];

	choice->policy = mal_policy_find(name);
	if (!choice->policy)
		return mal_fail(err, "unknown policy '%s': known are %s", name,
				mal_policy_names(names, sizeof(names)));
	if (allowed && strcmp(name, "off") != 0 && !in_list(allowed, name))
		return mal_fail(err, "policy '%s' is not allowed here: allowed are %s", name,
				allowed);
	for (size_t i = 0; i < choice->policy->param_count && i < MAL_CHOICE_PARAMS; i++)
		choice->values[i] = choice->policy->params[i].fallback;
	return 0;
}

static int parse_value(const char *text, double *value)
{
	char *end;

	if (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0) {
		*value = text[0] == 'y';
		return 0;
	}
	*value = strtod(text, &end);
	return end == text || *end ? -1 : 0;
}

static int set_param(struct mal_choice *choice, const char *key, const char *text,
		     struct mal_error *err)
{
	const struct mal_param *param = mal_param_find(choice->policy, key);
	char names[160], common[160];
	double value;

	/* Only this policy's name is known here: whoever runs it checks its parameters. */
	if (choice->policy->abi == 0)
		return 0;
	if (!param)
		return mal_fail(err, "unknown key '%s': known are %s and policy %s's own: %s", key,
				mal_setting_names(MAL_SETTING_KEY, common, sizeof(common)),
				choice->policy->name,
				mal_param_names(choice->policy, names, sizeof(names)));
	if (param->choices) {
		int number = mal_word_find(param->choices, text);

		if (number < 0)
			return mal_fail(err, "%s=%s: must be one of %s", key, text, param->choices);
		choice->values[param - choice->policy->params] = number;
		return 0;
	}
	if (parse_value(text, &value) < 0 || !(value >= param->min && value <= param->max))
		return mal_fail(err, "%s=%s: must be a number from %g to %g%s", key, text,
				param->min, param->max,
				param->min == 0 && param->max == 1 ? " (or yes, no)" : "");
	choice->values[param - choice->policy->params] = value;
	return 0;
}

/* Returns 0, 1 if KEY is the policy's own or unknown, or -1. */
static int set_common(struct mal_choice *choice, const char *key, const char *text,
		      struct mal_error *err)
{
	const struct mal_setting *setting = mal_setting_find(MAL_SETTING_KEY, key, strlen(key));
	struct mal_error why;

	if (!setting)
		return 1;
	if (mal_setting_set(setting, &choice->keys, text, &why) == 0)
		return 0;
	/* grow=yes and grow=no are a policy's parameter: may regions grow? */
	if (setting->policies_have && mal_param_find(choice->policy, key))
		return 1;
	return mal_fail(err, "%s=%s: %s", key, text, why.text);
}

int mal_choose_spec(const struct mal_spec *spec, const char *allowed, const char *fallback,
		    struct mal_choice *choice, struct mal_error *err)
{
	memset(choice, 0, sizeof(*choice));
	if (choose_policy(spec->policy[0] ? spec->policy : fallback, allowed, choice, err) < 0)
		return -1;
	for (size_t i = 0; i < spec->count; i++) {
		int result = set_common(choice, spec->pairs[i].key, spec->pairs[i].value, err);

		if (result > 0)
			result = set_param(choice, spec->pairs[i].key, spec->pairs[i].value, err);
		if (result < 0)
			return -1;
	}
	choice->keys.grow_job |= choice->keys.pool_job;
	return 0;
}

int mal_choose(const char *text, const char *allowed, const char *fallback,
	       struct mal_choice *choice, struct mal_error *err)
{
	struct mal_spec spec;

	return mal_spec_parse(text, &spec, err) < 0
		       ? -1
		       : mal_choose_spec(&spec, allowed, fallback, choice, err);
}

const char *mal_choice_mode(const struct mal_choice *choice)
{
	static const char *const modes[] = {
		[MAL_WISH_AUTO] = "auto", [MAL_WISH_TEAM] = "team", [MAL_WISH_CPUSET] = "cpuset"};

	return choice->policy == &mal_policy_observe ? "observe" : modes[choice->keys.mode];
}

const char *mal_choice_bits(const struct mal_choice *choice, bool asked)
{
	static const char *const words[] = {
		[MAL_BITS_STRICT] = "strict", [MAL_BITS_KEEP] = "keep", [MAL_BITS_FREE] = NULL};

	return words[choice->keys.bits || asked ? choice->keys.bits : MAL_BITS_STRICT];
}
