/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* choice.c: check a user's --balance. */
#include "policies/interface/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/interface/builtin.h"
#include "policies/interface/registry.h"

#define MAX_THREADS 4096

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

/* Returns the index of TEXT among the words of CHOICES, or -1. */
static int find_choice(const char *choices, const char *text)
{
	size_t length = strlen(text);

	for (int number = 0;; number++) {
		size_t word = strcspn(choices, "|");

		if (word == length && strncmp(choices, text, word) == 0)
			return number;
		if (!choices[word])
			return -1;
		choices += word + 1;
	}
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
	char names[160];
	double value;

	/* Only this policy's name is known here: whoever runs it checks its parameters. */
	if (choice->policy->abi == 0)
		return 0;
	if (!param)
		return mal_fail(err,
				"unknown key '%s': mode, gomp, pages, events, max_threads and "
				"policy %s's own: %s",
				key, choice->policy->name,
				mal_param_names(choice->policy, names, sizeof(names)));
	if (param->choices) {
		int number = find_choice(param->choices, text);

		if (number < 0)
			return mal_fail(err, "%s=%s: one of %s is wanted", key, text,
					param->choices);
		choice->values[param - choice->policy->params] = number;
		return 0;
	}
	if (parse_value(text, &value) < 0 || !(value >= param->min && value <= param->max))
		return mal_fail(err, "%s=%s: a number from %g to %g is wanted%s", key, text,
				param->min, param->max,
				param->min == 0 && param->max == 1 ? " (or yes, no)" : "");
	choice->values[param - choice->policy->params] = value;
	return 0;
}

static int set_common(struct mal_choice *choice, const char *key, const char *text,
		      struct mal_error *err)
{
	if (strcmp(key, "mode") == 0) {
		if (find_choice("auto|team|cpuset", text) < 0)
			return mal_fail(err, "mode=%s: auto, team or cpuset is wanted", text);
		snprintf(choice->mode, sizeof(choice->mode), "%s", text);
		return 0;
	}
	if (strcmp(key, "gomp") == 0) {
		if (find_choice("keep|replace", text) < 0)
			return mal_fail(err, "gomp=%s: keep or replace is wanted", text);
		choice->keep_gomp = text[0] == 'k';
		return 0;
	}
	if (strcmp(key, "pages") == 0) {
		if (find_choice("stay|follow", text) < 0)
			return mal_fail(err, "pages=%s: stay or follow is wanted", text);
		choice->pages_follow = text[0] == 'f';
		return 0;
	}
	if (strcmp(key, "events") == 0) {
		if (find_choice("yes|no", text) < 0)
			return mal_fail(err, "events=%s: yes or no is wanted", text);
		choice->events = text[0] == 'y';
		return 0;
	}
	/* grow=yes and grow=no are a policy's parameter: may regions grow? */
	if (strcmp(key, "grow") == 0 && strcmp(text, "job") == 0) {
		choice->grow_job = true;
		return 0;
	}
	if (strcmp(key, "pool") == 0) {
		if (find_choice("job|step", text) < 0)
			return mal_fail(err, "pool=%s: job or step is wanted", text);
		choice->pool_job = text[0] == 'j';
		choice->grow_job |= choice->pool_job;
		return 0;
	}
	if (strcmp(key, "max_threads") == 0) {
		char *end;
		unsigned long threads = strtoul(text, &end, 10);

		if (*end || threads < 1 || threads > MAX_THREADS)
			return mal_fail(err, "max_threads=%s: a number from 1 to %d is wanted",
					text, MAX_THREADS);
		choice->max_threads = (unsigned int)threads;
		return 0;
	}
	return 1;
}

int mal_choose(const char *text, const char *allowed, const char *fallback,
	       struct mal_choice *choice, struct mal_error *err)
{
	struct mal_spec spec;

	memset(choice, 0, sizeof(*choice));
	snprintf(choice->mode, sizeof(choice->mode), "auto");
	if (mal_spec_parse(text, &spec, err) < 0)
		return -1;
	if (choose_policy(spec.policy[0] ? spec.policy : fallback, allowed, choice, err) < 0)
		return -1;
	for (size_t i = 0; i < spec.count; i++) {
		int result = set_common(choice, spec.pairs[i].key, spec.pairs[i].value, err);

		if (result > 0)
			result = set_param(choice, spec.pairs[i].key, spec.pairs[i].value, err);
		if (result < 0)
			return -1;
	}
	return 0;
}

const char *mal_choice_mode(const struct mal_choice *choice)
{
	return choice->policy == &mal_policy_observe ? "observe" : choice->mode;
}
