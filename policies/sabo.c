/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sabo.c: proportional redistribution with whole ranks on sockets (SABO; Rocha Barbosa et al.,
 * section IV).
 *
 * Invariant: it decides as published (t/unit/test_policies.c: sabo_searches_as_published;
 * t/t3002-moves.t).
 *
 * Each rank requests cores in proportion to its share of the load. A branch-and-bound search maps
 * ranks to sockets (sockets.h). Where a socket has too few cores for its ranks, the ranks that lose
 * least get fewer; where it has too many, the ranks that gain most get more. The policy drops a
 * plan whose forecast for any rank, time * old / new, is not below the longest time now, and a plan
 * that changes no rank's number of cores. A rank's time includes its serial parts, its load does
 * not.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/interface/builtin.h"
#include "policies/interface/limits.h"
#include "policies/mapping/sockets.h"

enum { PARAM_EVERY, PARAM_AT, PARAM_NODES };

static const struct mal_param params[] = {
	[PARAM_EVERY] = {"every", "balance after every so many phases", 1, 1, 1e9, NULL},
	[PARAM_AT] = {"at", "balance once, after this phase; 0: see every", 0, 0, 1e9, NULL},
	[PARAM_NODES] = {"nodes", "nodes of the search tree explored at most", 5000, 1, 1e7, NULL},
};

struct state {
	double every, at;
	double phases; /* so far; with every: since the last one that counts */
	unsigned int nodes;
	unsigned int socket[MAL_MAX_RANKS]; /* of the last plan */
};

static void *create(const double *values)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->every = values[PARAM_EVERY];
	state->at = values[PARAM_AT];
	state->nodes = (unsigned int)values[PARAM_NODES];
	return state;
}

/* The phases of a window: one at least, also where ranks do not count them. */
static double count_phases(const struct mal_view *view)
{
	double phases = 1;

	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running && view->samples[rank].phases > phases)
			phases = view->samples[rank].phases;
	return phases;
}

/* The paper counts steps, and a window may hold many: is it the one with the step that counts? */
static bool is_due(struct state *state, const struct mal_view *view)
{
	double before = state->phases, due = state->at > 0 ? state->at : state->every;

	state->phases += count_phases(view);
	if (before >= due || state->phases < due)
		return false;
	if (state->at <= 0)
		state->phases = fmod(state->phases, state->every);
	return true;
}

/* Leave out CPUs without an owner, and those of ranks that do not run: they may come back. */
static bool is_handed_out(const struct mal_view *view, unsigned int cpu)
{
	return view->owner[cpu] < view->rank_count && view->samples[view->owner[cpu]].running;
}

/* Find the sockets of this step: packages with CPUs of running ranks. Returns their number. */
static unsigned int count_sockets(const struct mal_view *view, unsigned int *cores,
				  unsigned int *socket_of_cpu)
{
	const struct mal_topology *topology = view->topology;
	unsigned int count = 0;

	for (unsigned int cpu = 0; cpu < topology->cpu_count; cpu++) {
		unsigned int socket = count;

		if (!is_handed_out(view, cpu))
			continue;
		for (unsigned int other = 0; other < cpu && socket == count; other++)
			if (is_handed_out(view, other) &&
			    topology->package[other] == topology->package[cpu])
				socket = socket_of_cpu[other];
		if (socket == count)
			cores[count++] = 0;
		cores[socket]++;
		socket_of_cpu[cpu] = socket;
	}
	return count;
}

/* Sort the running ranks by decreasing load. Returns their number. */
static unsigned int sort_ranks(const struct mal_view *view, unsigned int *order)
{
	unsigned int count = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		unsigned int at = count;

		if (!view->samples[rank].running)
			continue;
		for (; at > 0 && view->samples[order[at - 1]].work_s < view->samples[rank].work_s;
		     at--)
			order[at] = order[at - 1];
		order[at] = rank;
		count++;
	}
	return count;
}

/*
 * Request whole cores in proportion to the load: one at least, largest remainder first, CPUS in
 * all.
 */
static void request(const struct mal_view *view, const unsigned int *order, unsigned int ranks,
		    unsigned int cpus, unsigned int *wanted)
{
	double sum = 0;
	unsigned int given = 0;

	for (unsigned int i = 0; i < ranks; i++)
		sum += view->samples[order[i]].work_s;
	for (unsigned int i = 0; i < ranks; i++) {
		unsigned int part = (unsigned int)(view->samples[order[i]].work_s / sum * cpus);

		wanted[order[i]] = part ? part : 1;
		given += wanted[order[i]];
	}
	while (given != cpus) {
		unsigned int best = order[0];
		double best_off = -1e300;

		for (unsigned int i = 0; i < ranks; i++) {
			unsigned int rank = order[i];
			double off = view->samples[rank].work_s / sum * cpus - wanted[rank];

			off = given < cpus ? off : -off;
			if (off <= best_off || (given > cpus && wanted[rank] == 1))
				continue;
			best = rank;
			best_off = off;
		}
		wanted[best] += given < cpus ? 1 : -1u;
		given += given < cpus ? 1 : -1u;
	}
}

/*
 * Make the counts of each socket's ranks add up to its cores. The search gives no socket more ranks
 * than cores, so one each is always possible.
 */
static void fit_sockets(const struct mal_view *view, const struct mal_socket_search *search,
			unsigned int *count)
{
	for (unsigned int socket = 0; socket < search->socket_count; socket++) {
		unsigned int cores = search->cores[socket], sum = 0, ranks = 0;

		for (unsigned int i = 0; i < search->rank_count; i++) {
			if (search->socket[search->order[i]] != socket)
				continue;
			sum += count[search->order[i]];
			ranks++;
		}
		assert(ranks <= cores);
		while (ranks && sum != cores) {
			unsigned int best = search->rank_count;
			double best_time = 0;

			/*
			 * Take from the rank that is then shortest; give to the one that is
			 * longest.
			 */
			for (unsigned int i = 0; i < search->rank_count; i++) {
				unsigned int rank = search->order[i];
				double time;

				if (search->socket[rank] != socket ||
				    (sum > cores && count[rank] == 1))
					continue;
				time = view->samples[rank].work_s /
				       (sum > cores ? count[rank] - 1 : count[rank]);
				if (best == search->rank_count ||
				    (sum > cores ? time < best_time : time > best_time)) {
					best = i;
					best_time = time;
				}
			}
			count[search->order[best]] += sum > cores ? -1u : 1;
			sum += sum > cores ? -1u : 1;
		}
	}
}

/* The published check; also, no rank may get CPUs that it cannot use. */
static bool is_accepted(const struct mal_view *view, const unsigned int *count,
			struct mal_plan *plan)
{
	double longest = 0, forecast = 0;
	bool changed = false;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];
		double time = sample->cpus ? sample->serial_s + sample->work_s / sample->cpus : 0;

		if (!sample->running)
			continue;
		if (!sample->cpus ||
		    (sample->max && count[rank] > sample->max && count[rank] > sample->cpus))
			return false;
		longest = time > longest ? time : longest;
		time = time * sample->cpus / count[rank];
		forecast = time > forecast ? time : forecast;
		changed |= count[rank] != sample->cpus;
	}
	plan->now_s = plan->forecast_s = longest;
	if (!changed || forecast >= longest)
		return false;
	plan->forecast_s = forecast;
	return true;
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	struct state *state = opaque;
	unsigned int cpus = 0;
	unsigned int cores[MAL_MAX_CPUS + 1], socket_of_cpu[MAL_MAX_CPUS + 1], order[MAL_MAX_RANKS],
		count[MAL_MAX_RANKS];
	struct mal_socket_search search = {
		.cores = cores, .order = order, .wanted = count, .max_nodes = state->nodes};
	double load = 0;

	plan->bind = true;
	if (!view->samples || !is_due(state, view))
		return 0;
	search.socket = state->socket;
	search.socket_count = count_sockets(view, cores, socket_of_cpu);
	for (unsigned int socket = 0; socket < search.socket_count; socket++)
		cpus += cores[socket];
	search.rank_count = sort_ranks(view, order);
	for (unsigned int i = 0; i < search.rank_count; i++)
		load += view->samples[order[i]].work_s;
	memset(count, 0, view->rank_count * sizeof(count[0]));
	if (load <= 0 || search.rank_count > cpus || search.rank_count < search.socket_count)
		return 0;
	request(view, order, search.rank_count, cpus, count);
	if (mal_socket_search(&search) < 0)
		return 0;
	fit_sockets(view, &search, count);
	if (!is_accepted(view, count, plan))
		return 0;
	memcpy(plan->count, count, view->rank_count * sizeof(count[0]));
	plan->move = true;
	return 0;
}

/*
 * A rank keeps its CPUs on its socket, and gets the lowest free ones there. SABO ignores L3 groups.
 */
static void map(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	const struct state *state = opaque;
	unsigned int cpus = view->topology->cpu_count, ranks = view->rank_count;
	unsigned int cores[MAL_MAX_CPUS + 1], socket_of_cpu[MAL_MAX_CPUS + 1];
	unsigned int have[MAL_MAX_RANKS], next[MAL_MAX_CPUS + 1];

	count_sockets(view, cores, socket_of_cpu);
	memset(have, 0, ranks * sizeof(have[0]));
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		unsigned int owner = view->owner[cpu];
		bool keeps = owner < ranks && view->samples[owner].running &&
			     state->socket[owner] == socket_of_cpu[cpu] &&
			     have[owner] < plan->count[owner];

		if (!is_handed_out(view, cpu))
			continue;
		plan->owner[cpu] = keeps ? owner : ranks;
		if (keeps)
			have[owner]++;
	}
	memset(next, 0, sizeof(next));
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		unsigned int *rank;

		if (!is_handed_out(view, cpu) || plan->owner[cpu] != ranks)
			continue;
		rank = &next[socket_of_cpu[cpu]];
		while (*rank < ranks && (!view->samples[*rank].running ||
					 state->socket[*rank] != socket_of_cpu[cpu] ||
					 have[*rank] == plan->count[*rank]))
			(*rank)++;
		plan->owner[cpu] = *rank < ranks ? *rank : view->owner[cpu];
		if (*rank < ranks)
			have[*rank]++;
	}
}

const struct mal_policy mal_policy_sabo = {
	.abi = MAL_POLICY_ABI,
	.name = "sabo",
	.summary = "cores in proportion to the load, whole ranks on sockets, as SABO does",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.map = map,
	.destroy = free,
};
