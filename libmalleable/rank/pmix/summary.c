/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * summary.c: collect the summaries of a step's nodes at its end.
 *
 * Invariant: no node waits for one that is not balanced (t/unit/test_pmix.c; t/t3007-nodes.t).
 */
#include "libmalleable/rank/pmix/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/core/env.h"
#include "libmalleable/rank/pmix/pmix.h"
#include "libmalleable/rank/state/rank.h"

/* Published by a node's leader: first that there will be a summary, then the summary. */
#define KEY_HERE "malleable.here"
#define KEY_SUMMARY "malleable.summary"
/* Published where a controller has none, so that nobody waits for it. */
#define NO_SUMMARY "{}"
/*
 * How long rank 0 waits for nodes that announced a summary: WAIT_MS and this part of the run. PMIx
 * cannot tell whether their leader will call MPI_Finalize in a way that we see. MPI would wait too.
 */
#define WAIT_MS 5000
#define WAIT_PART 0.05
/* Pause between two looks: this part of the wait so far, within bounds. */
#define PAUSE_PART 0.02
#define PAUSE_MIN_S 0.5e-3
#define PAUSE_MAX_S 20e-3
#define ANSWER_MS 1000

static struct {
	bool leader, ended;
	uint64_t begun;
	const char *controller; /* its socket */
	void (*poll)(void);
} nodes;

/*
 * Whether we are the node's leader, and PMIx and our controller mean the same ranks: they do not if
 * Slurm's tasks are the daemons of another launcher.
 */
static bool is_leader(void)
{
	unsigned int rank, count;
	uint32_t leader;

	return mal_pmix_leader(&leader) && leader == mal_pmix_rank() &&
	       mal_pmix_local(&rank, &count) && rank == mal.me && count == mal.rank_count;
}

void mal_summary_begin(void)
{
	nodes.begun = mal_ticks();
	nodes.controller = getenv(MAL_ENV_SOCKET);
	if (!getenv(MAL_ENV_NODES) || !nodes.controller || !mal_pmix_open(false))
		return;
	nodes.leader = is_leader() && mal_pmix_give(KEY_HERE, "yes");
	mal_pmix_close();
}

static bool tell(const char *request)
{
	return mal_channel_tell(nodes.controller, request, mal_patience_ms(ANSWER_MS));
}

/* Ask the controller for a summary of node NAME. The caller frees it; NULL: none. */
static char *summarize(const char *name)
{
	char *request, *answer;
	struct mal_error err;
	size_t length;

	if (asprintf(&request, "node %s", name) < 0)
		return NULL;
	answer = mal_channel_ask(nodes.controller, request, mal_patience_ms(ANSWER_MS), &length,
				 &err);
	free(request);
	if (answer && *answer != '{') {
		free(answer);
		answer = NULL;
	}
	return answer;
}

/* Whether the leader LEADER announced a summary of its node. */
static bool is_here(uint32_t leader, void (*progress)(void))
{
	char *text;
	bool here = mal_pmix_ask(leader, KEY_HERE, progress, &text) == MAL_PMIX_TEXT;

	free(text);
	return here;
}

static void pass_on(const char *summary)
{
	char *request;

	if (asprintf(&request, "nodes %s", summary) < 0)
		return;
	tell(request);
	free(request);
}

/*
 * Pass the summary of LEADER's node on if it is there. Returns whether that node is done: its
 * summary came, or will not.
 */
static bool look_at(uint32_t leader, bool *promised, void (*progress)(void))
{
	char *summary;
	enum mal_pmix_answer answer = mal_pmix_ask(leader, KEY_SUMMARY, progress, &summary);

	if (answer == MAL_PMIX_TEXT)
		pass_on(summary);
	free(summary);
	if (answer != MAL_PMIX_NOTHING)
		return true;
	*promised = *promised || is_here(leader, progress);
	return !*promised;
}

/*
 * Poll as MPI does: it may have messages to send that others wait for, and our CPUs are lent
 * meanwhile.
 */
static void pause_after(double waited, void (*progress)(void))
{
	double s = waited * PAUSE_PART;
	uint64_t end;

	s = s < PAUSE_MIN_S ? PAUSE_MIN_S : s > PAUSE_MAX_S ? PAUSE_MAX_S : s;
	end = mal_ticks() + mal_s_to_ticks(s);
	do {
		progress();
		nodes.poll();
	} while (mal_ticks() < end);
}

/* Collect the summaries of the nodes of LEADERS, until it takes too long. */
static void collect(const uint32_t *leaders, unsigned int count, void (*progress)(void))
{
	uint64_t begin = mal_ticks();
	double max = mal_patience_ms(WAIT_MS) / 1e3 +
		     WAIT_PART * mal_ticks_to_s(begin - nodes.begun),
	       waited = 0;

	/*
	 * After the time limit look at each remaining node once, unless these do not answer either.
	 */
	for (unsigned int i = 0; i < count && waited < 2 * max; i++) {
		bool promised = false;

		while (!look_at(leaders[i], &promised, progress) && waited < max) {
			pause_after(waited, progress);
			waited = mal_ticks_to_s(mal_ticks() - begin);
		}
		waited = mal_ticks_to_s(mal_ticks() - begin);
	}
}

/*
 * The leaders of the other nodes in LIST, and their COUNT; the caller frees it. OWN is set to our
 * node's name in LIST, which is split in place.
 */
static uint32_t *find_leaders(char *list, unsigned int *count, const char **own)
{
	size_t room = 1;
	uint32_t *leaders;
	char *save = NULL;

	for (const char *at = list; *at; at++)
		room += *at == ',';
	leaders = calloc(room, sizeof(*leaders));
	*count = 0;
	*own = NULL;
	for (char *name = strtok_r(list, ",", &save); leaders && name;
	     name = strtok_r(NULL, ",", &save)) {
		uint32_t leader;

		if (!mal_pmix_leader_of(name, &leader))
			continue;
		if (leader == mal_pmix_rank())
			*own = name;
		else
			leaders[(*count)++] = leader;
	}
	return leaders;
}

/* Tell our controller how many nodes there are: a launcher need not use all of the job's. */
static void tell_count(unsigned int count)
{
	char request[32];

	snprintf(request, sizeof(request), "of %u", count);
	tell(request);
}

/* Called on the node's leader. */
static void exchange(void (*progress)(void))
{
	char *list = mal_pmix_nodes();
	const char *own = NULL;
	unsigned int count = 0;
	uint32_t *leaders = list ? find_leaders(list, &count, &own) : NULL;
	char *summary = own ? summarize(own) : NULL;

	if (mal_pmix_rank() == 0) {
		if (summary && count && mal_pmix_is_launchers())
			tell_count(count + 1);
		if (summary)
			collect(leaders, count, progress);
	} else if (mal_pmix_give(KEY_SUMMARY, summary ? summary : NO_SUMMARY) && summary) {
		/* Rank 0 announced at its start whether it will ask. */
		if (is_here(0, progress))
			tell("elsewhere");
	}
	free(leaders);
	free(summary);
	free(list);
}

void mal_summary_end(void (*progress)(void), void (*poll)(void))
{
	if (!nodes.leader || nodes.ended || !mal.active)
		return;
	nodes.ended = true;
	nodes.poll = poll;
	if (!mal_pmix_open(false))
		return;
	exchange(progress);
	mal_pmix_close();
}
