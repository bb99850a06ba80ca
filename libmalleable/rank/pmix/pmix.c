/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmix.c: the PMIx library of the process (PMIx 4 and 5; pmix.h of OpenPMIx).
 *
 * Invariant: nothing is asked of PMIx that may wait for another node (t/unit/test_pmix.c;
 * t/t3007-nodes.t).
 */
#include "libmalleable/rank/pmix/pmix.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/starts.h"

#define LIBRARY "libpmix.so.2"
/*
 * A live server answers within milliseconds; Slurm's never does if the node that was asked has
 * gone.
 */
#define ASK_MS 1000
#define ASK_PAUSE_NS 50000

/* The functions that we use; their types are those of pmix.h. */
#define FUNCTIONS(FUNCTION) \
	FUNCTION(Init) \
	FUNCTION(Finalize) \
	FUNCTION(Put) \
	FUNCTION(Commit) \
	FUNCTION(Get) \
	FUNCTION(Get_nb) \
	FUNCTION(Publish) \
	FUNCTION(Lookup_nb) \
	FUNCTION(Resolve_nodes) \
	FUNCTION(Resolve_peers)

#define MEMBER(name) __typeof__(PMIx_##name) *name;
static struct {
	FUNCTIONS(MEMBER)
	pmix_proc_t me;
	bool loaded;
} pmix;

/* The library stays loaded: its thread may run on after the last user has left. */
static bool load(bool even_if_new)
{
	void *library;

	if (pmix.loaded)
		return true;
	library = dlopen(LIBRARY, RTLD_LAZY | (even_if_new ? 0 : RTLD_NOLOAD));
	if (!library && even_if_new)
		mal_starts_miss(MAL_ABSENT_PMIX);
	if (!library)
		return false;
	pmix.loaded = true;
#define FIND(name) \
	*(void **)&pmix.name = dlsym(library, "PMIx_" #name); \
	pmix.loaded &= pmix.name != NULL;
	FUNCTIONS(FIND)
	return pmix.loaded;
}

bool mal_pmix_open(bool even_if_new)
{
	/* Without a server PMIx_Init() would make the process its own server (a singleton). */
	return getenv("PMIX_NAMESPACE") && load(even_if_new) &&
	       pmix.Init(&pmix.me, NULL, 0) == PMIX_SUCCESS;
}

void mal_pmix_close(void)
{
	pmix.Finalize(NULL, 0);
}

uint32_t mal_pmix_rank(void)
{
	return pmix.me.rank;
}

/*
 * PMIX_VALUE_RELEASE is a library function in some versions and a macro in others: release the
 * value as pmix_deprecated.h does.
 */
static void release(pmix_value_t *value)
{
	if (value->type == PMIX_STRING)
		free(value->data.string);
	free(value);
}

/* Get KEY, of TYPE, of RANK on this node, or of the job (PMIX_RANK_WILDCARD). NULL: not known. */
static pmix_value_t *get(pmix_rank_t rank, const char *key, pmix_data_type_t type)
{
	pmix_proc_t process = pmix.me;
	pmix_value_t *value = NULL;

	process.rank = rank;
	if (pmix.Get(&process, key, NULL, 0, &value) != PMIX_SUCCESS || !value)
		return NULL;
	if (value->type == type)
		return value;
	release(value);
	return NULL;
}

bool mal_pmix_leader(uint32_t *leader)
{
	pmix_value_t *value = get(PMIX_RANK_WILDCARD, PMIX_LOCALLDR, PMIX_PROC_RANK);

	if (!value)
		return false;
	*leader = value->data.rank;
	release(value);
	return true;
}

bool mal_pmix_local(unsigned int *rank, unsigned int *count)
{
	pmix_value_t *local = get(pmix.me.rank, PMIX_LOCAL_RANK, PMIX_UINT16);
	pmix_value_t *size = get(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, PMIX_UINT32);
	bool known = local && size;

	if (known) {
		*rank = local->data.uint16;
		*count = size->data.uint32;
	}
	if (local)
		release(local);
	if (size)
		release(size);
	return known;
}

char *mal_pmix_nodes(void)
{
	char *nodes = NULL;

	return pmix.Resolve_nodes(pmix.me.nspace, &nodes) == PMIX_SUCCESS ? nodes : NULL;
}

bool mal_pmix_leader_of(const char *node, uint32_t *leader)
{
	pmix_proc_t *processes = NULL;
	size_t count = 0;

	if (pmix.Resolve_peers(node, pmix.me.nspace, &processes, &count) != PMIX_SUCCESS || !count)
		return false;
	*leader = processes[0].rank;
	for (size_t i = 1; i < count; i++)
		if (processes[i].rank < *leader)
			*leader = processes[i].rank;
	free(processes);
	return true;
}

/* Slurm's plugin gives its tasks their numbers, and those are its ranks. */
bool mal_pmix_is_launchers(void)
{
	return !getenv(MAL_ENV_LOCAL_RANK);
}

/* mpirun's own store; for all of a session it may be that of an ompi-server elsewhere. */
static void set_range(pmix_info_t *info)
{
	strncpy(info->key, PMIX_RANGE, PMIX_MAX_KEYLEN);
	info->value.type = PMIX_DATA_RANGE;
	info->value.data.range = PMIX_RANGE_NAMESPACE;
}

/* The name of RANK's text KEY in the store, which all jobs of a launcher share. */
static void name_in_store(uint32_t rank, const char *key, char *name)
{
	snprintf(name, PMIX_MAX_KEYLEN, "%s.%s.%u", key, pmix.me.nspace, rank);
}

static bool store(const char *key, const char *text)
{
	pmix_info_t info[2];
	bool stored;

	memset(info, 0, sizeof(info));
	name_in_store(pmix.me.rank, key, info[0].key);
	info[0].value.type = PMIX_STRING;
	info[0].value.data.string = strdup(text);
	set_range(&info[1]);
	stored = info[0].value.data.string && pmix.Publish(info, 2) == PMIX_SUCCESS;
	free(info[0].value.data.string);
	return stored;
}

bool mal_pmix_give(const char *key, const char *text)
{
	pmix_value_t value;
	bool given;

	if (mal_pmix_is_launchers())
		return store(key, text);
	memset(&value, 0, sizeof(value));
	value.type = PMIX_STRING;
	value.data.string = strdup(text);
	given = value.data.string && pmix.Put(PMIX_GLOBAL, key, &value) == PMIX_SUCCESS &&
		pmix.Commit() == PMIX_SUCCESS;
	free(value.data.string);
	return given;
}

/* Freed by the one that leaves it last, the asking thread or the answering one. */
struct question {
	_Atomic bool left;
	_Atomic bool answered;
	char *text;
};

static void leave_question(struct question *question)
{
	if (!atomic_exchange(&question->left, true))
		return;
	free(question->text);
	free(question);
}

/* Runs in PMIx's thread. */
static void answer(pmix_status_t status, pmix_value_t *value, void *context)
{
	struct question *question = context;

	if (status == PMIX_SUCCESS && value && value->type == PMIX_STRING && value->data.string)
		question->text = strdup(value->data.string);
	atomic_store(&question->answered, true);
	leave_question(question);
}

static void answer_from_store(pmix_status_t status, pmix_pdata_t found[], size_t count,
			      void *context)
{
	answer(status, count ? &found[0].value : NULL, context);
}

static bool put_question(uint32_t rank, const char *key, struct question *question)
{
	char name[PMIX_MAX_KEYLEN + 1], *names[] = {name, NULL};
	pmix_proc_t process = pmix.me;
	pmix_info_t range;

	process.rank = rank;
	if (!mal_pmix_is_launchers())
		return pmix.Get_nb(&process, key, NULL, 0, answer, question) == PMIX_SUCCESS;
	name_in_store(rank, key, name);
	memset(&range, 0, sizeof(range));
	set_range(&range);
	return pmix.Lookup_nb(names, &range, 1, answer_from_store, question) == PMIX_SUCCESS;
}

enum mal_pmix_answer mal_pmix_ask(uint32_t rank, const char *key, void (*meanwhile)(void),
				  char **text)
{
	struct question *question = calloc(1, sizeof(*question));
	uint64_t end = mal_ticks() + mal_s_to_ticks(mal_patience_ms(ASK_MS) / 1e3);
	enum mal_pmix_answer result = MAL_PMIX_SILENCE;

	*text = NULL;
	if (!question || !put_question(rank, key, question)) {
		free(question);
		return MAL_PMIX_SILENCE;
	}
	while (!atomic_load(&question->answered) && mal_ticks() < end) {
		meanwhile();
		nanosleep(&(struct timespec){0, ASK_PAUSE_NS}, NULL);
	}
	if (atomic_load(&question->answered)) {
		*text = question->text;
		question->text = NULL;
		result = *text ? MAL_PMIX_TEXT : MAL_PMIX_NOTHING;
	}
	leave_question(question);
	return result;
}
