/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sharers.c: the steps of a job that may use CPUs besides their own.
 *
 * Invariant: no controller is waited for beyond its few milliseconds (t/unit/test_job_cpus.c:
 * waits_are_short).
 */
#include "spank/sharers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/channel.h"
#include "spank/deadline.h"
#include "spank/plugin.h"

bool balance_sharer_tell(const struct balance_entry *entry, const char *request,
			 const struct mal_cpumask *cpus, int timeout_ms)
{
	char text[MAL_CHANNEL_REQUEST - 1], list[MAL_CPUMASK_TEXT] = "", path[MAL_SOCKET_PATH];

	if (!entry->socket[0])
		return false;
	if (cpus)
		mal_cpumask_format(cpus, list, sizeof(list));
	snprintf(path, sizeof(path), MAL_SOCKET_DIR "/%s", entry->socket);
	snprintf(text, sizeof(text), "%s%s%s", request, cpus ? " " : "", list);
	return mal_channel_tell(path, text, balance_deadline_left(timeout_ms));
}

/* Whether a controller looks after the step's further CPUs, or will. */
static bool is_looked_after(const struct balance_entry *entry)
{
	char path[MAL_SOCKET_PATH];

	if (!entry->socket[0])
		return kill(entry->pid, 0) == 0 || errno != ESRCH;
	snprintf(path, sizeof(path), MAL_SOCKET_DIR "/%s", entry->socket);
	return mal_channel_is_open(path);
}

bool balance_sharer_write(unsigned int job, const struct balance_entry *entry)
{
	struct mal_error err;

	if (balance_entry_write(job, entry, &err) == 0)
		return true;
	balance_error("%s", err.text);
	return false;
}

/* ENTRY says what the kernel does of its step, which kept CPUs. */
static void read_back(const struct balance_cgroup *cgroup, struct balance_entry *entry)
{
	struct mal_cpumask now;

	if (balance_cgroup_read(cgroup, entry->step, &now, NULL) < 0)
		return;
	mal_cpumask_drop(&now, &entry->own);
	entry->idle = now;
}

/* Set the cpuset of ENTRY's step as the entry says. Returns 0, or -1: that failed. */
static int apply(unsigned int job, const struct balance_cgroup *cgroup,
		 const struct balance_entry *entry)
{
	struct mal_cpumask cpus = entry->own;
	struct mal_error err;
	int result;

	mal_cpumask_union(&cpus, &entry->idle);
	result = balance_cgroup_write(cgroup, entry->step, &cpus, &err);
	if (result < 0)
		balance_error("step %u.%u: %s", job, entry->step, err.text);
	balance_sharer_tell(entry, "rebind", NULL, BALANCE_LEAVE_MS);
	return result;
}

/* The other way round than balance_sharer_widen(), for the same reason. */
static void narrow(unsigned int job, const struct balance_cgroup *cgroup,
		   struct balance_entry *entry)
{
	if (apply(job, cgroup, entry) < 0)
		read_back(cgroup, entry);
	balance_sharer_write(job, entry);
}

bool balance_sharer_widen(unsigned int job, const struct balance_cgroup *cgroup,
			  const struct balance_entry *entry)
{
	if (!balance_sharer_write(job, entry))
		return false;
	apply(job, cgroup, entry);
	return true;
}

void balance_sharers_tell_peers(unsigned int job)
{
	char text[MAL_CHANNEL_REQUEST - 1] = "peers", own[MAL_CPUMASK_TEXT], may[MAL_CPUMASK_TEXT];
	struct balance_entry entry;
	unsigned int next = 0;
	size_t used = strlen(text);

	while (used < sizeof(text) && balance_entry_next(job, &next, &entry)) {
		struct mal_cpumask all = entry.own;

		mal_cpumask_union(&all, &entry.idle);
		if (entry.pooled && entry.socket[0])
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %s:%s:%s",
						 entry.socket,
						 mal_cpumask_format(&entry.own, own, sizeof(own)),
						 mal_cpumask_format(&all, may, sizeof(may)));
	}
	if (used >= sizeof(text)) {
		balance_error("pool=job: too many steps in job %u", job);
		return;
	}
	for (next = 0; balance_entry_next(job, &next, &entry);)
		if (entry.pooled)
			balance_sharer_tell(&entry, text, NULL, BALANCE_LEAVE_MS);
}

void balance_sharers_claim(unsigned int job, unsigned int step, const struct balance_cgroup *cgroup,
			   const struct mal_cpumask *cpus)
{
	struct balance_entry entry;
	unsigned int next = 0;
	bool pooled = false;

	while (balance_entry_next(job, &next, &entry)) {
		struct mal_cpumask taken = entry.idle;

		mal_cpumask_intersect(&taken, cpus);
		if (entry.step == step || !mal_cpumask_count(&taken))
			continue;
		pooled |= entry.pooled != 0;
		balance_sharer_tell(&entry, "withdraw", &taken, BALANCE_LEAVE_MS);
		mal_cpumask_drop(&entry.idle, &taken);
		narrow(job, cgroup, &entry);
	}
	if (pooled)
		balance_sharers_tell_peers(job);
}

void balance_sharers_forget_ended(unsigned int job, const struct balance_cgroup *cgroup)
{
	struct balance_entry entry;
	unsigned int next = 0;

	while (balance_deadline_left(1) && balance_entry_next(job, &next, &entry)) {
		struct mal_cpumask now;

		if (is_looked_after(&entry))
			continue;
		if (balance_cgroup_read(cgroup, entry.step, &now, NULL) == 0) {
			bool done = balance_cgroup_write(cgroup, entry.step, &entry.own, NULL) == 0;

			balance_sharers_claim(job, entry.step, cgroup, &entry.own);
			/* The next to look tries again. */
			if (!done) {
				read_back(cgroup, &entry);
				balance_entry_write(job, &entry, NULL);
				continue;
			}
		}
		balance_entry_remove(job, entry.step);
	}
}

void balance_sharers_add_to(unsigned int job, struct balance_entry *own)
{
	struct balance_entry entry;
	unsigned int next = 0;

	while (balance_entry_next(job, &next, &entry))
		if (entry.pooled && entry.step != own->step)
			mal_cpumask_union(&own->idle, &entry.own);
}

void balance_sharers_widen(unsigned int job, const struct balance_cgroup *cgroup,
			   const struct balance_entry *own)
{
	struct balance_entry entry;
	unsigned int next = 0;

	while (balance_entry_next(job, &next, &entry)) {
		if (!entry.pooled || entry.step == own->step)
			continue;
		mal_cpumask_union(&entry.idle, &own->own);
		balance_sharer_widen(job, cgroup, &entry);
	}
}
