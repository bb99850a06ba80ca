/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * options.c: --balance, --balance-report, --balance-trace and --balance-hostfile, in srun, sbatch,
 * salloc and slurmstepd.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/loadable/loadable.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"
#include "spank/plugin.h"

/* The first option is --balance itself; the others name files. */
#define SPEC 0

struct mal_wish balance_wish;

static const struct mal_setting *option_at(int index)
{
	return mal_setting_at(MAL_SETTING_OPTION, (size_t)index);
}

/* Check SPEC, and report what is wrong with it. */
static int check(const char *spec)
{
	struct mal_choice choice;
	struct mal_error err;

	if (mal_loadable_choose(spec, balance_config.libdir, balance_args_policies(), &choice,
				&err) == 0)
		return 0;
	balance_error("balance: %s", err.text);
	return -1;
}

/*
 * An option without a value arrives as NULL, as "", or from the environment of sbatch and salloc as
 * this (22.05, 24.11; measured).
 */
static bool is_bare(const char *text)
{
	return !text || !*text || strcmp(text, "(null)") == 0;
}

/* Called once in srun and twice in slurmstepd. */
static int on_balance(int value, const char *text, int remote)
{
	(void)value;
	if (is_bare(text))
		text = MAL_POLICY_DEFAULT;
	if (strlen(text) >= sizeof(balance_wish.spec)) {
		balance_error("balance: --balance=%.40s...: too long", text);
		return -1;
	}
	if (!remote && check(text) < 0)
		return -1;
	balance_wish.given = true;
	strcpy(balance_wish.spec, text);
	/* Steps inside sbatch and salloc read it from their environment. */
	if (spank_context() == S_CTX_ALLOCATOR)
		setenv(option_at(SPEC)->variable, text, 1);
	return 0;
}

/*
 * Pass a file's absolute name to slurmstepd, which has another working directory, in the
 * environment.
 */
static int keep_path(const struct mal_setting *option, const char *text)
{
	char path[sizeof(balance_wish.report)];
	char directory[PATH_MAX];

	if (*text == '/' || strcmp(text, "off") == 0 || !getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	if (snprintf(path, sizeof(path), "%s%s%s", directory, directory[0] ? "/" : "", text) >=
	    (int)sizeof(path)) {
		balance_error("balance: --%s=%.40s...: too long", option->name, text);
		return -1;
	}
	setenv(option->variable, path, 1);
	return 0;
}

static int on_file(int value, const char *text, int remote)
{
	return !is_bare(text) && !remote ? keep_path(option_at(value), text) : 0;
}

int balance_options_register(spank_t spank)
{
	const struct mal_setting *setting;

	for (int i = 0; (setting = option_at(i)); i++) {
		/* slurm/spank.h has these texts as not const, and copies them. */
		struct spank_option option = {
			(char *)(uintptr_t)setting->name,
			(char *)(uintptr_t)setting->value,
			(char *)(uintptr_t)setting->help,
			setting->value[0] == '[' ? 2 : 1,
			i,
			i == SPEC ? on_balance : on_file,
		};

		if (spank_option_register(spank, &option) != ESPANK_SUCCESS) {
			balance_error("balance: cannot register --%s", setting->name);
			return -1;
		}
	}
	return 0;
}

int balance_options_check_environment(void)
{
	const char *spec = getenv(option_at(SPEC)->variable);

	if (balance_wish.given || !spec || !*spec)
		return 0;
	if (check(spec) == 0)
		return 0;
	/* srun ignores what an optional plugin returns here, and would run the step unbalanced. */
	exit(1);
}

void balance_options_complete(spank_t spank)
{
	const struct mal_setting *option;

	for (int i = SPEC + 1; (option = option_at(i)); i++) {
		char *path = mal_setting_text(option, &balance_wish);

		if (spank_getenv(spank, option->variable, path, (int)option->size) !=
		    ESPANK_SUCCESS)
			path[0] = '\0';
		/* Only for the report off says more than nothing. */
		if (path != balance_wish.report && strcmp(path, "off") == 0)
			path[0] = '\0';
	}
	balance_wish.asked = balance_wish.given ||
			     spank_getenv(spank, option_at(SPEC)->variable, balance_wish.spec,
					  sizeof(balance_wish.spec)) == ESPANK_SUCCESS;
	if (balance_wish.asked)
		return;
	snprintf(balance_wish.spec, sizeof(balance_wish.spec), "%s",
		 balance_config.fallback[0] ? balance_config.fallback : "off");
}
