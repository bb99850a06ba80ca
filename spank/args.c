/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* args.c: the plugin's arguments in plugstack.conf. */
#include <stdio.h>
#include <string.h>

#include "libmalleable/loadable/loadable.h"
#include "policies/choice.h"
#include "policies/registry.h"
#include "spank/plugin.h"

struct balance_config balance_config = {.libdir = MAL_LIBDIR};

/* Reported by slurmd and by srun, not by each of the processes in between. */
static void complain(const char *argument, const char *why)
{
	if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_SLURMD)
		slurm_error("balance: plugstack.conf: %s: %s", argument, why);
}

static void set_text(char *field, size_t size, const char *argument, const char *value)
{
	if (strlen(value) >= size)
		complain(argument, "too long");
	else
		strcpy(field, value);
}

static void set_default(const char *argument, const char *value)
{
	struct mal_choice choice;
	struct mal_error err;

	mal_loadable_trust(value, balance_config.libdir);
	if (mal_choose(value, NULL, MAL_POLICY_DEFAULT, &choice, &err) < 0)
		complain(argument, err.text);
	else
		set_text(balance_config.fallback, sizeof(balance_config.fallback), argument, value);
}

static void set_policies(const char *argument, const char *value)
{
	char names[sizeof(balance_config.policies)];
	char *save, *name;

	if (strlen(value) >= sizeof(names)) {
		complain(argument, "too long");
		return;
	}
	strcpy(names, value);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		char known[160];

		mal_loadable_trust(name, balance_config.libdir);
		if (!mal_policy_find(name)) {
			char why[256];

			snprintf(why, sizeof(why), "unknown policy '%.32s', known are %s", name,
				 mal_policy_names(known, sizeof(known)));
			complain(argument, why);
		}
	}
	strcpy(balance_config.policies, value);
}

static void parse_one(const char *argument)
{
	const char *equals = strchr(argument, '=');
	size_t length = equals ? (size_t)(equals - argument) : 0;
	const char *value = equals ? equals + 1 : "";

#define IS(name) (length == strlen(name) && strncmp(argument, name, length) == 0)
	if (IS("default"))
		set_default(argument, value);
	else if (IS("policies"))
		set_policies(argument, value);
	else if (IS("report_dir"))
		set_text(balance_config.report_dir, sizeof(balance_config.report_dir), argument, value);
	else if (IS("libdir"))
		set_text(balance_config.libdir, sizeof(balance_config.libdir), argument, value);
	else if (IS("log") && (strcmp(value, "yes") == 0 || strcmp(value, "no") == 0))
		balance_config.log = *value == 'y';
	else if (IS("log"))
		complain(argument, "yes or no is wanted");
	else
		complain(argument, "unknown argument, known are default=, policies=, report_dir=, libdir=, log=");
#undef IS
}

void balance_args_parse(int count, char **arguments)
{
	/* Where loadable policies are comes first: others may name them. */
	for (int i = 0; i < count; i++)
		if (strncmp(arguments[i], "libdir=", 7) == 0)
			parse_one(arguments[i]);
	for (int i = 0; i < count; i++)
		if (strncmp(arguments[i], "libdir=", 7) != 0)
			parse_one(arguments[i]);
}

const char *balance_args_policies(void)
{
	return balance_config.policies[0] ? balance_config.policies : NULL;
}
