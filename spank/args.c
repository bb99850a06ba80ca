/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* args.c: the plugin's arguments in plugstack.conf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/core/admin.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"
#include "spank/plugin.h"

/* Number of arguments for partitions, and largest value of a number. */
#define SCOPED_MAX 64
#define NUMBER_MAX 1024

struct balance_config balance_config = {
	.libdir = MAL_LIBDIR,
	.off_file = MAL_OFF_FILE,
	.agent_user = "nobody",
	.share = 1,
	.wait_s = 1,
};

/* Arguments KEY@PARTITION=VALUE, as in plugstack.conf. */
static const char *scoped[SCOPED_MAX];
static unsigned int scoped_count;

/* An argument of plugstack.conf: the value of NAME=VALUE goes into FIELD, of SIZE bytes. */
struct key {
	const char *name;
	void (*set)(const struct key *key, const char *argument, const char *value);
	void *field;
	size_t size;
	bool by_partition; /* NAME@PARTITION=VALUE is allowed too */
};

/* Reported by slurmd and srun only, not by each process in between. */
static void complain(const char *argument, const char *why)
{
	if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_SLURMD)
		balance_error("balance: plugstack.conf: %s: %s", argument, why);
}

static void set_text(const struct key *key, const char *argument, const char *value)
{
	if (strlen(value) >= key->size)
		complain(argument, "too long");
	else
		strcpy(key->field, value);
}

static void set_default(const struct key *key, const char *argument, const char *value)
{
	struct mal_choice choice;
	struct mal_error err;

	mal_loadable_trust(value, balance_config.libdir);
	if (mal_choose(value, NULL, MAL_POLICY_DEFAULT, &choice, &err) < 0)
		complain(argument, err.text);
	else
		set_text(key, argument, value);
}

static void set_policies(const struct key *key, const char *argument, const char *value)
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
	set_text(key, argument, value);
}

static void set_path(const struct key *key, const char *argument, const char *value)
{
	if (*value != '/')
		complain(argument, "not an absolute path");
	else
		set_text(key, argument, value);
}

static void set_log(const struct key *key, const char *argument, const char *value)
{
	enum balance_log *log = key->field;

	if (strcmp(value, "syslog") == 0)
		*log = BALANCE_LOG_SYSLOG;
	else if (strcmp(value, "slurmd") == 0)
		*log = BALANCE_LOG_SLURMD;
	else if (strcmp(value, "no") == 0)
		*log = BALANCE_LOG_NONE;
	else
		complain(argument, "not syslog, slurmd or no");
}

static void set_flag(const struct key *key, const char *argument, const char *value)
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		complain(argument, "not yes or no");
	else
		*(bool *)key->field = *value == 'y';
}

static void set_number(const struct key *key, const char *argument, const char *value)
{
	char *end;
	unsigned long given = strtoul(value, &end, 10);

	if (end == value || *end || *value == '-' || given < 1 || given > NUMBER_MAX)
		complain(argument, "not a number from 1 to 1024");
	else
		*(unsigned int *)key->field = (unsigned int)given;
}

#define FIELD(name) &balance_config.name, sizeof(balance_config.name)
static const struct key keys[] = {
	{"default", set_default, FIELD(fallback), true},
	{"policies", set_policies, FIELD(policies), true},
	{"report_dir", set_text, FIELD(report_dir), false},
	{"libdir", set_text, FIELD(libdir), false},
	{"off_file", set_path, FIELD(off_file), false},
	{"log", set_log, FIELD(log), false},
	{"comment", set_flag, FIELD(comment), false},
	{"coschedule", set_flag, FIELD(coschedule), true},
	{"share", set_number, FIELD(share), true},
	{"agent_user", set_text, FIELD(agent_user), false},
	{"min_cpus", set_number, FIELD(min_cpus), true},
	{"max_overcommit", set_number, FIELD(max_overcommit), true},
	{"wait", set_number, FIELD(wait_s), false},
};
#undef FIELD

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

/* The key of ARGUMENT, whose name has LENGTH bytes; NULL: unknown. */
static const struct key *find_key(const char *argument, size_t length)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (length == strlen(keys[i].name) && strncmp(argument, keys[i].name, length) == 0)
			return &keys[i];
	return NULL;
}

static void complain_unknown(const char *argument)
{
	char why[384] = "unknown argument, known are ";

	for (size_t i = 0; i < KEY_COUNT; i++)
		snprintf(why + strlen(why), sizeof(why) - strlen(why), "%s%s=", i ? ", " : "",
			 keys[i].name);
	complain(argument, why);
}

/*
 * Check an argument for a partition like the others, and keep it until the job's partition is
 * known.
 */
static void keep_scoped(const struct key *key, const char *argument, const char *value)
{
	struct balance_config before = balance_config;

	if (!key->by_partition) {
		complain(argument, "cannot be set by partition");
		return;
	}
	if (scoped_count == SCOPED_MAX) {
		complain(argument, "too many arguments for partitions");
		return;
	}
	key->set(key, argument, value);
	before.agent |= balance_config.coschedule;
	balance_config = before;
	scoped[scoped_count++] = argument;
}

static void parse_one(const char *argument)
{
	size_t length = strcspn(argument, "=");
	const char *value = argument[length] ? argument + length + 1 : "";
	const char *at = memchr(argument, '@', length);
	const struct key *key = find_key(argument, at ? (size_t)(at - argument) : length);

	if (!key || !argument[length])
		complain_unknown(argument);
	else if (at)
		keep_scoped(key, argument, value);
	else
		key->set(key, argument, value);
}

void balance_args_parse(int count, char **arguments)
{
	/* libdir= first: other arguments may name policies loaded from there. */
	for (int i = 0; i < count; i++)
		if (strncmp(arguments[i], "libdir=", 7) == 0)
			parse_one(arguments[i]);
	for (int i = 0; i < count; i++)
		if (strncmp(arguments[i], "libdir=", 7) != 0)
			parse_one(arguments[i]);
	balance_config.agent |= balance_config.coschedule;
}

bool balance_args_have_partitions(void)
{
	return scoped_count > 0;
}

void balance_args_use_partition(const char *partition)
{
	for (unsigned int i = 0; i < scoped_count; i++) {
		const char *at = strchr(scoped[i], '@'), *equals = strchr(scoped[i], '=');
		const struct key *key = find_key(scoped[i], (size_t)(at - scoped[i]));
		size_t length = (size_t)(equals - at - 1);

		if (length == strlen(partition) && strncmp(at + 1, partition, length) == 0)
			key->set(key, scoped[i], equals + 1);
	}
}

const char *balance_args_policies(void)
{
	return balance_config.policies[0] ? balance_config.policies : NULL;
}
