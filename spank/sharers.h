/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sharers.h: the steps of a job that may use CPUs besides their own: take such CPUs from them, give
 * them more, and tell their controllers.
 *
 * All functions are for root and for the holder of the job's lock (entries.h), and wait within
 * balance_deadline_left(). What they cannot do they say.
 */
#pragma once

#include "spank/entries.h"

/*
 * How long a new step waits for a controller to leave its CPUs; then the kernel takes them away.
 */
#define BALANCE_LEAVE_MS 6

/*
 * Send the controller of ENTRY a REQUEST, about CPUS if not NULL, and wait TIMEOUT_MS at most.
 * Returns whether it answered that it did so.
 */
bool balance_sharer_tell(const struct balance_entry *entry, const char *request,
			 const struct mal_cpumask *cpus, int timeout_ms);

/* Write ENTRY's file. Returns whether that is done. */
bool balance_sharer_write(unsigned int job, const struct balance_entry *entry);

/*
 * Widen the cpuset of ENTRY's step to what ENTRY says. Its file is written before: it never says
 * less than the cpuset has, as nobody would take the rest back. Returns whether that is done.
 */
bool balance_sharer_widen(unsigned int job, const struct balance_cgroup *cgroup,
			  const struct balance_entry *entry);

/* Tell the controllers of steps with pool=job about each other, and which CPUs each may use. */
void balance_sharers_tell_peers(unsigned int job);

/* Make all steps but STEP leave CPUS: first they are asked, then their cpusets are narrowed. */
void balance_sharers_claim(unsigned int job, unsigned int step, const struct balance_cgroup *cgroup,
			   const struct mal_cpumask *cpus);

/*
 * Handle steps whose controller ended before them: nothing tells their threads any more which CPUs
 * they may use. Narrow their cpusets to what Slurm gave them, and make other steps leave those
 * CPUs.
 */
void balance_sharers_forget_ended(unsigned int job, const struct balance_cgroup *cgroup);

/* The step of OWN, with pool=job, may use the CPUs of the others with it: add them to its idle. */
void balance_sharers_add_to(unsigned int job, struct balance_entry *own);

/* And they its. */
void balance_sharers_widen(unsigned int job, const struct balance_cgroup *cgroup,
			   const struct balance_entry *own);
