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

#define ENV_SPEC "SLURM_BALANCE"
#define ENV_REPORT "SLURM_BALANCE_REPORT"
#define ENV_TRACE "SLURM_BALANCE_TRACE"
#define ENV_HOSTFILE "SLURM_BALANCE_HOSTFILE"

struct balance_wish balance_wish;

/* Check SPEC, and report what is wrong with it. */
static int check(const char *spec)
{
	struct mal_choice choice;
	struct mal_error err;

	if (mal_loadable_use(spec, balance_config.libdir, &err) == 0 &&
	    mal_choose(spec, balance_args_policies(), MAL_POLICY_DEFAULT, &choice, &err) == 0)
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
		setenv(ENV_SPEC, text, 1);
	return 0;
}

/*
 * Pass a file's absolute name to slurmstepd, which has another working directory, in environment
 * VARIABLE.
 */
static int keep_path(const char *option, const char *variable, const char *text)
{
	char path[sizeof(balance_wish.report)];
	char directory[PATH_MAX];

	if (*text == '/' || strcmp(text, "off") == 0 || !getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	if (snprintf(path, sizeof(path), "%s%s%s", directory, directory[0] ? "/" : "", text) >=
	    (int)sizeof(path)) {
		balance_error("balance: %s=%.40s...: too long", option, text);
		return -1;
	}
	setenv(variable, path, 1);
	return 0;
}

static int on_report(int value, const char *text, int remote)
{
	(void)value;
	return !is_bare(text) && !remote ? keep_path("--balance-report", ENV_REPORT, text) : 0;
}

static int on_trace(int value, const char *text, int remote)
{
	(void)value;
	return !is_bare(text) && !remote ? keep_path("--balance-trace", ENV_TRACE, text) : 0;
}

static int on_hostfile(int value, const char *text, int remote)
{
	(void)value;
	return !is_bare(text) && !remote ? keep_path("--balance-hostfile", ENV_HOSTFILE, text) : 0;
}

int balance_options_register(spank_t spank)
{
	struct spank_option balance = {
		"balance",
		"[policy[,key=value...]]",
		"give the cores of waiting ranks to the ranks that still compute; policies: auto "
		"(default), lewi, sabo, explore, external, observe, off and the site's own",
		2,
		0,
		on_balance,
	};
	struct spank_option report = {
		"balance-report",
		"[file]",
		"report on a balanced step: on standard error (default), also as JSON in file, "
		"or not at all (off)",
		2,
		0,
		on_report,
	};
	struct spank_option trace = {
		"balance-trace",
		"file",
		"record what a balanced step does in file, for malleable replay",
		1,
		0,
		on_trace,
	};
	struct spank_option hostfile = {
		"balance-hostfile",
		"file",
		"write a better placement of a balanced step's ranks on its nodes, for "
		"--distribution=arbitrary",
		1,
		0,
		on_hostfile,
	};

	if (spank_option_register(spank, &balance) != ESPANK_SUCCESS ||
	    spank_option_register(spank, &report) != ESPANK_SUCCESS ||
	    spank_option_register(spank, &trace) != ESPANK_SUCCESS ||
	    spank_option_register(spank, &hostfile) != ESPANK_SUCCESS) {
		balance_error("balance: cannot register the options");
		return -1;
	}
	return 0;
}

int balance_options_check_environment(void)
{
	const char *spec = getenv(ENV_SPEC);

	if (balance_wish.given || !spec || !*spec)
		return 0;
	if (check(spec) == 0)
		return 0;
	/* srun ignores what an optional plugin returns here, and would run the step unbalanced. */
	exit(1);
}

static void get_path(spank_t spank, const char *variable, char path[sizeof(balance_wish.report)])
{
	if (spank_getenv(spank, variable, path, sizeof(balance_wish.report)) != ESPANK_SUCCESS)
		path[0] = '\0';
}

void balance_options_complete(spank_t spank)
{
	get_path(spank, ENV_REPORT, balance_wish.report);
	get_path(spank, ENV_TRACE, balance_wish.trace);
	get_path(spank, ENV_HOSTFILE, balance_wish.hostfile);
	if (strcmp(balance_wish.trace, "off") == 0)
		balance_wish.trace[0] = '\0';
	if (strcmp(balance_wish.hostfile, "off") == 0)
		balance_wish.hostfile[0] = '\0';
	balance_wish.asked =
		balance_wish.given || spank_getenv(spank, ENV_SPEC, balance_wish.spec,
						   sizeof(balance_wish.spec)) == ESPANK_SUCCESS;
	if (balance_wish.asked)
		return;
	snprintf(balance_wish.spec, sizeof(balance_wish.spec), "%s",
		 balance_config.fallback[0] ? balance_config.fallback : "off");
}
