/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* set_request.c: what a request to set CPUs, bounds or the policy changes. */
#include "libmalleable/controller/set_request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/number.h"
#include "libmalleable/controller/clients.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/overdue.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/registry.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* What a request sets. */
struct request {
	const char *rank; /* NULL: all */
	const char *cpus, *count, *min, *max, *policy;
	bool free;
};

/* TEXT may be NULL: it is not given. */
static int parse_number(const char *what, const char *text, unsigned int min, unsigned int max,
			unsigned int *number, struct mal_error *err)
{
	if (!text || mal_number_parse(text, min, max, number))
		return 0;
	return mal_fail(err, "%s %.32s: must be between %u and %u", what, text, min, max);
}

/* One word of a request. */
static int parse_word(char *word, struct request *request, struct mal_error *err)
{
	static const struct {
		const char *name;
		size_t offset;
	} words[] = {
		{"rank", offsetof(struct request, rank)},
		{"cpus", offsetof(struct request, cpus)},
		{"count", offsetof(struct request, count)},
		{"min", offsetof(struct request, min)},
		{"max", offsetof(struct request, max)},
		{"policy", offsetof(struct request, policy)},
	};
	char *value = strchr(word, '=');
	size_t i = 0;

	if (value)
		*value++ = '\0';
	if (!value && strcmp(word, "free") == 0) {
		request->free = true;
		return 0;
	}
	while (i < ARRAY_SIZE(words) && strcmp(word, words[i].name) != 0)
		i++;
	if (!value || i == ARRAY_SIZE(words))
		return mal_fail(err, "unknown request '%.32s'", word);
	*(const char **)((char *)request + words[i].offset) = value;
	return 0;
}

/* Requests with a word ";" between them, as many as there is room for. */
static int parse_requests(char *text, struct request *request, struct mal_error *err)
{
	char *save = NULL;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (strcmp(word, ";") == 0)
			request++;
		else if (parse_word(word, request, err) < 0)
			return -1;
	}
	return 0;
}

static int set_cpus(struct mal_controller *controller, struct mal_orders *orders, unsigned int rank,
		    const char *list, struct mal_error *err)
{
	unsigned int owners[MAL_MAX_CPUS];
	struct mal_cpumask mask, rest, ours;
	bool chosen[MAL_MAX_CPUS] = {false};
	char text[256];

	mal_read_owners(controller, owners);
	ours = mal_idle_and_owned(controller, owners);
	if (mal_cpumask_parse(list, &mask, err) < 0)
		return -1;
	rest = mask;
	mal_cpumask_drop(&rest, &ours);
	if (mal_cpumask_count(&rest))
		return mal_fail(err, "CPUs %s are not the step's: it has %s", list,
				mal_cpumask_format(&ours, text, sizeof(text)));
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		chosen[i] = mal_cpumask_has(&mask, controller->step->cpu[i]);
	return mal_orders_set_cpus(orders, rank, chosen, err);
}

static int set_bounds(struct mal_controller *controller, struct mal_orders *orders,
		      unsigned int rank, const struct request *request, struct mal_error *err)
{
	unsigned int min = orders->ranks[rank].min, max = orders->ranks[rank].max,
		     cpus = controller->step->cpu_count;

	if (parse_number("min", request->min, 1, cpus, &min, err) < 0 ||
	    parse_number("max", request->max, 1, cpus, &max, err) < 0 ||
	    parse_number("count", request->count, 1, cpus, &min, err) < 0)
		return -1;
	if (request->count)
		max = min;
	return mal_orders_set_bounds(orders, rank, min, max, err);
}

/* For one rank. */
static int set_rank(struct mal_controller *controller, struct mal_orders *orders, unsigned int rank,
		    const struct request *request, struct mal_error *err)
{
	if (request->free) {
		mal_orders_clear_rank(orders, rank);
		return 0;
	}
	return request->cpus ? set_cpus(controller, orders, rank, request->cpus, err)
			     : set_bounds(controller, orders, rank, request, err);
}

/* For one rank, or for all that run. */
static int change_orders(struct mal_controller *controller, struct mal_orders *orders,
			 const struct mal_view *view, const struct request *request,
			 struct mal_error *err)
{
	unsigned int rank;

	if (request->rank) {
		if (parse_number("rank", request->rank, 0, controller->step->segment.rank_count - 1,
				 &rank, err) < 0)
			return -1;
		if (!view->samples[rank].running)
			return mal_fail(err, "rank %u does not run", rank);
		return set_rank(controller, orders, rank, request, err);
	}
	if (request->cpus)
		return mal_fail(err, "name the rank: JOB.STEP.RANK");
	for (rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (view->samples[rank].running &&
		    set_rank(controller, orders, rank, request, err) < 0)
			return -1;
	return 0;
}

/* All of them or none. */
static int set_orders(struct mal_controller *controller, const struct request *requests,
		      size_t count, struct mal_error *err)
{
	struct mal_planning planning;
	const struct mal_view *view = mal_planning_view(controller, &planning);
	struct mal_orders orders = controller->deciding.orders;
	unsigned int rank;

	if (controller->off_switch.off_now)
		return mal_fail(err, "balancing is switched off by the administrator");
	if (!controller->deciding.binds)
		return mal_fail(err, "policy %s moves no CPUs: set another first, such as external",
				controller->deciding.policy->name);
	/* One may be given what another one leaves. */
	for (size_t i = 0; i < count; i++)
		if (requests[i].cpus && requests[i].rank &&
		    mal_number_parse(requests[i].rank, 0, view->rank_count - 1, &rank))
			mal_orders_clear_rank(&orders, rank);
	for (size_t i = 0; i < count; i++)
		if (change_orders(controller, &orders, view, &requests[i], err) < 0)
			return -1;
	if (mal_orders_check(&orders, view, err) < 0)
		return -1;
	return mal_plan_obey(controller, &orders, err);
}

/* The orders of CLIENT, and of no other, for these ranks end with it. */
static void note_holder(struct mal_controller *controller, const struct mal_client *client,
			const struct request *requests, size_t count)
{
	unsigned int ranks = controller->step->segment.rank_count, only;

	for (size_t i = 0; i < count; i++)
		for (unsigned int rank = 0; rank < ranks; rank++)
			if (!requests[i].rank ||
			    (mal_number_parse(requests[i].rank, 0, ranks - 1, &only) &&
			     only == rank))
				mal_clients_hold(controller, requests[i].free ? NULL : client,
						 rank);
}

/* Another policy from now on. What ranks were told at their start (mode, threads) stays. */
static int set_policy(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	struct mal_choice choice;

	if (mal_loadable_choose(text, controller->step->arguments.libdir,
				controller->step->arguments.allowed, &choice, err) < 0)
		return -1;
	if (!choice.policy->decide)
		return mal_fail(err, "a running step cannot be switched off: set observe");
	if (strcmp(mal_choice_mode(&controller->step->choice), "observe") == 0 &&
	    mal_policy_acts(choice.policy))
		return mal_fail(
			err,
			"the step was started to be observed: its ranks are not prepared for more");
	if (mal_plan_set_policy(controller, choice.policy, choice.values, err) < 0)
		return -1;
	/* What the one before moved stays. */
	mal_overdue_begin(controller, NULL, false);
	mal_plan_begin(controller);
	return 0;
}

/* Whether REQUEST asks for one thing. */
static int check_request(const struct request *request, struct mal_error *err)
{
	bool numbers = request->count || request->min || request->max;

	if (request->policy ? !request->free && !request->cpus && !numbers && !request->rank
			    : request->free + (request->cpus != NULL) + numbers == 1 &&
				      !(request->count && (request->min || request->max)))
		return 0;
	return mal_fail(err, "needs cpus, count, min and max, free or policy");
}

static int set_requests(struct mal_controller *controller, const struct mal_client *client,
			char *words, struct request *requests, size_t count, struct mal_error *err)
{
	if (parse_requests(words, requests, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (check_request(&requests[i], err) < 0)
			return -1;
		if (count > 1 && !requests[i].rank)
			return mal_fail(err, "of several orders each needs its rank");
	}
	if (requests->policy)
		return set_policy(controller, requests->policy, err);
	if (set_orders(controller, requests, count, err) < 0)
		return -1;
	note_holder(controller, client, requests, count);
	return 0;
}

int mal_set_request(struct mal_controller *controller, struct mal_client *client, const char *text,
		    struct mal_error *err)
{
	size_t count = 1;
	char *words = strdup(text);
	struct request *requests;
	int result;

	for (const char *at = text; (at = strchr(at, ';')); at++)
		count++;
	requests = calloc(count, sizeof(*requests));
	result = words && requests ? set_requests(controller, client, words, requests, count, err)
				   : mal_fail(err, "out of memory");
	free(words);
	free(requests);
	return result;
}

void mal_set_end(struct mal_controller *controller, const struct mal_client *client)
{
	struct mal_orders orders = controller->deciding.orders;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (client->holds[rank])
			mal_orders_clear_rank(&orders, rank);
	mal_plan_obey(controller, &orders, NULL);
}
