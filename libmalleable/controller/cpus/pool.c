/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool.c: CPUs go from one step of the job to another. */
#include "libmalleable/controller/cpus/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/core/rundir.h"

#define PERIOD_S 0.2
/* A controller that is asked answers within this, or nothing is done this time. */
#define ANSWER_MS 20
/* CPUs are passed on where the busiest rank has less to do by this part, twice in a row. */
#define WORTH 0.05
#define PEERS_MAX 64
/*
 * So many looks without another exchange while CPUs are being left: by then their step has given
 * up.
 */
#define LOOKS_MAX 10

struct peer {
	char socket[MAL_SOCKET_PATH];
	bool self;
	struct mal_cpumask own, may;
	struct mal_pool_cpus cpus; /* by its last answer, and what we did since */
};

struct mal_pool {
	unsigned int count;
	struct peer peers[PEERS_MAX]; /* ourselves too */
	uint64_t looked;
	bool seen_once;	    /* that it is worth it */
	unsigned int looks; /* since CPUs are being left */
	/* To which peer, from 1 on, a CPU goes when it has been left; 0: to none. */
	uint8_t next[MAL_MAX_CPUS];
};

/* NAME:OWN:MAY; NAME is a socket's in MAL_SOCKET_DIR. */
static int parse_peer(char *text, const char *self, struct peer *peer, struct mal_error *err)
{
	char *own = strchr(text, ':'), *may = own ? strchr(own + 1, ':') : NULL;
	int length;

	if (!may)
		return mal_fail(err, "'%.40s': must be NAME:OWN:MAY", text);
	*own++ = *may++ = '\0';
	length = snprintf(peer->socket, sizeof(peer->socket), MAL_SOCKET_DIR "/%s", text);
	if (!*text || strchr(text, '/') || length >= (int)sizeof(peer->socket))
		return mal_fail(err, "'%.40s': no controller", text);
	peer->self = self && strcmp(peer->socket, self) == 0;
	return mal_cpumask_parse(own, &peer->own, err) < 0
		       ? -1
		       : mal_cpumask_parse(may, &peer->may, err);
}

int mal_pool_set(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	struct mal_pool *pool = calloc(1, sizeof(*pool));
	char copy[MAL_CHANNEL_REQUEST], *save;

	if (!pool)
		return mal_fail(err, "out of memory");
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		int result = pool->count == PEERS_MAX
				     ? mal_fail(err, "more than %d steps in a pool", PEERS_MAX)
				     : parse_peer(word, controller->step->arguments.socket,
						  &pool->peers[pool->count++], err);

		if (result < 0) {
			free(pool);
			return -1;
		}
	}
	free(controller->pool);
	controller->pool = pool;
	return 0;
}

/*
 * What this step may take for its own now, with OWNERS. Before its ranks are there these are the
 * CPUs that Slurm gave it.
 */
static struct mal_cpumask held(const struct mal_controller *controller, const unsigned int *owners)
{
	struct mal_cpumask mask = mal_idle_and_owned(controller, owners);

	if (!controller->totals.windows)
		for (unsigned int i = 0; controller->pool && i < controller->pool->count; i++)
			if (controller->pool->peers[i].self)
				mal_cpumask_union(&mask, &controller->pool->peers[i].own);
	return mask;
}

static struct mal_pool_rank describe_rank(const struct mal_controller *controller,
					  unsigned int rank, unsigned int cpus)
{
	const struct mal_sample *last = &controller->last[rank];
	double elapsed = last->elapsed_s > 0 ? last->elapsed_s : 1;

	return (struct mal_pool_rank){.cpus = cpus,
				      .max = last->max,
				      .work = last->work_s / elapsed,
				      .serial = last->serial_s / elapsed};
}

char *mal_pool_describe(const struct mal_controller *controller)
{
	char *text = NULL, list[MAL_CPUMASK_TEXT], leaving[MAL_CPUMASK_TEXT];
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int owners[MAL_MAX_CPUS], counts[MAL_MAX_RANKS] = {0}, keeps[MAL_MAX_RANKS];
	unsigned int ranks = controller->step->segment.rank_count;
	struct mal_cpumask has;

	if (!out)
		return NULL;
	mal_read_owners(controller, owners);
	has = held(controller, owners);
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (owners[i] < ranks && counts[owners[i]]++ == 0)
			keeps[owners[i]] = controller->step->cpu[i];
	mal_cpumask_union(&has, &controller->leaving.cpus);
	fprintf(out, "%s %s\n", mal_cpumask_format(&has, list, sizeof(list)),
		mal_cpumask_format(&controller->leaving.cpus, leaving, sizeof(leaving)));
	for (unsigned int rank = 0; rank < ranks; rank++) {
		struct mal_pool_rank view = describe_rank(controller, rank, counts[rank]);

		if (controller->ranks[rank].running && controller->totals.windows)
			fprintf(out, "%u %u %.6f %.6f %u\n", view.cpus, view.max, view.work,
				view.serial, counts[rank] ? keeps[rank] : MAL_MAX_CPUS);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* HAS LEAVING; the second list may be empty. */
static bool parse_cpus(char *line, struct mal_pool_cpus *cpus)
{
	char *leaving = line ? strchr(line, ' ') : NULL;

	cpus->leaving = (struct mal_cpumask){{0}};
	if (leaving)
		*leaving++ = '\0';
	return line && mal_cpumask_parse(line, &cpus->has, NULL) == 0 &&
	       (!leaving || !*leaving || mal_cpumask_parse(leaving, &cpus->leaving, NULL) == 0);
}

/* Is RANK one that there can be? */
static bool is_sound(const struct mal_pool_rank *rank)
{
	return rank->cpus <= MAL_MAX_CPUS && isfinite(rank->work) && isfinite(rank->serial) &&
	       rank->work >= 0 && rank->serial >= 0;
}

bool mal_pool_parse(char *text, unsigned int step, struct mal_pool_cpus *cpus,
		    struct mal_pool_ranks *gathered)
{
	char *save, *line = strtok_r(text, "\n", &save);

	cpus->keeps = (struct mal_cpumask){{0}};
	if (!parse_cpus(line, cpus))
		return false;
	while ((line = strtok_r(NULL, "\n", &save)) && gathered->count < MAL_MAX_RANKS) {
		struct mal_pool_rank *rank = &gathered->ranks[gathered->count];
		unsigned int last;

		if (sscanf(line, "%u %u %lf %lf %u", &rank->cpus, &rank->max, &rank->work,
			   &rank->serial, &last) != 5 ||
		    !is_sound(rank) || (gathered->cpus += rank->cpus) > MAL_MAX_CPUS)
			return false;
		mal_cpumask_add(&cpus->keeps, last);
		rank->step = step;
		gathered->count++;
	}
	return true;
}

/* Ask all of them. False: one does not answer. */
static bool gather(struct mal_controller *controller, struct mal_pool_ranks *gathered)
{
	struct mal_pool *pool = controller->pool;
	bool all = true;

	gathered->count = gathered->cpus = 0;
	for (unsigned int i = 0; all && i < pool->count; i++) {
		struct peer *peer = &pool->peers[i];
		size_t length;
		char *answer = peer->self
				       ? mal_pool_describe(controller)
				       : mal_channel_ask(peer->socket, "pool",
							 mal_patience_ms(ANSWER_MS), &length, NULL);

		all = answer && mal_pool_parse(answer, i, &peer->cpus, gathered);
		free(answer);
	}
	return all;
}

/* REQUEST, offer or withdraw, about CPUS, to PEER, who may be ourselves. */
static bool request(struct mal_controller *controller, const struct peer *peer, const char *what,
		    const struct mal_cpumask *cpus)
{
	char text[MAL_CHANNEL_REQUEST - 1], list[MAL_CPUMASK_TEXT];

	mal_cpumask_format(cpus, list, sizeof(list));
	if (peer->self)
		return (*what == 'o' ? mal_idle_offer : mal_evict_withdraw)(controller, list,
									    NULL) == 0;
	snprintf(text, sizeof(text), "%s %s", what, list);
	return mal_channel_tell(peer->socket, text, mal_patience_ms(ANSWER_MS));
}

/* What a step has that it may not use any more it leaves. */
static void take_back(struct mal_controller *controller)
{
	struct mal_pool *pool = controller->pool;

	for (unsigned int i = 0; i < pool->count; i++) {
		struct mal_cpumask wrong = pool->peers[i].cpus.has;

		mal_cpumask_drop(&wrong, &pool->peers[i].may);
		if (mal_cpumask_count(&wrong) &&
		    request(controller, &pool->peers[i], "withdraw", &wrong))
			mal_cpumask_drop(&pool->peers[i].cpus.has, &wrong);
	}
}

/* Of CPUS, those that the last exchange has given to peer NUMBER, and that had to be left first. */
static struct mal_cpumask keep_next(const struct mal_pool *pool, unsigned int number,
				    const struct mal_cpumask *cpus)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(cpus, cpu)) < MAL_MAX_CPUS; cpu++)
		if (pool->next[cpu] == number + 1)
			mal_cpumask_add(&mask, cpu);
	return mask;
}

/*
 * What nobody has goes to the step that is to have it, to the one to which Slurm gave it, or to the
 * first that may use it.
 */
static void hand_out(struct mal_controller *controller)
{
	struct mal_pool *pool = controller->pool;
	struct mal_cpumask taken = {{0}};

	for (unsigned int i = 0; i < pool->count; i++)
		mal_cpumask_union(&taken, &pool->peers[i].cpus.has);
	for (unsigned int i = 0; i < 3 * pool->count; i++) {
		struct peer *peer = &pool->peers[i % pool->count];
		struct mal_cpumask free_ones = i / pool->count == 1 ? peer->own : peer->may;

		mal_cpumask_intersect(&free_ones, &peer->may);
		if (i < pool->count)
			free_ones = keep_next(pool, i, &free_ones);
		mal_cpumask_drop(&free_ones, &taken);
		if (!mal_cpumask_count(&free_ones) ||
		    !request(controller, peer, "offer", &free_ones))
			continue;
		mal_cpumask_union(&peer->cpus.has, &free_ones);
		mal_cpumask_union(&taken, &free_ones);
		for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&free_ones, cpu)) < MAL_MAX_CPUS;
		     cpu++)
			pool->next[cpu] = 0;
	}
}

/*
 * The CPU that FROM gives to TO: one that Slurm gave TO, then one that is not FROM's, then the
 * last. MAL_MAX_CPUS: none.
 */
static unsigned int find_cpu(const struct peer *from, const struct peer *to,
			     const struct mal_cpumask *chosen)
{
	unsigned int best = MAL_MAX_CPUS;
	int best_rank = -1;

	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&from->cpus.has, cpu)) < MAL_MAX_CPUS;
	     cpu++) {
		int rank = 2 * mal_cpumask_has(&to->own, cpu) + !mal_cpumask_has(&from->own, cpu);

		if (mal_cpumask_has(chosen, cpu) || mal_cpumask_has(&from->cpus.keeps, cpu) ||
		    !mal_cpumask_has(&to->may, cpu) || rank < best_rank)
			continue;
		best = cpu;
		best_rank = rank;
	}
	return best;
}

/* Up to COUNT CPUs go from FROM to TO: at once, or when FROM has left them. */
static void pass_on(struct mal_controller *controller, struct peer *from, struct peer *to,
		    unsigned int count)
{
	struct mal_cpumask chosen = {{0}};
	struct mal_pool *pool = controller->pool;
	unsigned int cpu;

	while (mal_cpumask_count(&chosen) < count &&
	       (cpu = find_cpu(from, to, &chosen)) < MAL_MAX_CPUS)
		mal_cpumask_add(&chosen, cpu);
	if (!mal_cpumask_count(&chosen))
		return;
	mal_cpumask_drop(&from->cpus.has, &chosen);
	if (!request(controller, from, "withdraw", &chosen))
		for (cpu = 0; (cpu = mal_cpumask_next(&chosen, cpu)) < MAL_MAX_CPUS; cpu++)
			pool->next[cpu] = (uint8_t)(to - pool->peers + 1);
	else if (!request(controller, to, "offer", &chosen))
		return;
	mal_cpumask_union(&to->cpus.has, &chosen);
}

static void exchange(struct mal_controller *controller, const unsigned int *wanted)
{
	struct mal_pool *pool = controller->pool;

	for (unsigned int from = 0; from < pool->count; from++)
		for (unsigned int to = 0; to < pool->count; to++) {
			unsigned int have = mal_cpumask_count(&pool->peers[from].cpus.has);
			unsigned int had = mal_cpumask_count(&pool->peers[to].cpus.has);

			if (have > wanted[from] && had < wanted[to])
				pass_on(controller, &pool->peers[from], &pool->peers[to],
					have - wanted[from] < wanted[to] - had ? have - wanted[from]
									       : wanted[to] - had);
		}
}

/*
 * Is a CPU being left? Those that are still, after a time, count as nobody's: a program does not
 * let them go.
 */
static bool is_leaving(struct mal_pool *pool)
{
	bool any = false;

	for (unsigned int i = 0; i < pool->count; i++) {
		any |= mal_cpumask_count(&pool->peers[i].cpus.leaving) > 0;
		mal_cpumask_drop(&pool->peers[i].cpus.has, &pool->peers[i].cpus.leaving);
	}
	pool->looks = any ? pool->looks + (pool->looks < LOOKS_MAX) : 0;
	return any && pool->looks < LOOKS_MAX;
}

static bool is_first(const struct mal_pool *pool)
{
	for (unsigned int i = 0; i < pool->count; i++) {
		if (pool->peers[i].self)
			return true;
		if (mal_channel_is_open(pool->peers[i].socket))
			return false;
	}
	return false;
}

/* Does each step have a rank that has been measured? */
static bool all_measured(const struct mal_pool *pool, const struct mal_pool_ranks *gathered)
{
	bool measured[PEERS_MAX] = {false};
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
	struct mal_pool_ranks gathered;
	unsigned int wanted[PEERS_MAX];
	bool worth;

	if (!pool || !controller->deciding.binds || controller->off_switch.off_now ||
	    mal_ticks_to_s(now - pool->looked) < PERIOD_S || !is_first(pool))
		return;
	pool->looked = now;
	if (!gather(controller, &gathered))
		return;
	take_back(controller);
	hand_out(controller);
	if (is_leaving(pool) || pool->count < 2 || !all_measured(pool, &gathered))
		return;
	worth = mal_pool_divide(gathered.ranks, gathered.count, pool->count, wanted) > WORTH;
	if (worth && pool->seen_once)
		exchange(controller, wanted);
	pool->seen_once = worth && !pool->seen_once;
}
