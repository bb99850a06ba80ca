/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_socket.c: requests to the controller, one after the other, in its loop. */
#include "libmalleable/controller/control_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/controller/clients.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/controller/event_lines.h"
#include "libmalleable/controller/report/status_json.h"
#include "libmalleable/controller/report/summaries.h"
#include "libmalleable/controller/set_request.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Clients that are served before the ranks come first again. */
#define CLIENTS_AT_ONCE 16

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

/*
 * All requests. One without words is its name alone; run and run_for answer ok or why not, and so
 * does one that makes of the client another that stays; describe and show with a text, NULL: an
 * empty one.
 */
static const struct {
	const char *name;
	bool has_words;
	int (*run)(struct mal_controller *controller, const char *text, struct mal_error *err);
	int (*run_for)(struct mal_controller *controller, struct mal_client *client,
		       const char *text, struct mal_error *err);
	enum mal_client_kind stays;
	char *(*describe)(struct mal_controller *controller, const char *text);
	char *(*show)(const struct mal_controller *controller);
} requests[] = {
	/* from control/control.h */
	{"status", false, .show = mal_status_json},
	{"set", true, .run_for = mal_set_request},
	{"events", false, .stays = MAL_CLIENT_READS},
	{"hold", false, .stays = MAL_CLIENT_HOLDS},
	/* from slurmstepd, and from controllers of the job's other steps */
	{"offer", true, .run = mal_idle_offer},
	{"withdraw", true, .run = mal_evict_withdraw},
	{"peers", true, .run = mal_pool_set},
	{"rebind", false, .run = rebind},
	{"pool", false, .show = mal_pool_describe},
	/* from ranks */
	{"node", true, .describe = mal_summaries_describe},
	{"nodes", true, .run = mal_summaries_add},
	{"of", true, .run = mal_summaries_expect},
	{"elsewhere", false, .run = mal_summaries_leave_to_other},
	{MAL_CHANNEL_UNBALANCED, false, .run = note_unbalanced},
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

/* CLIENT has gone, or reads no answers. */
static void leave(struct mal_controller *controller, struct mal_client *client)
{
	if (client->kind == MAL_CLIENT_HOLDS)
		mal_set_end(controller, client);
	mal_client_close(client);
}

static int carry_out(struct mal_controller *controller, struct mal_client *client, int request,
		     const char *words, struct mal_error *err)
{
	if (request < 0)
		return mal_fail(err, "unknown request '%.32s'", words);
	if (requests[request].stays == MAL_CLIENT_READS)
		mal_events_begin(controller);
	if (requests[request].stays)
		return mal_client_stay(controller, client, requests[request].stays, err);
	return requests[request].run ? requests[request].run(controller, words, err)
				     : requests[request].run_for(controller, client, words, err);
}

static void serve(struct mal_controller *controller, struct mal_client *client, char *text)
{
	struct mal_error err = {""};
	char line[sizeof(err.text) + 16], *words = text, *answer = NULL;
	int request = find_request(text, &words), result;

	if (client->kind == MAL_CLIENT_HOLDS && !*text) {
		leave(controller, client);
	} else if (client->kind == MAL_CLIENT_ASKS && strcmp(text, MAL_CHANNEL_SEGMENT) == 0) {
		mal_client_send_fd(client, controller->step->arguments.segment_fd);
	} else if (request >= 0 && (requests[request].describe || requests[request].show)) {
		answer = requests[request].show ? requests[request].show(controller)
						: requests[request].describe(controller, words);
		if (!mal_client_answer(client, answer ? answer : "", answer ? strlen(answer) : 0))
			leave(controller, client);
	} else {
		result = carry_out(controller, client, request, words, &err);
		snprintf(line, sizeof(line), result < 0 ? "error %s\n" : "ok\n", err.text);
		if (!mal_client_answer(client, line, strlen(line)))
			leave(controller, client);
	}
	free(answer);
}

void mal_control_serve(struct mal_controller *controller)
{
	char text[MAL_CHANNEL_REQUEST];
	struct mal_client *client;
	bool others = true;

	for (int count = 0; others && count < CLIENTS_AT_ONCE; count++) {
		others = mal_clients_look(controller, count == 0, &client, text, sizeof(text));
		if (client)
			serve(controller, client, text);
	}
	if (!others && !controller->clients.again)
		return;
	/* There may be more: look again at once. */
	atomic_fetch_add(&controller->step->segment.header->wake, 1);
	atomic_store(&controller->asked, true);
}
