/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loadable.c: register policies that a site or a user adds.
 *
 * Invariant: root runs no policy that others can change (t/unit/test_loadable.c;
 * t/t1003-loadable.t).
 */
#include "libmalleable/loadable/loadable.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/path.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/core/spec.h"
#include "libmalleable/loadable/exchange.h"
#include "policies/interface/registry.h"

/* A policy that its host described. */
struct loaded {
	struct mal_policy policy;
	char directory[PATH_MAX];
	char file[PATH_MAX];
	char name[MAL_SPEC_WORD];
	char summary[MAL_EXCHANGE_TEXT];
	struct mal_param params[MAL_CHOICE_PARAMS];
	struct mal_exchange_param texts[MAL_CHOICE_PARAMS];
};

/* The user's own directory; empty: none. */
static char users_own[PATH_MAX];

static struct loaded table[MAL_LOADABLE_MAX];
static size_t loaded_count;

static void *create(const struct loaded *loaded, const double *values)
{
	struct mal_host *host = malloc(sizeof(*host));

	if (!host)
		return NULL;
	if (mal_host_start(host, loaded->directory, loaded->file, values, NULL) < 0) {
		free(host);
		return NULL;
	}
	/* A failure shows up at the first question. */
	mal_host_wait(host);
	return host;
}

/*
 * A policy's functions are not told which policy they belong to, so each table entry has its own.
 */
#define EACH(what) what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7)
#define DEFINE(number) \
	static void *create_##number(const double *values) \
	{ \
		return create(&table[number], values); \
	}
#define NAME(number) create_##number,
EACH(DEFINE)

static void *(*const creates[MAL_LOADABLE_MAX])(const double *) = {EACH(NAME)};

/* Put the question into the exchange. PLAN has the present counts and owners. */
static void put_question(struct mal_exchange *exchange, const struct mal_view *view,
			 const struct mal_plan *plan)
{
	size_t ranks = view->rank_count, cpus = view->topology->cpu_count;

	exchange->rank_count = view->rank_count;
	exchange->cpu_count = view->topology->cpu_count;
	exchange->sampled = view->samples != NULL;
	memcpy(exchange->l3, view->topology->l3, cpus * sizeof(exchange->l3[0]));
	memcpy(exchange->numa, view->topology->numa, cpus * sizeof(exchange->numa[0]));
	memcpy(exchange->package, view->topology->package, cpus * sizeof(exchange->package[0]));
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		exchange->core[cpu] = view->topology->core ? view->topology->core[cpu] : cpu;
	memcpy(exchange->owner, view->owner, cpus * sizeof(exchange->owner[0]));
	memcpy(exchange->plan_owner, plan->owner, cpus * sizeof(exchange->plan_owner[0]));
	memcpy(exchange->count, plan->count, ranks * sizeof(exchange->count[0]));
	memset(exchange->use, 0, sizeof(exchange->use));
	if (view->samples)
		memcpy(exchange->samples, view->samples, ranks * sizeof(exchange->samples[0]));
}

/* Read a bool that a hostile host may have set to any byte. */
static bool is_set(const void *flag)
{
	unsigned char byte;

	memcpy(&byte, flag, sizeof(byte));
	return byte != 0;
}

/* Take over the host's plan, without its pointers. */
static void take_plan(struct mal_plan *plan, const struct mal_plan *answer)
{
	plan->bind = is_set(&answer->bind);
	plan->lend = is_set(&answer->lend);
	plan->grow = is_set(&answer->grow);
	plan->move = is_set(&answer->move);
	plan->short_windows = is_set(&answer->short_windows);
	plan->lending = (struct mal_lending){is_set(&answer->lending.keep_one),
					     is_set(&answer->lending.collectives_only),
					     answer->lending.near, answer->lending.max};
	plan->schedule = answer->schedule;
	plan->now_s = answer->now_s;
	plan->forecast_s = answer->forecast_s;
}

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	struct mal_host *host = state;
	struct mal_exchange *exchange = host->exchange;

	if (view->rank_count > MAL_MAX_RANKS || view->topology->cpu_count > MAL_MAX_CPUS)
		return -1;
	put_question(exchange, view, plan);
	plan->broken = exchange->error[0] ? "it cannot be started" : mal_host_ask(host);
	if (plan->broken)
		return 0;
	if (exchange->result < 0)
		return -1;
	take_plan(plan, &exchange->plan);
	memcpy(plan->count, exchange->count, view->rank_count * sizeof(plan->count[0]));
	if (plan->use)
		memcpy(plan->use, exchange->use, view->rank_count * sizeof(plan->use[0]));
	return 0;
}

static void map(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	const struct mal_host *host = state;

	memcpy(plan->owner, host->exchange->plan_owner,
	       view->topology->cpu_count * sizeof(plan->owner[0]));
}

static void destroy(void *state)
{
	if (!state)
		return;
	mal_host_end(state);
	free(state);
}

/* Decide function of a policy that is known by name only: never asked. */
static int never(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	(void)view;
	(void)plan;
	return -1;
}

/*
 * The policy's name in TEXT, if a file may define it: not empty, and not that of a policy fully
 * known.
 */
static bool is_loadable(const struct mal_spec *spec)
{
	const struct mal_policy *known;

	if (!spec->policy[0] || spec->policy[0] == '.')
		return false;
	known = mal_policy_find(spec->policy);
	return !known || known->abi == 0;
}

/* The file of policy NAME, the site's or the user's; of the latter without a look if not LOOKS. */
static bool find_file(char file[PATH_MAX], const char *name, const char *directory, bool looks)
{
	if (snprintf(file, PATH_MAX, "%s/policies/%s.so", directory, name) < PATH_MAX &&
	    access(file, R_OK) == 0)
		return true;
	return users_own[0] && snprintf(file, PATH_MAX, "%s/%s.so", users_own, name) < PATH_MAX &&
	       (!looks || access(file, R_OK) == 0);
}

/*
 * Set *PLACE to the table entry for policy NAME, old or new; NULL: it has no file. Returns -1 with
 * ERR if the table is full.
 */
static int find_place(struct loaded **place, const char *name, const char *directory, bool looks,
		      struct mal_error *err)
{
	struct loaded *loaded = table;
	char file[PATH_MAX];

	*place = NULL;
	if (!find_file(file, name, directory, looks))
		return 0;
	while (loaded < table + loaded_count && strcmp(loaded->name, name) != 0)
		loaded++;
	if (loaded == table + MAL_LOADABLE_MAX)
		return mal_fail(err, "%s: there is room for %d policies from files", file,
				MAL_LOADABLE_MAX);
	*place = loaded;
	strcpy(loaded->file, file);
	snprintf(loaded->directory, sizeof(loaded->directory), "%s", directory);
	snprintf(loaded->name, sizeof(loaded->name), "%s", name);
	loaded->policy = (struct mal_policy){
		.name = loaded->name, .summary = loaded->summary, .decide = never};
	return 0;
}

/* Register LOADED, unless it is already. */
static void keep(struct loaded *loaded)
{
	if (loaded < table + loaded_count)
		return;
	loaded_count++;
	mal_policy_register(&loaded->policy);
}

/* Check the host's description and take it over. */
static int take_description(struct loaded *loaded, const struct mal_exchange *described,
			    struct mal_error *err)
{
	/* Once: the host can write at any time, also between a check and what follows from it. */
	const size_t count = *(const volatile size_t *)&described->param_count;
	const char *file = loaded->file;

	if (described->error[0])
		return mal_fail(err, "%s: %.200s", file, described->error);
	if (described->abi != MAL_POLICY_ABI)
		return mal_fail(err, "%s: made for version %u of the policy interface, not %d",
				file, described->abi, MAL_POLICY_ABI);
	if (strncmp(described->name, loaded->name, sizeof(described->name)) != 0)
		return mal_fail(err, "%s: its policy is called '%.31s'", file, described->name);
	if (count > MAL_CHOICE_PARAMS)
		return mal_fail(err, "%s: it has more than %d parameters", file, MAL_CHOICE_PARAMS);
	snprintf(loaded->summary, sizeof(loaded->summary), "%.*s", MAL_EXCHANGE_TEXT - 1,
		 described->summary);
	mal_make_printable(loaded->summary, strlen(loaded->summary), false);
	memcpy(loaded->texts, described->params, sizeof(loaded->texts));
	for (size_t i = 0; i < count; i++) {
		struct mal_exchange_param *text = &loaded->texts[i];

		text->name[sizeof(text->name) - 1] = text->help[sizeof(text->help) - 1] = '\0';
		text->choices[sizeof(text->choices) - 1] = '\0';
		mal_make_printable(text->name, strlen(text->name), false);
		mal_make_printable(text->help, strlen(text->help), false);
		mal_make_printable(text->choices, strlen(text->choices), false);
		if (!(text->fallback >= text->min && text->fallback <= text->max))
			return mal_fail(err, "%s: the default of %s is out of range", file,
					text->name);
		loaded->params[i] = (struct mal_param){
			text->name, text->help, text->fallback,
			text->min,  text->max,	text->choices[0] ? text->choices : NULL};
	}
	loaded->policy.abi = MAL_POLICY_ABI;
	loaded->policy.params = loaded->params;
	loaded->policy.param_count = count;
	loaded->policy.create = creates[loaded - table];
	loaded->policy.decide = decide;
	loaded->policy.map = is_set(&described->maps) ? map : NULL;
	loaded->policy.destroy = destroy;
	return 0;
}

/* Root may have got the variable from a user's shell (su). The site's directory is the site's. */
static bool may_run(const char *file)
{
	size_t length = strlen(users_own);

	return geteuid() != 0 || !length || strncmp(file, users_own, length) != 0 ||
	       mal_path_is_roots(file);
}

static int use(const char *name, const char *directory, struct mal_error *err)
{
	struct loaded *loaded;
	struct mal_host host;
	const char *why;
	int result;

	if (find_place(&loaded, name, directory, true, err) < 0)
		return -1;
	if (!loaded)
		return 0;
	if (!may_run(loaded->file))
		return mal_fail(err, "%.300s: root runs it only where root alone can write (%s)",
				loaded->file, MAL_LOADABLE_VARIABLE);
	if (mal_host_start(&host, directory, loaded->file, NULL, err) < 0)
		return -1;
	why = mal_host_wait(&host);
	result = why ? mal_fail(err, "%s: %s", loaded->file, why)
		     : take_description(loaded, host.exchange, err);
	mal_host_end(&host);
	if (result == 0)
		keep(loaded);
	return result;
}

int mal_loadable_add(const char *users, struct mal_error *err)
{
	if (users && *users && (*users != '/' || strlen(users) >= sizeof(users_own)))
		return mal_fail(err, "%s=%.64s: must be an absolute path", MAL_LOADABLE_VARIABLE,
				users);
	strcpy(users_own, users ? users : "");
	return 0;
}

bool mal_loadable_has_any(const char *directory)
{
	char path[PATH_MAX];

	return users_own[0] ||
	       (snprintf(path, sizeof(path), "%s/policies", directory) < (int)sizeof(path) &&
		access(path, F_OK) == 0);
}

int mal_loadable_choose(const char *text, const char *directory, const char *allowed,
			struct mal_choice *choice, struct mal_error *err)
{
	struct mal_spec spec;

	if (mal_spec_parse(text, &spec, err) < 0 ||
	    (is_loadable(&spec) && use(spec.policy, directory, err) < 0))
		return -1;
	return mal_choose_spec(&spec, allowed, MAL_POLICY_DEFAULT, choice, err);
}

int mal_loadable_trust(const char *text, const char *directory, const char *allowed,
		       struct mal_choice *choice, struct mal_error *err)
{
	struct loaded *loaded = NULL;
	struct mal_spec spec;

	if (mal_spec_parse(text, &spec, err) < 0 ||
	    (is_loadable(&spec) && find_place(&loaded, spec.policy, directory, false, err) < 0))
		return -1;
	if (loaded)
		keep(loaded);
	return mal_choose_spec(&spec, allowed, MAL_POLICY_DEFAULT, choice, err);
}

/* Those whose files are in FOLDER. */
static void use_all_of(const char *folder, const char *directory)
{
	struct dirent *entry;
	struct mal_error err;
	DIR *files = opendir(folder);

	while (files && (entry = readdir(files))) {
		size_t length = strlen(entry->d_name);
		char name[MAL_SPEC_WORD];

		if (length < 4 || length - 3 >= sizeof(name) ||
		    strcmp(entry->d_name + length - 3, ".so") != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(length - 3), entry->d_name);
		if (!mal_policy_find(name) && use(name, directory, &err) < 0)
			fprintf(stderr, "malleable: %s\n", err.text);
	}
	if (files)
		closedir(files);
}

void mal_loadable_use_all(const char *directory)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/policies", directory) < (int)sizeof(path))
		use_all_of(path, directory);
	if (users_own[0])
		use_all_of(users_own, directory);
}
