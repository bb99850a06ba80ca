/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * list.c: the policies and their parameters, for users to read.
 *
 * Invariant: each policy that is chosen by name is listed (t/t1003-loadable.t).
 */
#include "libmalleable/loadable/list.h"

#include <string.h>

#include "libmalleable/core/settings.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/registry.h"

/* The word for VALUE in CHOICES, and its length. */
static const char *word_of(const char *choices, double value, int *length)
{
	for (int number = (int)value; number > 0; number--)
		choices += strcspn(choices, "|") + 1;
	*length = (int)strcspn(choices, "|");
	return choices;
}

static void print_param(FILE *out, const struct mal_param *param)
{
	if (param->choices) {
		int length;
		const char *word = word_of(param->choices, param->fallback, &length);

		fprintf(out, "    %s=%s (default %.*s): %s\n", param->name, param->choices, length,
			word, param->help);
		return;
	}
	if (param->min == 0 && param->max == 1 && (param->fallback == 0 || param->fallback == 1))
		fprintf(out, "    %s=yes|no (default %s): %s\n", param->name,
			param->fallback != 0 ? "yes" : "no", param->help);
	else
		fprintf(out, "    %s=%g..%g (default %g): %s\n", param->name, param->min,
			param->max, param->fallback, param->help);
}

void mal_policies_print(FILE *out, const char *directory)
{
	const struct mal_policy *policy;

	mal_loadable_use_all(directory);
	for (size_t i = 0; (policy = mal_policy_at(i)); i++) {
		fprintf(out, "%s: %s\n", policy->name, policy->summary);
		for (size_t j = 0; j < policy->param_count; j++)
			print_param(out, &policy->params[j]);
	}
	fputs("all policies:\n", out);
	mal_settings_print(out, MAL_SETTING_KEY);
}
