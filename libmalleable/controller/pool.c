/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool.c: CPUs go from one step of the job to another. */
#include "libmalleable/controller/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/controller/idle.h"
#include "libmalleable/controller/sampling.h"
#include "libmalleable/core/channel.h"
#include "libmalleable/core/clock.h"
#include "policies/pool.h"

#define PERIOD_S 0.2
/* A controller that is asked answers within this, or nothing is done this time. */
#define ANSWER_MS 20
/* CPUs are passed on where the busiest rank has less to do by this part, twice in a row. */
#define WORTH 0.05
#define PEERS_MOST 64

struct peer {
	pid_t pid;
	struct mal_cpumask own, may;
	struct mal_cpumask has;
	struct mal_cpumask keeps; /* of these, one for each rank: it is not to lose its last */
};

struct mal_pool {
	unsigned int count;
	struct peer peers[PEERS_MOST]; /* ourselves too */
	uint64_t looked;
	bool seen_once; /* that it is worth it */
};

static int parse_peer(char *text, struct peer *peer, struct mal_error *err)
{
	char *own = strchr(text, ':'), *may = own ? strchr(own + 1, ':') : NULL;

	if (!may)
		return mal_fail(err, "'%.40s': PID:OWN:MAY is wanted", text);
	*own++ = *may++ = '\0';
	peer->pid = (pid_t)strtol(text, NULL, 10);
	if (peer->pid <= 0)
		return mal_fail(err, "'%.40s': no process", text);
	return mal_cpumask_parse(own, &peer->own, err) < 0 ? -1 : mal_cpumask_parse(may, &peer->may, err);
}

int mal_pool_set(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	struct mal_pool *pool = calloc(1, sizeof(*pool));
	char copy[MAL_CHANNEL_REQUEST], *save;

	if (!pool)
		return mal_fail(err, "out of memory");
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (pool->count == PEERS_MOST || parse_peer(word, &pool->peers[pool->count++], err) < 0) {
			free(pool);
			return -1;
		}
	}
	free(controller->pool);
	controller->pool = pool;
	return 0;
}

void mal_pool_clear(struct mal_controller *controller)
{
	free(controller->pool);
	controller->pool = NULL;
}

/* What this step may take for its own now, with OWNERS. Before its ranks are there these are the CPUs that Slurm gave it. */
static struct mal_cpumask held(const struct mal_controller *controller, const unsigned int *owners)
{
	struct mal_cpumask mask = mal_idle_and_owned(controller, owners);

	if (!controller->totals.windows)
		for (unsigned int i = 0; controller->pool && i < controller->pool->count; i++)
			if (controller->pool->peers[i].pid == getpid())
				mal_cpumask_join(&mask, &controller->pool->peers[i].own);
	return mask;
}

static struct mal_pool_rank describe_rank(const struct mal_controller *controller, unsigned int rank, unsigned int cpus)
{
	const struct mal_sample *last = &controller->last[rank];
	double elapsed = last->elapsed_s > 0 ? last->elapsed_s : 1;

	return (struct mal_pool_rank){
		.cpus = cpus, .most = last->most, .work = last->work_s / elapsed, .serial = last->serial_s / elapsed};
}

char *mal_pool_describe(const struct mal_controller *controller)
{
	size_t size = 4096 + controller->segment.rank_count * (size_t)96, used;
	char *text = malloc(size);
	unsigned int owners[MAL_MAX_CPUS], counts[MAL_MAX_RANKS] = {0}, keeps[MAL_MAX_RANKS];
	unsigned int ranks = controller->segment.rank_count;
	struct mal_cpumask has;

	if (!text)
		return NULL;
	mal_read_owners(controller, owners);
	has = held(controller, owners);
	for (unsigned int i = 0; i < controller->cpu_count; i++)
		if (owners[i] < ranks && counts[owners[i]]++ == 0)
			keeps[owners[i]] = controller->cpu[i];
	mal_cpumask_format(&has, text, 4000);
	used = strlen(text);
	used += (size_t)snprintf(text + used, size - used, "\n");
	for (unsigned int rank = 0; rank < ranks; rank++) {
		struct mal_pool_rank said = describe_rank(controller, rank, counts[rank]);

		if (controller->ranks[rank].running && controller->totals.windows)
			used += (size_t)snprintf(text + used, size - used, "%u %u %.6f %.6f %u\n", said.cpus, said.most,
						 said.work, said.serial, counts[rank] ? keeps[rank] : MAL_MAX_CPUS);
	}
	return text;
}

/* All ranks of the pool. */
struct gathered {
	unsigned int count;
	struct mal_pool_rank ranks[MAL_MAX_RANKS];
};

static bool parse_answer(char *text, unsigned int step, struct peer *peer, struct gathered *gathered)
{
	char *save, *line = strtok_r(text, "\n", &save);

	peer->keeps = (struct mal_cpumask){{0}};
	if (!line || mal_cpumask_parse(line, &peer->has, NULL) < 0)
		return false;
	while ((line = strtok_r(NULL, "\n", &save)) && gathered->count < MAL_MAX_RANKS) {
		struct mal_pool_rank *rank = &gathered->ranks[gathered->count];
		unsigned int last;

		if (sscanf(line, "%u %u %lf %lf %u", &rank->cpus, &rank->most, &rank->work, &rank->serial, &last) !=
			    5 ||
		    rank->cpus > MAL_MAX_CPUS || !(rank->work >= 0) || !(rank->serial >= 0))
			return false;
		mal_cpumask_add(&peer->keeps, last);
		rank->step = step;
		gathered->count++;
	}
	return true;
}

/* Ask all of them. False: one does not answer. */
static bool gather(struct mal_controller *controller, struct gathered *gathered)
{
	struct mal_pool *pool = controller->pool;
	bool all = true;

	gathered->count = 0;
	for (unsigned int i = 0; all && i < pool->count; i++) {
		struct peer *peer = &pool->peers[i];
		size_t length;
		char *answer = peer->pid == getpid()
				       ? mal_pool_describe(controller)
				       : mal_channel_ask(peer->pid, geteuid(), "pool", ANSWER_MS, &length, NULL);

		all = answer && parse_answer(answer, i, peer, gathered);
		free(answer);
	}
	return all;
}

/* REQUEST, offer or withdraw, about CPUS, to PEER, who may be ourselves. */
static bool request(struct mal_controller *controller, const struct peer *peer, const char *what,
		    const struct mal_cpumask *cpus)
{
	char text[MAL_CHANNEL_REQUEST - 1], list[1024];

	mal_cpumask_format(cpus, list, sizeof(list));
	if (peer->pid == getpid())
		return (*what == 'o' ? mal_idle_offer : mal_idle_withdraw)(controller, list, NULL) == 0;
	snprintf(text, sizeof(text), "%s %s", what, list);
	return mal_channel_tell(peer->pid, geteuid(), text, ANSWER_MS);
}

/* What a step has that it may not use any more it leaves. */
static void take_back(struct mal_controller *controller)
{
	struct mal_pool *pool = controller->pool;

	for (unsigned int i = 0; i < pool->count; i++) {
		struct mal_cpumask wrong = pool->peers[i].has;

		mal_cpumask_drop(&wrong, &pool->peers[i].may);
		if (mal_cpumask_count(&wrong) && request(controller, &pool->peers[i], "withdraw", &wrong))
			mal_cpumask_drop(&pool->peers[i].has, &wrong);
	}
}

/* What nobody has goes to the step to which Slurm gave it, or to the first that may use it. */
static void hand_out(struct mal_controller *controller)
{
	struct mal_pool *pool = controller->pool;
	struct mal_cpumask taken = {{0}};

	for (unsigned int i = 0; i < pool->count; i++)
		mal_cpumask_join(&taken, &pool->peers[i].has);
	for (unsigned int i = 0; i < 2 * pool->count; i++) {
		struct peer *peer = &pool->peers[i % pool->count];
		struct mal_cpumask free_ones = i < pool->count ? peer->own : peer->may;

		mal_cpumask_keep(&free_ones, &peer->may);
		mal_cpumask_drop(&free_ones, &taken);
		if (!mal_cpumask_count(&free_ones) || !request(controller, peer, "offer", &free_ones))
			continue;
		mal_cpumask_join(&peer->has, &free_ones);
		mal_cpumask_join(&taken, &free_ones);
	}
}

/* The CPU that FROM gives to TO: one that Slurm gave TO, then one that is not FROM's, then the last. MAL_MAX_CPUS: none. */
static unsigned int find_cpu(const struct peer *from, const struct peer *to, const struct mal_cpumask *chosen)
{
	unsigned int best = MAL_MAX_CPUS;
	int best_rank = -1;

	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&from->has, cpu)) < MAL_MAX_CPUS; cpu++) {
		int rank = 2 * mal_cpumask_has(&to->own, cpu) + !mal_cpumask_has(&from->own, cpu);

		if (mal_cpumask_has(chosen, cpu) || mal_cpumask_has(&from->keeps, cpu) ||
		    !mal_cpumask_has(&to->may, cpu) || rank < best_rank)
			continue;
		best = cpu;
		best_rank = rank;
	}
	return best;
}

/* Up to COUNT CPUs go from FROM to TO. Returns how many did. */
static unsigned int pass_on(struct mal_controller *controller, struct peer *from, struct peer *to, unsigned int count)
{
	struct mal_cpumask chosen = {{0}};
	unsigned int cpu;

	while (mal_cpumask_count(&chosen) < count && (cpu = find_cpu(from, to, &chosen)) < MAL_MAX_CPUS)
		mal_cpumask_add(&chosen, cpu);
	count = mal_cpumask_count(&chosen);
	if (!count || !request(controller, from, "withdraw", &chosen))
		return 0;
	mal_cpumask_drop(&from->has, &chosen);
	if (request(controller, to, "offer", &chosen))
		mal_cpumask_join(&to->has, &chosen);
	return count;
}

static void exchange(struct mal_controller *controller, const unsigned int *wanted)
{
	struct mal_pool *pool = controller->pool;

	for (unsigned int from = 0; from < pool->count; from++)
		for (unsigned int to = 0; to < pool->count; to++) {
			unsigned int have = mal_cpumask_count(&pool->peers[from].has);
			unsigned int had = mal_cpumask_count(&pool->peers[to].has);

			if (have > wanted[from] && had < wanted[to])
				pass_on(controller, &pool->peers[from], &pool->peers[to],
					have - wanted[from] < wanted[to] - had ? have - wanted[from]
									       : wanted[to] - had);
		}
}

static bool is_first(const struct mal_pool *pool)
{
	for (unsigned int i = 0; i < pool->count; i++) {
		if (pool->peers[i].pid == getpid())
			return true;
		if (kill(pool->peers[i].pid, 0) == 0 || errno != ESRCH)
			return false;
	}
	return false;
}

/* Does each step have a rank that has been measured? */
static bool all_measured(const struct mal_pool *pool, const struct gathered *gathered)
{
	bool measured[PEERS_MOST] = {false};
	unsigned int count = 0;

	for (unsigned int i = 0; i < gathered->count; i++) {
		count += !measured[gathered->ranks[i].step];
		measured[gathered->ranks[i].step] = true;
	}
	return count == pool->count;
}

void mal_pool_update(struct mal_controller *controller)
{
	struct mal_pool *pool = controller->pool;
	uint64_t now = mal_ticks();
	struct gathered gathered;
	unsigned int wanted[PEERS_MOST];
	bool worth;

	if (!pool || !controller->binds || controller->off || mal_ticks_to_s(now - pool->looked) < PERIOD_S ||
	    !is_first(pool))
		return;
	pool->looked = now;
	if (!gather(controller, &gathered))
		return;
	take_back(controller);
	hand_out(controller);
	if (pool->count < 2 || !all_measured(pool, &gathered))
		return;
	worth = mal_pool_divide(gathered.ranks, gathered.count, pool->count, wanted) > WORTH;
	if (worth && pool->seen_once)
		exchange(controller, wanted);
	pool->seen_once = worth && !pool->seen_once;
}
