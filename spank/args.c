/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * args.c: the plugin's arguments in plugstack.conf.
 *
 * Invariant: a wrong argument is logged and ignored; it fails no job (t/t1002-plugstack.t).
 */
#include <stddef.h>
#include <stdio.h>

#include "libmalleable/loadable/site.h"
#include "spank/plugin.h"

struct mal_site balance_config;

static struct mal_site_arguments all = {.site = &balance_config};

static void complain(const char *argument, const char *why)
{
	balance_error("plugstack.conf: %s: %s", argument, why);
}

void balance_args_parse(int count, char **arguments)
{
	bool in_slurmd = spank_context() == S_CTX_SLURMD;

	balance_config = mal_site_default;
	/* Users cannot mend it: it stands in slurmd's log, and `malleable admin check` tells it. */
	all.complain = in_slurmd ? complain : NULL;
	mal_site_parse(&all, count, arguments);
	if (in_slurmd)
		mal_site_check(&all);
}

bool balance_args_have_partitions(void)
{
	for (unsigned int i = 0; i < all.scoped_count; i++)
		if (all.scoped[i].partition)
			return true;
	return false;
}

bool balance_args_limit_partitions(void)
{
	for (unsigned int i = 0; i < all.scoped_count; i++)
		if (all.scoped[i].key->offset == offsetof(struct mal_site, policies) ||
		    all.scoped[i].key->offset == offsetof(struct mal_site, max_overcommit))
			return true;
	return false;
}

/* The job's, empty: not known. */
static char own_partition[256];

void balance_args_use_partition(const char *partition)
{
	snprintf(own_partition, sizeof(own_partition), "%s", partition);
	mal_site_use_partition(&all, partition);
}

/* VARIABLE of the job's environment, in TEXT; NULL: it is not there. */
static const char *read_variable(spank_t spank, const char *variable, char text[256])
{
	return spank_getenv(spank, variable, text, 256) == ESPANK_SUCCESS ? text : NULL;
}

/* Words for mal_site_of_program(). */
static char by_program[2048];

void balance_args_use_step(spank_t spank)
{
	char user[256], account[256], qos[256], uid[16] = "", **words;
	struct mal_site_step step = {.partition = own_partition, .uid = uid};
	uid_t number;
	int count;

	if (!all.scoped_count)
		return;
	step.user = read_variable(spank, "SLURM_JOB_USER", user);
	step.account = read_variable(spank, "SLURM_JOB_ACCOUNT", account);
	step.qos = read_variable(spank, "SLURM_JOB_QOS", qos);
	if (spank_get_item(spank, S_JOB_UID, &number) == ESPANK_SUCCESS)
		snprintf(uid, sizeof(uid), "%u", (unsigned int)number);
	if (spank_get_item(spank, S_JOB_ARGV, &count, &words) == ESPANK_SUCCESS && count > 0)
		step.program = words[0];
	mal_site_use_step(&all, &step);
	mal_site_by_program(&all, &step, by_program, sizeof(by_program));
}

const char *balance_args_by_program(void)
{
	return by_program;
}

const char *balance_args_policies(void)
{
	return mal_site_policies(&balance_config);
}
