/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * options.c: --balance, --balance-report and --balance-trace, in srun, sbatch, salloc and
 * slurmstepd.
 *
 * Invariant: a wrong option ends srun before anything starts (t/t1001-options.t).
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/report_wish.h"
#include "libmalleable/loadable/list.h"
#include "libmalleable/loadable/loadable.h"
#include "libmalleable/loadable/site.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"
#include "spank/launchers.h"
#include "spank/plugin.h"

/* The first option is --balance itself; the others name files. */
#define SPEC 0

struct mal_user_options balance_user_options;

static const struct mal_setting *option_at(int index)
{
	return mal_setting_at(MAL_SETTING_OPTION, (size_t)index);
}

/* Check SPEC, and report what is wrong with it. */
static int check(const char *spec)
{
	struct mal_choice choice;
	struct mal_error err;

	if (mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), &err) == 0 &&
	    mal_loadable_choose(spec, balance_config.libdir, balance_args_policies(), &choice,
				&err) == 0)
		return 0;
	balance_error("%s", err.text);
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

/* --balance=help: as srun has it for --mpi=list, print it and do nothing else. */
static void help(void)
{
	mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), NULL);
	mal_policies_print(stdout, balance_config.libdir);
	if (balance_args_policies())
		printf("allowed here: %s\n", balance_args_policies());
	fflush(stdout);
	exit(0);
}

/*
 * A policy behind a bare --balance is srun's program. It says so itself when there is none of that
 * name, not why: give the reason before.
 */
static void hint_at_equals_sign(void)
{
	FILE *words = fopen("/proc/self/cmdline", "re");
	size_t size = 0;
	char *word = NULL;
	bool behind = false;
	struct mal_choice choice;

	while (words && getdelim(&word, &size, '\0', words) > 0) {
		if (behind && *word &&
		    mal_loadable_trust(word, balance_config.libdir, NULL, &choice, NULL) == 0)
			balance_error("--balance %.64s: write --balance=%.64s to choose that "
				      "policy; with a blank it is the program to run",
				      word, word);
		if (behind)
			break;
		behind = strcmp(word, "--balance") == 0;
	}
	free(word);
	if (words)
		fclose(words);
}

/* The variable that has what an option of sbatch or salloc gave VARIABLE, for that job alone. */
static const char *name_given(const char *variable, char name[64])
{
	snprintf(name, 64, "%s_GIVEN", variable);
	return name;
}

/* Steps inside sbatch and salloc read options from their environment. */
static void set_for_steps(const char *variable, const char *value)
{
	char name[64];

	setenv(variable, value, 1);
	if (spank_context() == S_CTX_ALLOCATOR)
		setenv(name_given(variable, name), value, 1);
}

void balance_options_forget_job(void)
{
	const struct mal_setting *option;

	for (int i = 0; (option = option_at(i)); i++) {
		char name[64], slurms[96] = "SLURM_SPANK__SLURM_SPANK_OPTION_balance_", *end;
		const char *given = getenv(name_given(option->variable, name));
		const char *value = getenv(option->variable);

		if (given && value && strcmp(given, value) == 0)
			unsetenv(option->variable);
		unsetenv(name);
		end = slurms + strlen(slurms);
		snprintf(end, (size_t)(slurms + sizeof(slurms) - end), "%s", option->name);
		for (; *end; end++)
			*end = *end == '-' ? '_' : *end;
		unsetenv(slurms);
	}
	balance_launchers_unset(&mal_setup_own);
	mal_setup_remove(&mal_setup_own);
}

/* Called once in srun and twice in slurmstepd. */
static int on_balance(int value, const char *text, int remote)
{
	bool users = !remote && spank_context() != S_CTX_REMOTE;

	(void)value;
	if (users && is_bare(text))
		hint_at_equals_sign();
	if (users && !is_bare(text) && strcmp(text, "help") == 0)
		help();
	if (is_bare(text))
		text = MAL_POLICY_DEFAULT;
	if (strlen(text) >= sizeof(balance_user_options.spec)) {
		balance_error("--balance=%.40s...: too long", text);
		return -1;
	}
	if (!remote && check(text) < 0)
		return -1;
	balance_user_options.given = true;
	strcpy(balance_user_options.spec, text);
	if (spank_context() == S_CTX_ALLOCATOR)
		set_for_steps(option_at(SPEC)->variable, text);
	/* What runs in the shell of salloc is in no step: ranks there say so. */
	if (spank_context() == S_CTX_ALLOCATOR &&
	    strcmp(program_invocation_short_name, "salloc") == 0)
		balance_launchers_set(&mal_setup_own);
	return 0;
}

/*
 * Pass a file's absolute name to slurmstepd, which has another working directory, in the
 * environment.
 */
static int keep_path(const struct mal_setting *option, const char *text)
{
	char path[sizeof(balance_user_options.report)];
	char directory[PATH_MAX];
	bool is_word = option->offset == offsetof(struct mal_user_options, report)
			       ? mal_report_wish_is_word(text)
			       : strcmp(text, "off") == 0;

	if (*text == '/' || is_word || !getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	if (snprintf(path, sizeof(path), "%s%s%s", directory, directory[0] ? "/" : "", text) >=
	    (int)sizeof(path)) {
		balance_error("--%s=%.40s...: too long", option->name, text);
		return -1;
	}
	set_for_steps(option->variable, path);
	return 0;
}

/* The first option that names what to print or to write, in slurmstepd; NULL: none was given. */
static const char *asked_to_write;

static int on_file(int value, const char *text, int remote)
{
	if (remote && !is_bare(text) && strcmp(text, "off") != 0 && !asked_to_write)
		asked_to_write = option_at(value)->name;
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
			balance_error("cannot register --%s", setting->name);
			return -1;
		}
	}
	return 0;
}

void balance_options_check_environment(void)
{
	const char *spec = getenv(option_at(SPEC)->variable);

	/* srun ignores what an optional plugin returns here, and would run the step unbalanced. */
	if (!balance_user_options.given && spec && *spec && check(spec) < 0)
		exit(1);
}

void balance_options_complete(spank_t spank)
{
	const struct mal_setting *option;

	for (int i = SPEC + 1; (option = option_at(i)); i++) {
		char *path = mal_setting_text(option, &balance_user_options);

		if (spank_getenv(spank, option->variable, path, (int)option->size) !=
		    ESPANK_SUCCESS)
			path[0] = '\0';
		/* Only for the report off says more than nothing. */
		if (path != balance_user_options.report && strcmp(path, "off") == 0)
			path[0] = '\0';
	}
	if (spank_getenv(spank, MAL_LOADABLE_VARIABLE, balance_user_options.policies,
			 sizeof(balance_user_options.policies)) != ESPANK_SUCCESS ||
	    mal_loadable_add(balance_user_options.policies, NULL) < 0)
		balance_user_options.policies[0] = '\0';
	balance_user_options.asked =
		balance_user_options.given ||
		spank_getenv(spank, option_at(SPEC)->variable, balance_user_options.spec,
			     sizeof(balance_user_options.spec)) == ESPANK_SUCCESS;
}

enum mal_report_wish balance_options_report(void)
{
	return balance_user_options.asked || balance_user_options.report[0]
		       ? mal_report_wish(balance_user_options.report)
		       : (enum mal_report_wish)balance_config.report;
}

const char *balance_options_without_effect(void)
{
	return balance_user_options.asked ? NULL : asked_to_write;
}

void balance_options_fall_back(void)
{
	bool any = balance_config.fallback[0] && mal_site_allows_default(&balance_config);

	if (!balance_user_options.asked)
		snprintf(balance_user_options.spec, sizeof(balance_user_options.spec), "%s",
			 any ? balance_config.fallback : "off");
}
