/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * args.c: the plugin's arguments in plugstack.conf.
 *
 * Invariant: a wrong argument is logged and ignored; it fails no job (t/t1002-plugstack.t).
 */
#include <string.h>

#include "libmalleable/loadable/site.h"
#include "spank/plugin.h"
#include "spank/version.h"

struct mal_site balance_config;

static struct mal_site_arguments all = {
	.site = &balance_config,
	.has_comment = balance_version_has_comment,
};

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
	return all.scoped_count > 0;
}

bool balance_args_limit_partitions(void)
{
	for (unsigned int i = 0; i < all.scoped_count; i++)
		if (strncmp(all.scoped[i], "policies@", strlen("policies@")) == 0 ||
		    strncmp(all.scoped[i], "max_overcommit@", strlen("max_overcommit@")) == 0)
			return true;
	return false;
}

void balance_args_use_partition(const char *partition)
{
	mal_site_use_partition(&all, partition);
}

const char *balance_args_policies(void)
{
	return mal_site_policies(&balance_config);
}
