/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* args.c: the plugin's arguments in plugstack.conf. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/core/admin.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"
#include "spank/plugin.h"
#include "spank/version.h"

/* Number of arguments for partitions. */
#define SCOPED_MAX 64

/* It would be cut without a word, and no step would find its controller. */
_Static_assert(sizeof(MAL_LIBDIR) <= sizeof(balance_config.libdir),
	       "the directory of the libraries is too long: choose a shorter prefix");

struct mal_site balance_config = {
	.libdir = MAL_LIBDIR,
	.off_file = MAL_OFF_FILE,
	.share = 1,
	.wait_s = 1,
	.patience = 1,
};

/* Arguments KEY@PARTITION=VALUE, as in plugstack.conf. */
static const char *scoped[SCOPED_MAX];
static unsigned int scoped_count;

/* Reported by slurmd and srun only, not by each process in between. */
static void complain(const char *argument, const char *why)
{
	if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_SLURMD)
		balance_error("plugstack.conf: %s: %s", argument, why);
}

/* Policies are unknown to the table of settings: say what is wrong with VALUE of default=. */
static bool check_default(const char *argument, const char *value)
{
	struct mal_choice choice;
	struct mal_error err;

	if (mal_loadable_trust(value, balance_config.libdir, NULL, &choice, &err) == 0)
		return true;
	complain(argument, err.text);
	return false;
}

/* An unknown policy is named, and the others stay allowed. */
static void check_policies(const char *argument, const char *value)
{
	char names[sizeof(balance_config.policies)], known[160];
	char *save, *name;
	struct mal_choice choice;
	struct mal_error why;

	snprintf(names, sizeof(names), "%s", value);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		mal_loadable_trust(name, balance_config.libdir, NULL, &choice, &why);
		if (mal_policy_find(name))
			continue;
		mal_fail(&why, "unknown policy '%.32s', known are %s", name,
			 mal_policy_names(known, sizeof(known)));
		complain(argument, why.text);
	}
}

static void set(const struct mal_setting *key, const char *argument, const char *value)
{
	struct mal_error err;

	if (key->offset == offsetof(struct mal_site, fallback) && !check_default(argument, value))
		return;
	if (mal_setting_set(key, &balance_config, value, &err) < 0)
		complain(argument, err.text);
	else if (!balance_version_has_comment(balance_config.comment)) {
		complain(argument, "this Slurm has no such field to write: try comment=admin");
		balance_config.comment = MAL_COMMENT_NO;
	} else if (key->offset == offsetof(struct mal_site, policies))
		check_policies(argument, value);
	mal_patience_set(balance_config.patience);
}

static void complain_unknown(const char *argument)
{
	char names[256];
	struct mal_error why;

	mal_fail(&why, "unknown argument, known are %s",
		 mal_setting_names(MAL_SETTING_SITE, names, sizeof(names)));
	complain(argument, why.text);
}

/*
 * Check an argument for a partition like the others, and keep it until the job's partition is
 * known.
 */
static void keep_scoped(const struct mal_setting *key, const char *argument, const char *value)
{
	struct mal_site before = balance_config;

	if (!key->by_partition) {
		complain(argument, "cannot be set by partition");
		return;
	}
	if (scoped_count == SCOPED_MAX) {
		complain(argument, "too many arguments for partitions");
		return;
	}
	set(key, argument, value);
	before.agent |= balance_config.coschedule;
	balance_config = before;
	scoped[scoped_count++] = argument;
}

static void parse_one(const char *argument)
{
	size_t length = strcspn(argument, "=");
	const char *value = argument[length] ? argument + length + 1 : "";
	const char *at = memchr(argument, '@', length);
	const struct mal_setting *key =
		mal_setting_find(MAL_SETTING_SITE, argument, at ? (size_t)(at - argument) : length);

	if (!key || !argument[length])
		complain_unknown(argument);
	else if (at)
		keep_scoped(key, argument, value);
	else
		set(key, argument, value);
}

/* Whether others may need it: they may name policies, which are loaded from libdir= in time. */
static bool is_first(const char *argument)
{
	return strncmp(argument, "libdir=", strlen("libdir=")) == 0 ||
	       strncmp(argument, "patience=", strlen("patience=")) == 0;
}

void balance_args_parse(int count, char **arguments)
{
	for (int i = 0; i < count; i++)
		if (is_first(arguments[i]))
			parse_one(arguments[i]);
	for (int i = 0; i < count; i++)
		if (!is_first(arguments[i]))
			parse_one(arguments[i]);
	balance_config.agent |= balance_config.coschedule;
}

bool balance_args_have_partitions(void)
{
	return scoped_count > 0;
}

bool balance_args_limit_partitions(void)
{
	for (unsigned int i = 0; i < scoped_count; i++)
		if (strncmp(scoped[i], "policies@", strlen("policies@")) == 0 ||
		    strncmp(scoped[i], "max_overcommit@", strlen("max_overcommit@")) == 0)
			return true;
	return false;
}

void balance_args_use_partition(const char *partition)
{
	for (unsigned int i = 0; i < scoped_count; i++) {
		const char *at = strchr(scoped[i], '@'), *equals = strchr(scoped[i], '=');
		const struct mal_setting *key =
			mal_setting_find(MAL_SETTING_SITE, scoped[i], (size_t)(at - scoped[i]));
		size_t length = (size_t)(equals - at - 1);

		if (length == strlen(partition) && strncmp(at + 1, partition, length) == 0)
			set(key, scoped[i], equals + 1);
	}
}

const char *balance_args_policies(void)
{
	return balance_config.policies[0] ? balance_config.policies : NULL;
}
