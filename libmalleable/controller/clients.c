/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clients.c: who has connected to the controller. */
#include "libmalleable/controller/clients.h"

#include <stdio.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/controller/state/watch.h"

_Static_assert(MAL_CLIENTS > 2 * MAL_CLIENTS_STAY, "there is always a place for who asks");
/* How long a client may take to send its request. */
#define CLIENT_MS 100

void mal_client_close(struct mal_client *client)
{
	close(client->fd);
	*client = (struct mal_client){.kind = MAL_CLIENT_NONE};
}

bool mal_client_answer(struct mal_client *client, const char *text, size_t length)
{
	if (client->kind != MAL_CLIENT_ASKS)
		return mal_channel_send(client->fd, text, length);
	mal_channel_answer(client->fd, text, length);
	client->kind = MAL_CLIENT_NONE;
	return true;
}

void mal_client_send_fd(struct mal_client *client, int fd)
{
	mal_channel_answer_fd(client->fd, fd);
	client->kind = MAL_CLIENT_NONE;
}

/*
 * A place for who has come as FD: a free one, or if there is none or few descriptors are left, that
 * of the client that has sent nothing for longest.
 */
static struct mal_client *find_place(struct mal_clients *clients, int fd)
{
	struct mal_client *oldest = NULL, *free_one = NULL;
	unsigned int count = 0;

	for (unsigned int i = 0; i < MAL_CLIENTS; i++) {
		struct mal_client *client = &clients->list[i];

		if (client->kind != MAL_CLIENT_NONE)
			count++;
		else if (!free_one)
			free_one = client;
		if (client->kind == MAL_CLIENT_ASKS &&
		    (!oldest || client->since_ms < oldest->since_ms))
			oldest = client;
	}
	if (mal_descriptors_are_few(fd) && count < clients->room)
		clients->room = count;
	if (!oldest || count < clients->room)
		return free_one;
	mal_client_close(oldest);
	return oldest;
}

/* Whether CLIENT has sent a request, or held orders and has gone. Others that went are closed. */
static bool look_at(struct mal_client *client, char *text, size_t size)
{
	int taken = mal_channel_take(client->fd, text, size);
	bool reads = client->kind == MAL_CLIENT_READS;

	if (taken > 0 && !reads)
		return true;
	if (taken < 0 && client->kind == MAL_CLIENT_HOLDS) {
		*text = '\0';
		return true;
	}
	/* Whom nothing more is to come from. */
	if (taken || (client->kind == MAL_CLIENT_ASKS &&
		      mal_now_ms() - client->since_ms > mal_patience_ms(CLIENT_MS)))
		mal_client_close(client);
	return false;
}

/* Take in CLIENT, which has FD, and look at it. Returns whether it has sent a request. */
static bool take_in(struct mal_client *client, int fd, char *text, size_t size)
{
	*client = (struct mal_client){.kind = MAL_CLIENT_ASKS, .fd = fd, .since_ms = mal_now_ms()};
	if (look_at(client, text, size))
		return true;
	if (client->kind == MAL_CLIENT_ASKS)
		mal_watch_channel(fd);
	/* What came before it was watched. */
	return client->kind == MAL_CLIENT_ASKS && look_at(client, text, size);
}

bool mal_clients_look(struct mal_controller *controller, bool first, struct mal_client **asks,
		      char *text, size_t size)
{
	struct mal_clients *clients = &controller->clients_own;
	int fd;

	*asks = NULL;
	if (!clients->room)
		clients->room = MAL_CLIENTS;
	if (first && clients->next > MAL_CLIENTS) {
		clients->next = 0;
		clients->again = false;
	}
	while (clients->next < MAL_CLIENTS) {
		struct mal_client *client = &clients->list[clients->next++];

		if (client->kind != MAL_CLIENT_NONE && look_at(client, text, size)) {
			clients->again |= client->kind == MAL_CLIENT_HOLDS;
			*asks = client;
			return true;
		}
	}
	clients->next = MAL_CLIENTS + 1;
	fd = mal_channel_accept(controller->step->arguments.listen_fd);
	if (fd >= 0) {
		struct mal_client *client = find_place(clients, fd);

		if (take_in(client, fd, text, size))
			*asks = client;
	}
	return fd >= 0;
}

int mal_client_stay(struct mal_controller *controller, struct mal_client *client,
		    enum mal_client_kind kind, struct mal_error *err)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < MAL_CLIENTS; i++)
		count += controller->clients.list[i].kind == kind;
	if (count >= MAL_CLIENTS_STAY)
		return mal_fail(err, "%u others do that already", count);
	client->kind = kind;
	mal_watch_channel(client->fd);
	return 0;
}

void mal_clients_hold(struct mal_controller *controller, const struct mal_client *client,
		      unsigned int rank)
{
	for (unsigned int i = 0; i < MAL_CLIENTS; i++) {
		struct mal_client *each = &controller->clients_own.list[i];

		each->holds[rank] = each == client && each->kind == MAL_CLIENT_HOLDS;
	}
}

bool mal_clients_read(const struct mal_controller *controller)
{
	for (unsigned int i = 0; i < MAL_CLIENTS; i++)
		if (controller->clients.list[i].kind == MAL_CLIENT_READS)
			return true;
	return false;
}

/* Send LINE, and before it how many did not reach CLIENT. */
static void send_line(struct mal_client *client, const char *line, size_t length)
{
	char lost[64];
	int used =
		snprintf(lost, sizeof(lost), "{\"event\":\"lost\",\"count\":%lu}\n", client->lost);

	if (client->lost && !mal_channel_send(client->fd, lost, (size_t)used)) {
		client->lost++;
		return;
	}
	client->lost = !mal_channel_send(client->fd, line, length);
}

void mal_clients_tell(struct mal_controller *controller, const char *line, size_t length)
{
	for (unsigned int i = 0; i < MAL_CLIENTS; i++)
		if (controller->clients.list[i].kind == MAL_CLIENT_READS)
			send_line(&controller->clients_own.list[i], line, length);
}

void mal_clients_close(struct mal_controller *controller)
{
	for (unsigned int i = 0; i < MAL_CLIENTS; i++)
		if (controller->clients.list[i].kind != MAL_CLIENT_NONE)
			mal_client_close(&controller->clients_own.list[i]);
}
