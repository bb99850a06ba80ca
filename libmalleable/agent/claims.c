/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* claims.c: the connected steps, and the share that each of them is told. */
#include "libmalleable/agent/claims.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"

/* How long a step may take to leave CPUs before other steps get them. */
#define LEAVE_MS 100
/* The limit while steps come and go all the time. */
#define LEAVE_MAX_MS 500
/* A connection of root that says nothing for this long is closed. */
#define HELLO_MS 1000
/* A step that sends more unexpected messages than this is disconnected. */
#define IDLE_TALK 64
/* How often to look whether a step that shares CPUs is suspended. */
#define LOOK_MS 1000

struct client {
	int fd;
	int life;    /* read end of slurmstepd's pipe */
	int freezer; /* file that says whether it is suspended, -1: unknown */
	bool known;  /* it has said which step it is */
	bool frozen;
	uint32_t user;
	long since_ms;	   /* when it connected */
	bool asked;	   /* told to leave CPUs, and has not confirmed it */
	uint64_t number;   /* of the last share that it was told */
	unsigned int talk; /* messages that were no answers */
	struct mal_claim claim;
};

static int slurmds[MAL_SLURMDS_MAX];
static size_t slurmd_count;

static struct client clients[MAL_CLAIMS_MAX];
static size_t client_count;
static bool growing;	   /* some get CPUs that others are leaving */
static long growing_since; /* start of this round of growing, which new changes prolong */
static long growing_until; /* when they get them in any case */
static bool shared;	   /* two steps have a CPU in common */
static long next_look;
static struct mal_cpumask wanted[MAL_CLAIMS_MAX];

static bool is_within(const struct mal_cpumask *a, const struct mal_cpumask *b)
{
	struct mal_cpumask rest = *a;

	mal_cpumask_drop(&rest, b);
	return mal_cpumask_count(&rest) == 0;
}

/* Tell CLIENT its share. Disconnect a client that does not read. */
static void tell(struct client *client, const struct mal_cpumask *share)
{
	struct mal_agent_share message = {++client->number, *share};

	client->claim.share = *share;
	if (send(client->fd, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		shutdown(client->fd, SHUT_RDWR);
}

static bool listens(const struct client *client)
{
	return client->known && !client->frozen;
}

/* Tell every step the CPUs that it gains. */
static void grow(void)
{
	growing = false;
	for (size_t i = 0; i < client_count; i++)
		if (listens(&clients[i]) &&
		    memcmp(&clients[i].claim.share, &wanted[i], sizeof(wanted[i])) != 0)
			tell(&clients[i], &wanted[i]);
}

static bool are_shared(void)
{
	struct mal_cpumask seen = {{0}};

	for (size_t i = 0; i < client_count; i++) {
		struct mal_cpumask common = clients[i].claim.cpus;

		mal_cpumask_intersect(&common, &seen);
		if (mal_cpumask_count(&common))
			return true;
		mal_cpumask_union(&seen, &clients[i].claim.cpus);
	}
	return false;
}

static void begin_to_grow(bool leaving)
{
	long now = mal_now_ms();

	if (!growing)
		growing_since = now;
	growing = true;
	growing_until = now + (leaving ? mal_patience_ms(LEAVE_MS) : 0);
	if (growing_until > growing_since + mal_patience_ms(LEAVE_MAX_MS))
		growing_until = growing_since + mal_patience_ms(LEAVE_MAX_MS);
}

/*
 * A step came, left, was suspended or resumed: divide the CPUs anew, and tell the steps that lose
 * some.
 */
static void divide(void)
{
	struct mal_claim claims[MAL_CLAIMS_MAX];
	bool leaving = false;

	for (size_t i = 0; i < client_count; i++) {
		claims[i] = clients[i].claim;
		if (!listens(&clients[i]))
			claims[i].weight = 0;
	}
	mal_shares_divide(claims, client_count);
	shared = are_shared();
	for (size_t i = 0; i < client_count; i++) {
		struct mal_cpumask kept = clients[i].claim.share;

		wanted[i] = claims[i].share;
		if (!listens(&clients[i]) || is_within(&kept, &wanted[i]))
			continue;
		mal_cpumask_intersect(&kept, &wanted[i]);
		tell(&clients[i], mal_cpumask_count(&kept) ? &kept : &wanted[i]);
		clients[i].asked = true;
		leaving = true;
	}
	begin_to_grow(leaving);
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

/*
 * Whether freezer.state (v1) or cgroup.events (v2) says frozen. If the cgroup is gone there is
 * nothing to read.
 */
static bool is_frozen(int fd)
{
	char text[256];
	ssize_t got = fd >= 0 ? pread(fd, text, sizeof(text) - 1, 0) : -1;

	if (got <= 0)
		return false;
	text[got] = '\0';
	return strncmp(text, "FR", 2) == 0 || strstr(text, "frozen 1");
}

/*
 * Whether suspension matters: CPUs are shared, or a suspended step may be resumed after the others
 * left.
 */
static bool have_to_look(void)
{
	bool frozen = false;

	for (size_t i = 0; i < client_count; i++)
		frozen |= clients[i].frozen;
	return shared || frozen;
}

/* Notice steps that were suspended or resumed. */
static void look_at_freezers(void)
{
	bool changed = false;

	if (!have_to_look() || mal_now_ms() < next_look)
		return;
	next_look = mal_now_ms() + LOOK_MS;
	for (size_t i = 0; i < client_count; i++) {
		bool frozen = is_frozen(clients[i].freezer);

		if (frozen == clients[i].frozen)
			continue;
		clients[i].frozen = frozen;
		clients[i].asked = false;
		changed = true;
	}
	if (changed)
		divide();
}

/* Accept connections of root only, going by the kernel. */
void mal_claims_accept(int listening)
{
	struct ucred peer;
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (client_count == MAL_CLAIMS_MAX || !mal_channel_peer(fd, &peer) || peer.uid != 0) {
		close(fd);
		return;
	}
	clients[client_count++] =
		(struct client){.fd = fd, .life = -1, .freezer = -1, .since_ms = mal_now_ms()};
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void remove_client(size_t i)
{
	bool known = clients[i].known;

	close_all((const int[]){clients[i].fd, clients[i].life, clients[i].freezer}, 3);
	client_count--;
	memmove(&clients[i], &clients[i + 1], (client_count - i) * sizeof(clients[0]));
	/* Other steps may wait for what they gain. */
	memmove(&wanted[i], &wanted[i + 1], (client_count - i) * sizeof(wanted[0]));
	if (known)
		divide();
}

static bool is_sound(const struct mal_agent_step *step)
{
	return step->weight > 0 && step->weight <= 1024 && step->min > 0 &&
	       mal_cpumask_count(&step->cpus) > 0;
}

/* Read the descriptors that came with MESSAGE into FDS. Returns their number. */
static size_t take_fds(struct msghdr *message, int fds[MAL_AGENT_FDS])
{
	struct cmsghdr *control = CMSG_FIRSTHDR(message);
	size_t count;

	if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
		return 0;
	count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(control), count * sizeof(int));
	return count;
}

/* Whether there is room for another step of USER. */
static enum mal_agent_verdict judge(uint32_t user)
{
	unsigned int all = 0, own = 0;

	for (size_t i = 0; i < client_count; i++) {
		all += clients[i].known;
		own += clients[i].known && clients[i].user == user;
	}
	if (own >= MAL_CLAIMS_OF_USER)
		return MAL_AGENT_USER_FULL;
	return all < MAL_CLAIMS_TAKEN ? MAL_AGENT_TAKEN : MAL_AGENT_FULL;
}

/* Answer with VERDICT. Returns whether the step is taken and was told so. */
static bool is_answered(const struct client *client, enum mal_agent_verdict verdict)
{
	const struct mal_agent_answer answer = {MAL_AGENT_VERSION, verdict};

	return send(client->fd, &answer, sizeof(answer), MSG_DONTWAIT | MSG_NOSIGNAL) ==
		       (ssize_t)sizeof(answer) &&
	       verdict == MAL_AGENT_TAKEN;
}

/*
 * Start a claim; FDS are its pipe and its freezer. Returns false, and leaves the descriptors to the
 * caller, if the step is not taken.
 */
static bool begin_claim(struct client *client, const struct mal_agent_step *step, const int *fds)
{
	if (!is_answered(client, judge(step->user)))
		return false;
	client->known = true;
	client->user = step->user;
	client->life = fds[0];
	client->freezer = fds[1];
	client->claim = (struct mal_claim){.job = step->job,
					   .weight = step->weight,
					   .min = step->min,
					   .cpus = step->cpus,
					   .share = step->cpus};
	divide();
	return true;
}

/* Read root's first message. Returns false if the connection is to be closed. */
static bool accept_step(struct client *client)
{
	union {
		char room[CMSG_SPACE(MAL_AGENT_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct mal_agent_step step;
	struct iovec part = {&step, sizeof(step)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(client->fd, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	int fds[MAL_AGENT_FDS] = {-1, -1};
	size_t count = got < 0 ? 0 : take_fds(&message, fds);
	bool whole = got == (ssize_t)sizeof(step) && step.version == MAL_AGENT_VERSION && count > 0;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (whole && step.kind == MAL_AGENT_STEP && is_sound(&step) &&
	    begin_claim(client, &step, fds))
		return true;
	if (whole && step.kind == MAL_AGENT_SLURMD && count == 1 && mal_slurmds_add(fds[0])) {
		is_answered(client, MAL_AGENT_TAKEN);
		return false;
	}
	close_all(fds, count);
	return false;
}

/* Read a message from CLIENT. Returns false if it is to be disconnected. */
static bool listen_to(struct client *client)
{
	struct mal_agent_done done;
	ssize_t got;

	if (!client->known)
		return accept_step(client);
	got = recv(client->fd, &done, sizeof(done), MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0)
		return false;
	if (got == (ssize_t)sizeof(done) && done.number == client->number && client->asked) {
		client->asked = false;
		return true;
	}
	/* An answer to an earlier share, or nonsense. */
	return ++client->talk < IDLE_TALK + client->number;
}

size_t mal_claims_wait(struct pollfd *wait)
{
	for (size_t i = 0; i < client_count; i++) {
		wait[2 * i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
		wait[2 * i + 1] = (struct pollfd){.fd = clients[i].life};
	}
	return 2 * client_count;
}

/* When CLIENT has said nothing for too long. */
static long late_at(const struct client *client)
{
	return client->since_ms + mal_patience_ms(HELLO_MS);
}

void mal_claims_serve(const struct pollfd *wait, size_t count)
{
	/* From the end: removing a client does not renumber those before it. */
	for (size_t i = count / 2; i-- > 0;) {
		bool late = !clients[i].known && mal_now_ms() >= late_at(&clients[i]);

		if (wait[2 * i + 1].revents || late ||
		    (wait[2 * i].revents && !listen_to(&clients[i])))
			remove_client(i);
	}
}

int mal_claims_update(void)
{
	long now, next;

	look_at_freezers();
	look_at_leavers();
	now = mal_now_ms();
	next = growing ? growing_until : now + 60000;
	if (have_to_look() && next_look < next)
		next = next_look;
	for (size_t i = 0; i < client_count; i++)
		if (!clients[i].known && late_at(&clients[i]) < next)
			next = late_at(&clients[i]);
	return next > now ? (int)(next - now) : 0;
}

bool mal_slurmds_add(int fd)
{
	if (slurmd_count == MAL_SLURMDS_MAX)
		return false;
	slurmds[slurmd_count++] = fd;
	return true;
}

size_t mal_slurmds_wait(struct pollfd *wait)
{
	for (size_t i = 0; i < slurmd_count; i++)
		wait[i] = (struct pollfd){.fd = slurmds[i], .events = POLLIN};
	return slurmd_count;
}

void mal_slurmds_drop_ended(const struct pollfd *wait, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		if (!wait[i].revents)
			continue;
		close(slurmds[i]);
		slurmd_count--;
		memmove(&slurmds[i], &slurmds[i + 1], (slurmd_count - i) * sizeof(slurmds[0]));
	}
}
