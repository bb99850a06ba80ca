/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * site.h: read and check the plugin's arguments in plugstack.conf, for the plugin and for
 * `malleable admin check`.
 *
 * Not thread safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/core/settings.h"

/* Number of arguments for partitions. */
#define MAL_SITE_SCOPED_MAX 64

/* What is set where nothing is. */
extern const struct mal_site mal_site_default;

struct mal_site_arguments {
	struct mal_site *site; /* the defaults at first */
	/* Told of each wrong argument, by name, which is ignored. NULL: nobody is. */
	void (*complain)(const char *argument, const char *why);
	/* KEY@PARTITION=VALUE and default=POLICY@KIND=NAMES. */
	struct mal_site_scoped {
		const char *argument, *value; /* as in plugstack.conf */
		const char *partition;	      /* in ARGUMENT, up to the =; NULL: all */
		const char *filter;	      /* KIND=NAMES in VALUE; NULL: all steps there */
		const struct mal_setting *key;
	} scoped[MAL_SITE_SCOPED_MAX];
	unsigned int scoped_count;
};

/* Read the arguments, which are kept. */
void mal_site_parse(struct mal_site_arguments *arguments, int count, char **texts);

/*
 * Look for what no argument says alone: defaults that policies= does not allow, in each partition
 * too; and directories that are not there. Starts no process.
 */
void mal_site_check(const struct mal_site_arguments *arguments);

/*
 * Put the next partition that has arguments of its own into NAME, for a *NEXT of 0 the first.
 * Returns false if there is no other.
 */
bool mal_site_next_partition(const struct mal_site_arguments *arguments, unsigned int *next,
			     char *name, size_t size);

/* The job runs in PARTITION: set what is set for that. */
void mal_site_use_partition(struct mal_site_arguments *arguments, const char *partition);

/*
 * What is known of a step, for default=POLICY@KIND=NAMES; NULL: not known. Most comes from the
 * job's environment, which its user can change: it decides on nothing but a default.
 */
struct mal_site_step {
	const char *partition, *user, *uid, *account, *qos, *program;
};

/* Set the default that is set for STEP, of several that fit the last one. */
void mal_site_use_step(struct mal_site_arguments *arguments, const struct mal_site_step *step);

/*
 * What depends on the program of STEP, which is not known yet, as words POLICY@program=NAMES in
 * TEXT of SIZE bytes; and the default by such WORDS, which are changed, for PROGRAM, NULL: none.
 */
void mal_site_by_program(const struct mal_site_arguments *arguments,
			 const struct mal_site_step *step, char *text, size_t size);
const char *mal_site_of_program(char *words, const char *program);

/* Whether default= names a policy that policies= allows. */
bool mal_site_allows_default(const struct mal_site *site);

/* The allowed policies as mal_choose() takes them: NULL if all are. */
const char *mal_site_policies(const struct mal_site *site);
