/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* share.c: the step's share of CPUs that other jobs were given too. */
#include "libmalleable/controller/share.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/controller/idle.h"
#include "libmalleable/controller/watch.h"
#include "libmalleable/core/agent.h"

void mal_share_open(struct mal_controller *controller, int fd)
{
	controller->share = controller->allocation;
	controller->least_share = mal_cpumask_count(&controller->share);
	controller->agent = fd;
	if (fd >= 0)
		mal_watch_channel(fd);
}

static struct mal_cpumask foreign(const struct mal_controller *controller)
{
	struct mal_cpumask cpus = controller->allocation;

	mal_cpumask_drop(&cpus, &controller->share);
	return cpus;
}

/* Ranks leave what is not in the share any more, and get what is new in it. */
static void use(struct mal_controller *controller, const struct mal_cpumask *share)
{
	struct mal_cpumask gained = *share, lost;
	unsigned int count = mal_cpumask_count(share);

	mal_cpumask_drop(&gained, &controller->share);
	controller->share = *share;
	if (count < controller->least_share)
		controller->least_share = count;
	lost = foreign(controller);
	mal_cpumask_join(&controller->idle, &gained);
	mal_cpumask_drop(&controller->idle, &lost);
	mal_idle_vacate(controller, &lost);
	mal_idle_share_out(controller);
}

/* The agent is gone: all CPUs are the step's again, beside others. */
static void leave(struct mal_controller *controller)
{
	mal_watch_forget(controller->agent);
	close(controller->agent);
	controller->agent = -1;
	use(controller, &controller->allocation);
}

static void listen_to_agent(struct mal_controller *controller)
{
	struct mal_agent_share message;
	ssize_t got;

	while ((got = recv(controller->agent, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		struct mal_agent_done done = {message.number};

		if (got != (ssize_t)sizeof(message))
			continue;
		mal_cpumask_keep(&message.cpus, &controller->allocation);
		if (controller->binds && mal_cpumask_count(&message.cpus))
			use(controller, &message.cpus);
		if (send(controller->agent, &done, sizeof(done), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
			break;
	}
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		leave(controller);
}

/* Does a rank own or use a CPU of CPUS? */
static bool are_used(const struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(cpus, cpu)) < controller->segment.cpu_count; cpu++) {
		struct mal_cpu_state state = mal_word_read(&controller->segment.cpus[cpu].word);

		if (state.owner != MAL_NOBODY || state.user != MAL_NOBODY)
			return true;
	}
	return false;
}

void mal_share_update(struct mal_controller *controller)
{
	struct mal_cpumask others;

	if (controller->agent < 0)
		return;
	listen_to_agent(controller);
	others = foreign(controller);
	if (!controller->off && mal_cpumask_count(&others) && are_used(controller, &others))
		mal_idle_vacate(controller, &others);
}
