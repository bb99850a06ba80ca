/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nodes.c: the summaries of a step's nodes come together at its end. */
#include "libmalleable/rank/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/channel.h"
#include "libmalleable/core/env.h"
#include "libmalleable/rank/pmix.h"
#include "libmalleable/rank/state.h"
#include "libmalleable/rank/wait.h"

/* What a node's leader gives: first that there will be a summary, then the summary. */
#define KEY_HERE "malleable.here"
#define KEY_SUMMARY "malleable.summary"
/* Where a controller has none, so that nobody waits for it. */
#define NO_SUMMARY "{}"
/*
 * How long rank 0 waits for nodes that have said so: PMIx cannot tell whether their leader will call MPI_Finalize in a way that we see. MPI
 * would wait for it too.
 */
#define WAIT_S 5
#define WAIT_PART 0.05
/* Between two looks: this part of the wait so far, within bounds. */
#define PAUSE_PART 0.02
#define PAUSE_LEAST_S 0.5e-3
#define PAUSE_MOST_S 20e-3
#define ANSWER_MS 1000

static struct {
	bool leader, ended;
	uint64_t begun;
	pid_t controller;
} nodes;

/* The controller is the process whose descriptor the segment can be opened by. */
static bool find_controller(void)
{
	const char *path = getenv(MAL_ENV_SEGMENT_PATH);
	long pid = 0;

	if (!path || sscanf(path, "/proc/%ld/", &pid) != 1 || pid <= 0)
		return false;
	nodes.controller = (pid_t)pid;
	return true;
}

/* PMIx and our controller mean the same ranks: not so where Slurm's tasks are another launcher's daemons. */
static bool is_leader(void)
{
	unsigned int rank, count;
	uint32_t leader;

	return mal_pmix_leader(&leader) && leader == mal_pmix_rank() && mal_pmix_local(&rank, &count) &&
	       rank == mal.me && count == mal.rank_count;
}

void mal_nodes_begin(void)
{
	nodes.begun = mal_ticks();
	if (!getenv(MAL_ENV_NODES) || !find_controller() || !mal_pmix_open(false))
		return;
	nodes.leader = is_leader() && mal_pmix_give(KEY_HERE, "yes");
	mal_pmix_close();
}

static bool tell(const char *request)
{
	return mal_channel_tell(nodes.controller, geteuid(), request, ANSWER_MS);
}

/* "node NAME 0,1,2": what the controller needs to know for a summary of the ranks on node NAME. */
static char *summarize(const char *name)
{
	unsigned int count;
	uint32_t *peers = mal_pmix_peers(name, &count);
	size_t size = peers ? 64 + strlen(name) + count * (size_t)11 : 0, used;
	char *request = peers ? malloc(size) : NULL, *answer = NULL;
	struct mal_error err;
	size_t length;

	if (request) {
		used = (size_t)snprintf(request, size, "node %s ", name);
		for (unsigned int i = 0; i < count; i++)
			used += (size_t)snprintf(request + used, size - used, "%s%u", i ? "," : "", peers[i]);
		answer = mal_channel_ask(nodes.controller, geteuid(), request, ANSWER_MS, &length, &err);
	}
	free(request);
	free(peers);
	if (answer && *answer != '{') {
		free(answer);
		answer = NULL;
	}
	return answer;
}

/* Does the leader LEADER say that its node will have a summary? */
static bool is_here(uint32_t leader, void (*progress)(void))
{
	char *text;
	bool here = mal_pmix_ask(leader, KEY_HERE, progress, &text) == MAL_PMIX_TEXT;

	free(text);
	return here;
}

static void pass_on(const char *summary)
{
	size_t size = sizeof("nodes ") + strlen(summary);
	char *request = malloc(size);

	if (request) {
		snprintf(request, size, "nodes %s", summary);
		tell(request);
	}
	free(request);
}

/* Pass the summary of LEADER's node on, if it is there. Returns whether this was all: it has come, or will not. */
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

/* Poll as MPI does: it may have messages of ours to send that others wait for, and our CPUs are lent meanwhile. */
static void pause_after(double waited, void (*progress)(void))
{
	double s = waited * PAUSE_PART;
	uint64_t end;

	s = s < PAUSE_LEAST_S ? PAUSE_LEAST_S : s > PAUSE_MOST_S ? PAUSE_MOST_S : s;
	end = mal_ticks() + mal_s_to_ticks(s);
	do {
		progress();
		mal_mpi_poll();
	} while (mal_ticks() < end);
}

/* The summaries of the nodes that LEADERS are on, until it takes too long. */
static void collect(const uint32_t *leaders, unsigned int count, void (*progress)(void))
{
	uint64_t begin = mal_ticks();
	double most = WAIT_S + WAIT_PART * mal_ticks_to_s(begin - nodes.begun), waited = 0;

	/* When the time is over the others are still looked at once, unless they do not answer either. */
	for (unsigned int i = 0; i < count && waited < 2 * most; i++) {
		bool promised = false;

		while (!look_at(leaders[i], &promised, progress) && waited < most) {
			pause_after(waited, progress);
			waited = mal_ticks_to_s(mal_ticks() - begin);
		}
		waited = mal_ticks_to_s(mal_ticks() - begin);
	}
}

/* The leaders of the other nodes in LIST, and their COUNT; OWN gets the name of ours in it. LIST is cut up. To be freed. */
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
	for (char *name = strtok_r(list, ",", &save); leaders && name; name = strtok_r(NULL, ",", &save)) {
		unsigned int peers_count;
		uint32_t *peers = mal_pmix_peers(name, &peers_count);

		if (peers && peers[0] == mal_pmix_rank())
			*own = name;
		else if (peers)
			leaders[(*count)++] = peers[0];
		free(peers);
	}
	return leaders;
}

/* We are our node's leader. */
static void exchange(void (*progress)(void))
{
	char *list = mal_pmix_nodes();
	const char *own = NULL;
	unsigned int count = 0;
	uint32_t *leaders = list ? find_leaders(list, &count, &own) : NULL;
	char *summary = own ? summarize(own) : NULL;

	if (mal_pmix_rank() == 0) {
		if (summary)
			collect(leaders, count, progress);
	} else if (mal_pmix_give(KEY_SUMMARY, summary ? summary : NO_SUMMARY) && summary) {
		/* Rank 0 has said at its start whether it will ask. */
		if (is_here(0, progress))
			tell("elsewhere");
	}
	free(leaders);
	free(summary);
	free(list);
}

void mal_nodes_end(void (*progress)(void))
{
	if (!nodes.leader || nodes.ended || !mal.active)
		return;
	nodes.ended = true;
	if (!mal_pmix_open(false))
		return;
	exchange(progress);
	mal_pmix_close();
}
