/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * main.c: malleable-agent, which tells the balanced steps of a node their shares of CPUs that several jobs were given.
 *
 * After DROM's co-scheduling (D'Amico et al., ICPP 2018): jobs that share CPUs get parts of them instead of taking turns. A CPU changes
 * hands in two messages: first those who lose one are told, and when they have left, or have had their time, those who gain.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/agent/shares.h"
#include "libmalleable/core/clock.h"

/* How long a step may take to leave CPUs before others are told to use them. */
#define LEAVE_MS 100
/* A connection of root that says nothing is no step. */
#define HELLO_MS 1000
/* A step that talks more than it has to is left out. */
#define IDLE_TALK 64
/* Slurmds for which it runs: one follows the other at once when it is configured anew. */
#define LIVES_MOST 8

struct client {
	int fd;
	bool known;	   /* it has said who it is */
	long since_ms;	   /* it connected */
	bool asked;	   /* it has to leave CPUs, and has not said that it has */
	uint64_t number;   /* of the last share that it was told */
	unsigned int talk; /* messages that were no answers */
	struct mal_claim claim;
};

static struct client clients[MAL_CLAIMS_MOST];
static size_t client_count;
static int lives[LIVES_MOST]; /* read ends of pipes: a slurmd lives while its end is open */
static size_t life_count;
static bool growing;	   /* some are to be told of CPUs that others leave now */
static long growing_until; /* when they are told in any case */
static struct mal_cpumask wanted[MAL_CLAIMS_MOST];

static bool is_within(const struct mal_cpumask *a, const struct mal_cpumask *b)
{
	struct mal_cpumask rest = *a;

	mal_cpumask_drop(&rest, b);
	return mal_cpumask_count(&rest) == 0;
}

/* A step that does not read is none of ours. */
static void tell(struct client *client, const struct mal_cpumask *share)
{
	struct mal_agent_share message = {++client->number, *share};

	client->claim.share = *share;
	if (send(client->fd, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		shutdown(client->fd, SHUT_RDWR);
}

/* Tell everybody what they gain. */
static void grow(void)
{
	growing = false;
	for (size_t i = 0; i < client_count; i++)
		if (clients[i].known && memcmp(&clients[i].claim.share, &wanted[i], sizeof(wanted[i])) != 0)
			tell(&clients[i], &wanted[i]);
}

/* Somebody came or went: work out the shares, and tell those who lose CPUs. */
static void divide(void)
{
	struct mal_claim claims[MAL_CLAIMS_MOST];
	bool leaving = false;

	for (size_t i = 0; i < client_count; i++) {
		claims[i] = clients[i].claim;
		if (!clients[i].known)
			claims[i].weight = 0;
	}
	mal_shares_divide(claims, client_count);
	for (size_t i = 0; i < client_count; i++) {
		struct mal_cpumask kept = clients[i].claim.share;

		wanted[i] = claims[i].share;
		if (!clients[i].known || is_within(&kept, &wanted[i]))
			continue;
		mal_cpumask_keep(&kept, &wanted[i]);
		tell(&clients[i], mal_cpumask_count(&kept) ? &kept : &wanted[i]);
		clients[i].asked = true;
		leaving = true;
	}
	growing = true;
	growing_until = mal_now_ms() + (leaving ? LEAVE_MS : 0);
}

static void look_at_leavers(void)
{
	bool left = true;

	for (size_t i = 0; i < client_count; i++)
		left &= !clients[i].asked;
	if (growing && (left || mal_now_ms() >= growing_until)) {
		for (size_t i = 0; i < client_count; i++)
			clients[i].asked = false;
		grow();
	}
}

/* The kernel says who has connected: root alone is listened to. */
static void take_client(int listening)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t size = sizeof(peer);
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (client_count == MAL_CLAIMS_MOST || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
	    peer.uid != 0) {
		close(fd);
		return;
	}
	clients[client_count++] = (struct client){.fd = fd, .since_ms = mal_now_ms()};
}

static void remove_client(size_t i)
{
	bool known = clients[i].known;

	close(clients[i].fd);
	client_count--;
	memmove(&clients[i], &clients[i + 1], (client_count - i) * sizeof(clients[0]));
	if (known)
		divide();
}

static bool is_sound(const struct mal_agent_step *step)
{
	return step->version == MAL_AGENT_VERSION && step->weight > 0 && step->weight <= 1024 &&
	       mal_cpumask_count(&step->cpus) > 0;
}

/* The descriptor that came with MESSAGE, or -1. */
static int passed_fd(struct msghdr *message)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(message);
	int fd;

	if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS ||
	    control->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(control), sizeof(fd));
	return fd;
}

/* The first message of root: a step begins, or another slurmd has come, with the end of a pipe. Returns false if that is all. */
static bool welcome(struct client *client)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct mal_agent_step step;
	struct iovec part = {&step, sizeof(step)};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(client->fd, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	int fd = got < 0 ? -1 : passed_fd(&message);

	if (fd >= 0 && life_count < LIVES_MOST) {
		lives[life_count++] = fd;
		return false;
	}
	if (fd >= 0)
		close(fd);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got != (ssize_t)sizeof(step) || !is_sound(&step))
		return false;
	client->known = true;
	client->claim = (struct mal_claim){
		.job = step.job, .weight = step.weight, .least = step.least, .cpus = step.cpus, .share = step.cpus};
	divide();
	return true;
}

/* A message from client I. Returns false if it is to be left out. */
static bool listen_to(size_t i)
{
	struct client *client = &clients[i];
	struct mal_agent_done done;
	ssize_t got;

	if (!client->known)
		return welcome(client);
	got = recv(client->fd, &done, sizeof(done), MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0)
		return false;
	if (got == (ssize_t)sizeof(done) && done.number == client->number && client->asked) {
		client->asked = false;
		return true;
	}
	/* The answer to an earlier share, or nonsense. */
	return ++client->talk < IDLE_TALK + client->number;
}

static int next_timeout(void)
{
	long now = mal_now_ms(), next = growing ? growing_until : now + 60000;

	for (size_t i = 0; i < client_count; i++)
		if (!clients[i].known && clients[i].since_ms + HELLO_MS < next)
			next = clients[i].since_ms + HELLO_MS;
	return next > now ? (int)(next - now) : 0;
}

/* WAIT: what there is of the slurmds' pipes, COUNT of them. */
static void bury(const struct pollfd *wait, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		if (!wait[i].revents)
			continue;
		close(lives[i]);
		life_count--;
		memmove(&lives[i], &lives[i + 1], (life_count - i) * sizeof(lives[0]));
	}
}

/* Until no slurmd lives. */
static void serve(int listening)
{
	while (life_count) {
		struct pollfd wait[LIVES_MOST + 1 + MAL_CLAIMS_MOST];
		size_t count = client_count, slurmds = life_count;
		struct pollfd *door = &wait[slurmds], *guests = door + 1;

		for (size_t i = 0; i < slurmds; i++)
			wait[i] = (struct pollfd){.fd = lives[i], .events = POLLIN};
		*door = (struct pollfd){.fd = listening, .events = POLLIN};
		for (size_t i = 0; i < count; i++)
			guests[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
		if (poll(wait, (nfds_t)(slurmds + 1 + count), next_timeout()) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		/* From the end: those that go leave the numbers of the others before them as they are. */
		for (size_t i = count; i-- > 0;)
			if ((guests[i].revents && !listen_to(i)) ||
			    (!clients[i].known && mal_now_ms() >= clients[i].since_ms + HELLO_MS))
				remove_client(i);
		bury(wait, slurmds);
		if (door->revents & POLLIN)
			take_client(listening);
		look_at_leavers();
	}
}

static int give_up_root(uid_t user, gid_t group)
{
	if (geteuid() != 0)
		return 0;
	if (user == 0 || setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0 ||
	    setresuid(user, user, user) < 0 || setuid(0) == 0)
		return -1;
	return 0;
}

static void usage(FILE *out)
{
	fputs("Usage: malleable-agent --listen-fd N --life-fd N --user UID --group GID [--detach]\n"
	      "\n"
	      "Tells the balanced steps of a node their shares of CPUs that several jobs were given. The\n"
	      "balance plugin starts it in slurmd with coschedule=yes; it is of no use by itself.\n"
	      "\n"
	      "  --listen-fd N  the socket that steps connect to\n"
	      "  --life-fd N    read end of a pipe: when its other end closes, slurmd has ended\n"
	      "  --user, --group  whose it is from then on: not root's\n"
	      "  --detach       leave the parent\n"
	      "  --help, --version\n",
	      out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"listen-fd", required_argument, NULL, 'l'}, {"life-fd", required_argument, NULL, 'e'},
		{"user", required_argument, NULL, 'u'},	     {"group", required_argument, NULL, 'g'},
		{"detach", no_argument, NULL, 'd'},	     {"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},	     {NULL, 0, NULL, 0},
	};
	long number['u' + 1] = {['l'] = -1, ['e'] = -1, ['u'] = -1, ['g'] = -1};
	bool detach = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'h': usage(stdout); return 0;
		case 'V': puts("malleable-agent " PACKAGE_VERSION); return 0;
		case 'd': detach = true; break;
		case '?': return 2;
		default: number[option] = strtol(optarg, NULL, 10);
		}
	}
	if (number['l'] < 0 || number['e'] < 0 || number['u'] <= 0 || number['g'] <= 0 || optind < argc) {
		fputs("malleable-agent: --listen-fd, --life-fd, --user and --group are needed, see --help\n", stderr);
		return 2;
	}
	if (give_up_root((uid_t)number['u'], (gid_t)number['g']) < 0) {
		fputs("malleable-agent: cannot give up root\n", stderr);
		return 1;
	}
	if (detach && fork() != 0)
		return 0;
	signal(SIGPIPE, SIG_IGN);
	if (chdir("/") < 0)
		return 1;
	lives[life_count++] = (int)number['e'];
	serve((int)number['l']);
	return 0;
}
