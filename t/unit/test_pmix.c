/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_pmix.c: summaries of two nodes, through a PMIx library of functions of this
 * file; four ranks, two on each node.
 */
#include "t/unit/alone.h"
#include "t/unit/rank_fixture.h"

#include <dlfcn.h>
#include <pmix.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/core/env.h"
#include "libmalleable/rank/pmix/pmix.h"
#include "libmalleable/rank/pmix/summary.h"

static bool is_there = true, knows = true, is_silent;
static int opened;
static char given[2][256]; /* by what rank 0 or 2 gave last: KEY=TEXT;... */
static uint32_t rank_0_asks;
static unsigned int not_yet; /* so many questions for the summary are answered: not there yet */
static char told[512], told_before[512], asked[512], looked_up[512];
static int waited_ms; /* for the controller, at most */
static const char *controller_answer = "{\"node\":0}";
static unsigned int progressed, polled;

static pmix_status_t fake_init(pmix_proc_t *me, pmix_info_t *info, size_t count)
{
	(void)info, (void)count;
	memset(me, 0, sizeof(*me));
	strcpy(me->nspace, "job");
	me->rank = rank_0_asks;
	opened++;
	return PMIX_SUCCESS;
}

static pmix_status_t fake_finalize(const pmix_info_t *info, size_t count)
{
	(void)info, (void)count;
	opened--;
	return PMIX_SUCCESS;
}

static pmix_status_t fake_put(pmix_scope_t scope, const char *key, pmix_value_t *value)
{
	char *text = given[0];

	(void)scope;
	snprintf(text + strlen(text), sizeof(given[0]) - strlen(text), "%s=%s;", key,
		 value->data.string);
	return PMIX_SUCCESS;
}

static pmix_status_t fake_commit(void)
{
	return PMIX_SUCCESS;
}

static pmix_status_t fake_get(const pmix_proc_t *process, const char *key, const pmix_info_t *info,
			      size_t count, pmix_value_t **value)
{
	(void)info, (void)count, (void)process;
	if (!knows)
		return PMIX_ERR_NOT_FOUND;
	*value = calloc(1, sizeof(**value));
	assert_non_null(*value);
	if (strcmp(key, PMIX_LOCALLDR) == 0) {
		(*value)->type = PMIX_PROC_RANK;
		(*value)->data.rank = rank_0_asks;
	} else if (strcmp(key, PMIX_LOCAL_RANK) == 0) {
		(*value)->type = PMIX_UINT16;
		(*value)->data.uint16 = 0;
	} else {
		(*value)->type = PMIX_UINT32;
		(*value)->data.uint32 = 2;
	}
	return PMIX_SUCCESS;
}

static pmix_status_t fake_get_nb(const pmix_proc_t *process, const char *key,
				 const pmix_info_t *info, size_t count,
				 pmix_value_cbfunc_t answer_with, void *context)
{
	pmix_value_t value;
	char text[] = "{\"node\":1}";

	(void)info, (void)count, (void)process;
	memset(&value, 0, sizeof(value));
	value.type = PMIX_STRING;
	value.data.string = text;
	if (is_silent)
		return PMIX_SUCCESS;
	if (strcmp(key, "malleable.summary") == 0 && not_yet) {
		not_yet--;
		answer_with(PMIX_ERR_NOT_FOUND, NULL, context);
	} else {
		answer_with(PMIX_SUCCESS, &value, context);
	}
	return PMIX_SUCCESS;
}

/* The launcher's own, not one that is shared beyond it. */
static void assert_is_own_store(const pmix_info_t *range)
{
	assert_string_equal(range->key, PMIX_RANGE);
	assert_int_equal(range->value.type, PMIX_DATA_RANGE);
	assert_int_equal(range->value.data.range, PMIX_RANGE_NAMESPACE);
}

/* A launcher's store, which has the names of jobs and ranks in its keys. */
static pmix_status_t fake_publish(const pmix_info_t info[], size_t count)
{
	assert_int_equal(count, 2);
	assert_is_own_store(&info[1]);
	return fake_put(PMIX_GLOBAL, info->key, (pmix_value_t *)&info->value);
}

static pmix_status_t fake_lookup_nb(char **keys, const pmix_info_t info[], size_t count,
				    pmix_lookup_cbfunc_t answer_with, void *context)
{
	static char text[] = "{\"node\":1}";
	pmix_pdata_t found;

	assert_int_equal(count, 1);
	assert_is_own_store(info);
	assert_null(keys[1]);
	memset(&found, 0, sizeof(found));
	found.value.type = PMIX_STRING;
	found.value.data.string = text;
	snprintf(looked_up, sizeof(looked_up), "%s", keys[0]);
	if (strncmp(keys[0], "malleable.summary", 17) == 0 && not_yet) {
		not_yet--;
		answer_with(PMIX_ERR_NOT_FOUND, NULL, 0, context);
	} else {
		answer_with(PMIX_SUCCESS, &found, 1, context);
	}
	return PMIX_SUCCESS;
}

static pmix_status_t fake_resolve_nodes(const pmix_nspace_t space, char **list)
{
	(void)space;
	*list = strdup("n0,n1");
	return PMIX_SUCCESS;
}

static pmix_status_t fake_resolve_peers(const char *node, const pmix_nspace_t space,
					pmix_proc_t **processes, size_t *count)
{
	(void)space;
	*processes = calloc(2, sizeof(**processes));
	assert_non_null(*processes);
	(*processes)[0].rank = node[1] == '0' ? 1 : 3;
	(*processes)[1].rank = node[1] == '0' ? 0 : 2;
	*count = 2;
	return PMIX_SUCCESS;
}

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *library, const char *name);
char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err);
bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms);

void *__wrap_dlopen(const char *name, int flags)
{
	(void)name, (void)flags;
	return is_there ? &is_there : NULL;
}

void *__wrap_dlsym(void *library, const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} has[] = {{"Init", (void *)fake_init},
		   {"Finalize", (void *)fake_finalize},
		   {"Put", (void *)fake_put},
		   {"Commit", (void *)fake_commit},
		   {"Get", (void *)fake_get},
		   {"Get_nb", (void *)fake_get_nb},
		   {"Publish", (void *)fake_publish},
		   {"Lookup_nb", (void *)fake_lookup_nb},
		   {"Resolve_nodes", (void *)fake_resolve_nodes},
		   {"Resolve_peers", (void *)fake_resolve_peers}};

	(void)library;
	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++)
		if (strcmp(has[i].name, name + strlen("PMIx_")) == 0)
			return has[i].function;
	return NULL;
}

char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err)
{
	(void)path, (void)err;
	waited_ms = timeout_ms;
	snprintf(asked, sizeof(asked), "%s", request);
	*length = controller_answer ? strlen(controller_answer) : 0;
	return controller_answer ? strdup(controller_answer) : NULL;
}

bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms)
{
	(void)path;
	waited_ms = timeout_ms;
	memcpy(told_before, told, sizeof(told));
	snprintf(told, sizeof(told), "%s", request);
	return true;
}

static void progress(void)
{
	progressed++;
	turn_clock(100 * US);
}

static void poll(void)
{
	polled++;
}

static int set_up(void **state)
{
	(void)state;
	open_ranks(2, 2, 2);
	setenv("PMIX_NAMESPACE", "job", 1);
	setenv(MAL_ENV_NODES, "2", 1);
	setenv(MAL_ENV_SOCKET, "/socket", 1);
	setenv(MAL_ENV_LOCAL_RANK, "0", 1);
	return 0;
}

/* PMIx is closed as often as it is opened. */
static void end(void)
{
	mal_summary_end(progress, poll);
	assert_int_equal(opened, 0);
}

static void patiently(void **state)
{
	mal_patience_set(60);
	alone(state);
	mal_patience_set(1);
}

/* Rank 0 hands its controller what the other node's leader gave, when that is there. */
static void first_node_hands_on_the_others(void **state)
{
	(void)state;
	mal_summary_begin();
	assert_string_equal(given[0], "malleable.here=yes;");
	not_yet = 3;
	end();
	assert_string_equal(asked, "node n0");
	assert_int_equal(waited_ms, mal_patience_ms(1000));
	assert_string_equal(told, "nodes {\"node\":1}");
	assert_true(progressed && polled);
	/* Once. */
	told[0] = '\0';
	end();
	assert_string_equal(told, "");
}

/* It gives its controller's, which leaves the report to the first node's. */
static void other_node_gives_its_summary(void **state)
{
	(void)state;
	rank_0_asks = 2;
	mal_summary_begin();
	end();
	assert_string_equal(asked, "node n1");
	assert_string_equal(given[0], "malleable.here=yes;malleable.summary={\"node\":0};");
	assert_string_equal(told, "elsewhere");
	assert_int_equal(waited_ms, mal_patience_ms(1000));
}

/* Under a launcher they give and look in its store, and the first node's is told how many. */
static void other_node_of_launcher(void **state)
{
	(void)state;
	unsetenv(MAL_ENV_LOCAL_RANK);
	rank_0_asks = 2;
	mal_summary_begin();
	end();
	assert_string_equal(given[0],
			    "malleable.here.job.2=yes;malleable.summary.job.2={\"node\":0};");
	assert_string_equal(looked_up, "malleable.here.job.0");
	assert_string_equal(told, "elsewhere");
}

static void first_node_of_launcher(void **state)
{
	(void)state;
	unsetenv(MAL_ENV_LOCAL_RANK);
	not_yet = 3;
	mal_summary_begin();
	end();
	assert_string_equal(told_before, "of 2");
	assert_string_equal(told, "nodes {\"node\":1}");
	assert_string_equal(looked_up, "malleable.summary.job.2");
}

/* Its controller has none: nobody waits for it. */
static void without_a_summary_nobody_waits(void **state)
{
	(void)state;
	rank_0_asks = 2;
	controller_answer = "no";
	mal_summary_begin();
	end();
	assert_string_equal(given[0], "malleable.here=yes;malleable.summary={};");
	assert_string_equal(told, "");
	assert_int_equal(waited_ms, mal_patience_ms(1000));
}

/* The summary ends after MS, and nothing was told. */
static void ends_after(int ms)
{
	uint64_t begin = test_clock.now, waited = (uint64_t)mal_patience_ms(ms) * MS;

	end();
	assert_string_equal(told, "");
	assert_in_range(test_clock.now - begin, waited, waited + 100 * MS);
}

/* A server that does not answer is not waited for longer than a second. */
static void silent_server_costs_a_second_at_most(void **state)
{
	(void)state;
	mal_summary_begin();
	is_silent = true;
	ends_after(1000);
}

/* One that never comes, though it was promised, not longer than 5 s. */
static void promised_summary_costs_5_s_at_most(void **state)
{
	(void)state;
	mal_summary_begin();
	not_yet = UINT32_MAX;
	ends_after(5000);
}

static void without_pmix_nothing_is_given(void **state)
{
	unsigned int rank, count;

	(void)state;
	is_there = false;
	mal_summary_begin();
	end();
	is_there = true;
	knows = false;
	mal_summary_begin();
	end();
	assert_string_equal(given[0], "");
	assert_true(mal_pmix_open(true));
	assert_false(mal_pmix_local(&rank, &count));
	mal_pmix_close();
	unsetenv("PMIX_NAMESPACE");
	assert_false(mal_pmix_open(true));
}

#define CASE(function) ALONE(function, NULL, NULL)
#define PATIENT_CASE(function) {#function ", patiently", patiently, NULL, NULL, (void *)(function)}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(first_node_hands_on_the_others),
		CASE(first_node_of_launcher),
		CASE(other_node_gives_its_summary),
		CASE(other_node_of_launcher),
		CASE(without_a_summary_nobody_waits),
		CASE(silent_server_costs_a_second_at_most),
		CASE(promised_summary_costs_5_s_at_most),
		CASE(without_pmix_nothing_is_given),
		PATIENT_CASE(other_node_gives_its_summary),
		PATIENT_CASE(without_a_summary_nobody_waits),
		PATIENT_CASE(silent_server_costs_a_second_at_most),
		PATIENT_CASE(promised_summary_costs_5_s_at_most),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
