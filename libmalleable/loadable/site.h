/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * site.h: read and check the plugin's arguments in plugstack.conf, for the plugin and for
 * `malleable admin check`.
 *
 * Not thread safe.
 */
#ifndef MAL_LOADABLE_SITE_H
#define MAL_LOADABLE_SITE_H

#include <stdbool.h>

#include "libmalleable/core/settings.h"

/* Number of arguments for partitions. */
#define MAL_SITE_SCOPED_MAX 64

/* What is set where nothing is. */
extern const struct mal_site mal_site_default;

struct mal_site_arguments {
	struct mal_site *site; /* the defaults at first */
	/* Told of each wrong argument, by name, which is ignored. NULL: nobody is. */
	void (*complain)(const char *argument, const char *why);
	/* Whether this Slurm has the field of comment=; NULL: not known here. */
	bool (*has_comment)(unsigned int comment);
	/* KEY@PARTITION=VALUE, as in plugstack.conf. */
	const char *scoped[MAL_SITE_SCOPED_MAX];
	unsigned int scoped_count;
};

/* Read the arguments, which are kept: for partitions they are read again. */
void mal_site_parse(struct mal_site_arguments *arguments, int count, char **texts);

/*
 * Look for what no argument says alone: defaults that policies= does not allow, in each partition
 * too, and directories that are not there. Starts no process.
 */
void mal_site_check(const struct mal_site_arguments *arguments);

/* The job runs in PARTITION: set what is set for that. */
void mal_site_use_partition(struct mal_site_arguments *arguments, const char *partition);

/* Whether default= names a policy that policies= allows. */
bool mal_site_allows_default(const struct mal_site *site);

/* The allowed policies as mal_choose() takes them: NULL if all are. */
const char *mal_site_policies(const struct mal_site *site);

#endif
