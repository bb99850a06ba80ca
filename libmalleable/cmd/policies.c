/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policies.c: malleable policies: list the policies and their parameters. */
#include <stdio.h>
#include <string.h>

#include "libmalleable/cmd/cmd.h"
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

static void print_param(const struct mal_param *param)
{
	if (param->choices) {
		int length;
		const char *word = word_of(param->choices, param->fallback, &length);

		printf("    %s=%s (default %.*s): %s\n", param->name, param->choices, length, word,
		       param->help);
		return;
	}
	if (param->min == 0 && param->max == 1 && (param->fallback == 0 || param->fallback == 1))
		printf("    %s=yes|no (default %s): %s\n", param->name,
		       param->fallback != 0 ? "yes" : "no", param->help);
	else
		printf("    %s=%g..%g (default %g): %s\n", param->name, param->min, param->max,
		       param->fallback, param->help);
}

int mal_cmd_policies(int argc, char **argv)
{
	const struct mal_policy *policy;
	const char *directory = MAL_LIBDIR;

	if (argc == 3 && strcmp(argv[1], "--libdir") == 0) {
		directory = argv[2];
	} else if (argc > 1) {
		int help = strcmp(argv[1], "--help") == 0;

		fputs("Usage: malleable policies [--libdir DIRECTORY]\n\n"
		      "Lists the policies for --balance and their parameters, including those in\n"
		      "DIRECTORY/policies.\n",
		      help ? stdout : stderr);
		return help ? 0 : 2;
	}
	mal_loadable_use_all(directory);
	for (size_t i = 0; (policy = mal_policy_at(i)); i++) {
		printf("%s: %s\n", policy->name, policy->summary);
		for (size_t j = 0; j < policy->param_count; j++)
			print_param(&policy->params[j]);
	}
	puts("all policies:");
	mal_settings_print(stdout, MAL_SETTING_KEY);
	return 0;
}
