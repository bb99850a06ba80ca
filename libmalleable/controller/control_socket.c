/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_socket.c: requests to the controller, one after the other, in its loop. */
#include "libmalleable/controller/control_socket.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/number.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/controller/overdue.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/report/status_json.h"
#include "libmalleable/controller/report/summaries.h"
#include "libmalleable/controller/state/watch.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/registry.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Clients that are served before the ranks come first again. */
#define CLIENTS_AT_ONCE 16

/* What a request sets. */
struct request {
	const char *rank; /* NULL: all */
	const char *cpus, *count, *min, *max, *policy;
	bool free;
};

static int parse_number(const char *what, const char *text, unsigned int min, unsigned int max,
			unsigned int *number, struct mal_error *err)
{
	if (mal_number_parse(text, min, max, number))
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
	unsigned int min = orders->ranks[rank].min, max = orders->ranks[rank].max;

	if (request->min &&
	    parse_number("min", request->min, 1, controller->step->cpu_count, &min, err) < 0)
		return -1;
	if (request->max &&
	    parse_number("max", request->max, 1, controller->step->cpu_count, &max, err) < 0)
		return -1;
	if (request->count &&
	    parse_number("count", request->count, 1, controller->step->cpu_count, &min, err) < 0)
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

static int set_requests(struct mal_controller *controller, char *words, struct request *requests,
			size_t count, struct mal_error *err)
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
	return set_orders(controller, requests, count, err);
}

static int set(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	size_t count = 1;
	char *words = strdup(text);
	struct request *requests;
	int result;

	for (const char *at = text; (at = strchr(at, ';')); at++)
		count++;
	requests = calloc(count, sizeof(*requests));
	result = words && requests ? set_requests(controller, words, requests, count, err)
				   : mal_fail(err, "out of memory");
	free(words);
	free(requests);
	return result;
}

static int leave_to_other(struct mal_controller *controller, const char *text,
			  struct mal_error *err)
{
	(void)text;
	return mal_summaries_leave_to_other(controller, err);
}

static int rebind(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	(void)text;
	(void)err;
	mal_evict_rebind(controller);
	return 0;
}

static int note_unbalanced(struct mal_controller *controller, const char *text,
			   struct mal_error *err)
{
	(void)text;
	(void)err;
	atomic_store(&controller->step->segment.header->refused, true);
	return 0;
}

static char *describe_step(struct mal_controller *controller, const char *text)
{
	(void)text;
	return mal_status_json(controller);
}

static char *describe_pool(struct mal_controller *controller, const char *text)
{
	(void)text;
	return mal_pool_describe(controller);
}

/*
 * All requests. One without words is its name alone; act answers ok or why not, describe with a
 * text, NULL: an empty one.
 */
static const struct {
	const char *name;
	bool has_words;
	int (*act)(struct mal_controller *controller, const char *text, struct mal_error *err);
	char *(*describe)(struct mal_controller *controller, const char *text);
} requests[] = {
	/* from the malleable command */
	{"status", false, .describe = describe_step},
	{"set", true, .act = set},
	/* from slurmstepd, and from controllers of the job's other steps */
	{"offer", true, .act = mal_idle_offer},
	{"withdraw", true, .act = mal_evict_withdraw},
	{"peers", true, .act = mal_pool_set},
	{"rebind", false, .act = rebind},
	{"pool", false, .describe = describe_pool},
	/* from ranks */
	{"node", true, .describe = mal_summaries_describe},
	{"nodes", true, .act = mal_summaries_add},
	{"of", true, .act = mal_summaries_expect},
	{"elsewhere", false, .act = leave_to_other},
	{MAL_CHANNEL_UNBALANCED, false, .act = note_unbalanced},
};

/* Returns the number of the request that TEXT is, and its WORDS; or -1. */
static int find_request(char *text, char **words)
{
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		size_t length = strlen(requests[i].name);

		if (strncmp(text, requests[i].name, length) != 0 ||
		    text[length] != (requests[i].has_words ? ' ' : '\0'))
			continue;
		*words = text + length + requests[i].has_words;
		return (int)i;
	}
	return -1;
}

static void answer_text(int client, char *text)
{
	mal_channel_answer(client, text ? text : "", text ? strlen(text) : 0);
	free(text);
}

static void serve(struct mal_controller *controller, int client, char *text)
{
	struct mal_error err = {""};
	char answer[sizeof(err.text) + 16], *words;
	int request, length, result;

	if (strcmp(text, MAL_CHANNEL_SEGMENT) == 0) {
		mal_channel_answer_fd(client, controller->step->arguments.segment_fd);
		return;
	}
	request = find_request(text, &words);
	if (request >= 0 && requests[request].describe) {
		answer_text(client, requests[request].describe(controller, words));
		return;
	}
	result = request < 0 ? mal_fail(&err, "unknown request '%.32s'", text)
			     : requests[request].act(controller, words, &err);
	length = snprintf(answer, sizeof(answer), result < 0 ? "error %s\n" : "ok\n", err.text);
	mal_channel_answer(client, answer, (size_t)length);
}

void mal_control_serve(struct mal_controller *controller)
{
	int listening = controller->step->arguments.listen_fd;
	char text[MAL_CHANNEL_REQUEST];

	for (int count = 0; count < CLIENTS_AT_ONCE; count++) {
		int client = mal_channel_accept(listening, text, sizeof(text));

		if (client < 0)
			return;
		serve(controller, client, text);
	}
	/* There may be more: look again at once. */
	atomic_fetch_add(&controller->step->segment.header->wake, 1);
	atomic_store(&controller->asked, true);
}
