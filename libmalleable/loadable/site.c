/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * site.c: the plugin's arguments in plugstack.conf.
 *
 * Invariant: srun and slurmstepd find the same policies (t/t1003-loadable.t).
 */
#include "libmalleable/loadable/site.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/core/off_file.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"

/* It would be cut without a word, and no step would find its controller. */
_Static_assert(sizeof(MAL_LIBDIR) <= sizeof(mal_site_default.libdir),
	       "the directory of the libraries is too long: choose a shorter prefix");

const struct mal_site mal_site_default = {
	.libdir = MAL_LIBDIR,
	.off_file = MAL_OFF_FILE,
	.wait_s = 1,
	.patience = 1,
};

static void complain(const struct mal_site_arguments *arguments, const char *argument,
		     const char *why)
{
	if (arguments->complain)
		arguments->complain(argument, why);
}

/* Policies are unknown to the table of settings: look at VALUE of default=. */
static bool check_default(const struct mal_site_arguments *arguments, const char *argument,
			  const char *value)
{
	struct mal_choice choice;
	struct mal_error err;

	if (mal_loadable_trust(value, arguments->site->libdir, NULL, &choice, &err) == 0)
		return true;
	complain(arguments, argument, err.text);
	return false;
}

/* An unknown policy is named, and the others stay allowed. */
static void check_policies(const struct mal_site_arguments *arguments, const char *argument,
			   const char *value)
{
	char names[sizeof(arguments->site->policies)], known[160];
	char *save, *name;
	struct mal_choice choice;
	struct mal_error why;

	snprintf(names, sizeof(names), "%s", value);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		mal_loadable_trust(name, arguments->site->libdir, NULL, &choice, &why);
		if (mal_policy_find(name))
			continue;
		mal_fail(&why, "unknown policy '%.32s', known are %s", name,
			 mal_policy_names(known, sizeof(known)));
		complain(arguments, argument, why.text);
	}
}

static void set(const struct mal_site_arguments *arguments, const struct mal_setting *key,
		const char *argument, const char *value)
{
	struct mal_site *site = arguments->site;
	struct mal_error err;

	if (key->offset == offsetof(struct mal_site, fallback) &&
	    !check_default(arguments, argument, value))
		return;
	if (mal_setting_set(key, site, value, &err) < 0)
		complain(arguments, argument, err.text);
	else if (key->offset == offsetof(struct mal_site, policies))
		check_policies(arguments, argument, value);
	mal_patience_set(site->patience);
}

static void complain_unknown(const struct mal_site_arguments *arguments, const char *argument)
{
	char names[256];
	struct mal_error why;

	mal_fail(&why, "unknown argument, known are %s",
		 mal_setting_names(MAL_SETTING_SITE, names, sizeof(names)));
	complain(arguments, argument, why.text);
}

/* What FILTER is about, its names in *NAMES; -1: it is none. */
static int kind_of(const char *filter, const char **names)
{
	size_t length = strcspn(filter, "=");
	char kind[16] = "";

	if (!filter[length] || !filter[length + 1] || length >= sizeof(kind))
		return -1;
	memcpy(kind, filter, length);
	*names = filter + length + 1;
	return mal_word_find("user|account|qos|program", kind);
}

/* Without its filter. */
static void set_scoped(const struct mal_site_arguments *arguments,
		       const struct mal_site_scoped *scoped)
{
	char policy[sizeof(arguments->site->fallback)];

	snprintf(policy, sizeof(policy), "%.*s", (int)strcspn(scoped->value, "@"), scoped->value);
	set(arguments, scoped->key, scoped->argument, scoped->filter ? policy : scoped->value);
}

/*
 * Check an argument for some steps like the others, and keep it until the job's partition, and what
 * else it may be for, is known.
 */
static void keep_scoped(struct mal_site_arguments *arguments, const struct mal_site_scoped *scoped)
{
	struct mal_site before = *arguments->site;
	const char *names;

	if (!scoped->key->by_partition) {
		complain(arguments, scoped->argument, "cannot be set by partition");
		return;
	}
	if (scoped->filter && kind_of(scoped->filter, &names) < 0) {
		complain(arguments, scoped->argument,
			 "behind @ comes user=, account=, qos= or program= with names; a partition "
			 "comes before the =: default@PARTITION=POLICY");
		return;
	}
	if (arguments->scoped_count == MAL_SITE_SCOPED_MAX) {
		complain(arguments, scoped->argument, "too many arguments for partitions");
		return;
	}
	set_scoped(arguments, scoped);
	*arguments->site = before;
	arguments->scoped[arguments->scoped_count++] = *scoped;
}

static void parse_one(struct mal_site_arguments *arguments, const char *argument)
{
	size_t length = strcspn(argument, "=");
	const char *value = argument[length] ? argument + length + 1 : "";
	const char *at = memchr(argument, '@', length), *filter = strchr(value, '@');
	const struct mal_setting *key =
		mal_setting_find(MAL_SETTING_SITE, argument, at ? (size_t)(at - argument) : length);
	struct mal_site_scoped scoped = {argument, value, at ? at + 1 : NULL, NULL, key};

	if (key && key->offset == offsetof(struct mal_site, fallback) && filter)
		scoped.filter = filter + 1;
	if (!key || !argument[length])
		complain_unknown(arguments, argument);
	else if (scoped.partition || scoped.filter)
		keep_scoped(arguments, &scoped);
	else
		set(arguments, key, argument, value);
}

/* Whether others may need it: they may name policies, which are loaded from libdir= in time. */
static bool is_first(const char *argument)
{
	return strncmp(argument, "libdir=", strlen("libdir=")) == 0 ||
	       strncmp(argument, "patience=", strlen("patience=")) == 0;
}

void mal_site_parse(struct mal_site_arguments *arguments, int count, char **texts)
{
	for (int last = 0; last < 2; last++)
		for (int i = 0; i < count; i++)
			if (is_first(texts[i]) != last)
				parse_one(arguments, texts[i]);
}

static void check_directories(const struct mal_site_arguments *arguments)
{
	const struct mal_site *site = arguments->site;
	char argument[sizeof(site->libdir) + sizeof(site->report_dir)], path[PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s/malleabled", site->libdir);
	snprintf(argument, sizeof(argument), "libdir=%s", site->libdir);
	if (access(path, X_OK) < 0)
		complain(arguments, argument, "malleabled is not there: nothing is balanced");
	snprintf(argument, sizeof(argument), "report_dir=%s", site->report_dir);
	if (*site->report_dir && (stat(site->report_dir, &status) < 0 || !S_ISDIR(status.st_mode)))
		complain(arguments, argument, "no such directory: no report is left");
	snprintf(path, sizeof(path), "%s", site->off_file);
	snprintf(argument, sizeof(argument), "off_file=%s", site->off_file);
	*strrchr(path, '/') = '\0';
	if (*path && (stat(path, &status) < 0 || !S_ISDIR(status.st_mode)))
		complain(arguments, argument, "no such directory: nothing can be switched off");
}

/* WHERE: empty, or "@PARTITION". */
static void check_fallback(const struct mal_site_arguments *arguments, const char *where)
{
	char argument[512], why[512];

	if (mal_site_allows_default(arguments->site))
		return;
	snprintf(argument, sizeof(argument), "default%s=%s", where, arguments->site->fallback);
	snprintf(why, sizeof(why),
		 "policies= allows %s alone%s: steps that ask for nothing run unbalanced",
		 arguments->site->policies, *where ? " there" : "");
	complain(arguments, argument, why);
}

/* Whether SCOPED is for PARTITION (NULL: not known) too. */
static bool is_there(const struct mal_site_scoped *scoped, const char *partition)
{
	const char *wanted = scoped->partition;
	size_t length = wanted ? strcspn(wanted, "=") : 0;

	return !wanted || (partition && strlen(partition) == length &&
			   strncmp(wanted, partition, length) == 0);
}

/* Whether another argument before number COUNT is for the same PARTITION. */
static bool is_seen(const struct mal_site_arguments *arguments, unsigned int count,
		    const char *partition)
{
	size_t length = strcspn(partition, "=") + 1;

	for (unsigned int i = 0; i < count; i++)
		if (arguments->scoped[i].partition &&
		    strncmp(arguments->scoped[i].partition, partition, length) == 0)
			return true;
	return false;
}

bool mal_site_next_partition(const struct mal_site_arguments *arguments, unsigned int *next,
			     char *name, size_t size)
{
	while (*next < arguments->scoped_count) {
		const char *partition = arguments->scoped[(*next)++].partition;

		if (!partition || is_seen(arguments, *next - 1, partition))
			continue;
		snprintf(name, size, "%.*s", (int)strcspn(partition, "="), partition);
		return true;
	}
	return false;
}

static void check_partitions(const struct mal_site_arguments *arguments)
{
	char where[256] = "@";
	unsigned int next = 0;

	while (mal_site_next_partition(arguments, &next, where + 1, sizeof(where) - 1)) {
		struct mal_site there = *arguments->site;
		struct mal_site_arguments copy = *arguments;

		copy.site = &there;
		mal_site_use_partition(&copy, where + 1);
		/* What is the same everywhere was said. */
		if (strcmp(there.fallback, arguments->site->fallback) != 0 ||
		    strcmp(there.policies, arguments->site->policies) != 0)
			check_fallback(&copy, where);
	}
}

void mal_site_check(const struct mal_site_arguments *arguments)
{
	check_directories(arguments);
	check_fallback(arguments, "");
	check_partitions(arguments);
}

/* Whether NAMES, separated by commas, has NAME. */
static bool has_name(const char *names, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	for (; length && *names; names += strspn(names, ",")) {
		size_t word = strcspn(names, ",");

		if (word == length && strncmp(names, name, length) == 0)
			return true;
		names += word;
	}
	return false;
}

/* By its path, or its name alone. */
static bool has_program(const char *names, const char *program)
{
	const char *slash = program ? strrchr(program, '/') : NULL;

	return has_name(names, program) || (slash && has_name(names, slash + 1));
}

static bool fits(const char *filter, const struct mal_site_step *step)
{
	const char *names;

	switch (kind_of(filter, &names)) {
	case 0: return has_name(names, step->user) || has_name(names, step->uid);
	case 1: return has_name(names, step->account);
	case 2: return has_name(names, step->qos);
	case 3: return has_program(names, step->program);
	default: return false;
	}
}

/* Set what is for STEP in PARTITION; NULL: for all steps there. */
static void use(const struct mal_site_arguments *arguments, const char *partition,
		const struct mal_site_step *step)
{
	/* What is wrong was said when it was read. */
	struct mal_site_arguments silent = {.site = arguments->site};

	for (unsigned int i = 0; i < arguments->scoped_count; i++) {
		const struct mal_site_scoped *scoped = &arguments->scoped[i];
		bool for_step = scoped->filter && step && fits(scoped->filter, step);

		if ((step ? for_step : !scoped->filter) && is_there(scoped, partition))
			set_scoped(&silent, scoped);
	}
}

void mal_site_use_partition(struct mal_site_arguments *arguments, const char *partition)
{
	use(arguments, partition, NULL);
}

void mal_site_use_step(struct mal_site_arguments *arguments, const struct mal_site_step *step)
{
	use(arguments, step->partition, step);
}

void mal_site_by_program(const struct mal_site_arguments *arguments,
			 const struct mal_site_step *step, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < arguments->scoped_count; i++) {
		const struct mal_site_scoped *scoped = &arguments->scoped[i];
		const char *names;

		if (scoped->filter && kind_of(scoped->filter, &names) == 3 && used < size &&
		    is_there(scoped, step->partition))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "",
						 scoped->value);
	}
	/* A part of them would be another rule. */
	if (used >= size)
		text[0] = '\0';
}

const char *mal_site_of_program(char *words, const char *program)
{
	const char *policy = NULL;
	char *save, *names;

	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		names = strstr(word, "@program=");
		if (!names || !has_program(names + strlen("@program="), program))
			continue;
		*names = '\0';
		policy = word;
	}
	return policy;
}

bool mal_site_allows_default(const struct mal_site *site)
{
	struct mal_choice choice;

	return !site->fallback[0] ||
	       mal_loadable_trust(site->fallback, site->libdir, mal_site_policies(site), &choice,
				  NULL) == 0;
}

const char *mal_site_policies(const struct mal_site *site)
{
	return site->policies[0] ? site->policies : NULL;
}
