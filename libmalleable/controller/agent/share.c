/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* share.c: the step's share of CPUs that other jobs were given too. */
#include "libmalleable/controller/share.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/agent/protocol.h"
#include "libmalleable/base/cpumask.h"
#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/state/watch.h"
#include "libmalleable/core/cpuword.h"

void mal_share_open(struct mal_controller *controller, int fd)
{
	if (fd < 0)
		return;
	controller->agent.connected = true;
	controller->agent.fd = fd;
	mal_watch_channel(fd);
}

/* Ranks leave what is not in the share any more, and get what is new in it. */
static void use(struct mal_controller *controller, const struct mal_cpumask *share)
{
	struct mal_cpumask lost;

	mal_allocation_set_share(controller, share);
	mal_leaving_forget(controller, share);
	lost = mal_allocation_foreign(controller);
	mal_evict_cpus(controller, &lost);
}

/* The agent is gone: all CPUs are the step's again, beside others. */
static void leave(struct mal_controller *controller)
{
	mal_watch_forget(controller->agent.fd);
	close(controller->agent.fd);
	controller->agent.connected = false;
	use(controller, &controller->step->allocation);
}

static void listen_to_agent(struct mal_controller *controller)
{
	struct mal_agent_share message;
	ssize_t got;

	while ((got = recv(controller->agent.fd, &message, sizeof(message),
			   MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		if (got != (ssize_t)sizeof(message))
			continue;
		mal_cpumask_intersect(&message.cpus, &controller->step->allocation);
		if (controller->deciding.binds && mal_cpumask_count(&message.cpus))
			use(controller, &message.cpus);
		controller->agent.number = message.number;
		controller->agent.owed = true;
	}
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		leave(controller);
}

/* Does a rank own or use a CPU of CPUS? */
static bool are_used(const struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	for (unsigned int cpu = 0;
	     (cpu = mal_cpumask_next(cpus, cpu)) < controller->step->segment.cpu_count; cpu++) {
		struct mal_cpu_state state = mal_owner_read(controller, cpu);

		if (state.owner != MAL_NOBODY || state.user != MAL_NOBODY)
			return true;
	}
	return false;
}

/*
 * Others get the CPUs by our answer: not before the kernel says that no thread may run there. An
 * agent that does not take the answer is done with this step, or gone, which the next turn sees.
 */
static void answer(struct mal_controller *controller, const struct mal_cpumask *others)
{
	struct mal_agent_done done = {controller->agent.number};

	if (!controller->agent.owed || !mal_leaving_is_over(controller, others) ||
	    (!controller->off_switch.off_now && are_used(controller, others)))
		return;
	controller->agent.owed =
		send(controller->agent.fd, &done, sizeof(done), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
		(errno == EAGAIN || errno == EINTR);
}

void mal_share_update(struct mal_controller *controller)
{
	struct mal_cpumask others;

	if (controller->agent.connected)
		listen_to_agent(controller);
	if (!controller->agent.connected)
		return;
	others = mal_allocation_foreign(controller);
	if (!controller->off_switch.off_now && are_used(controller, &others))
		mal_evict_cpus(controller, &others);
	answer(controller, &others);
}
