/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slurmctld_client.h: ask slurmctld about jobs, through malleable-slurm (slurmctld_query.c). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * In slurmstepd, as root, in the step's cgroup (user_init): apply the settings of plugstack.conf
 * for the partition of JOB. slurmctld names the partition, not the job's environment, which the
 * user can set. Asks only if there are settings for partitions, and once while the job's cgroup
 * exists, which keeps the answer. If slurmctld does not answer in time only settings for all
 * partitions apply, which is logged. Returns false if partitions have limits then: who keeps
 * slurmctld busy must not escape them.
 */
bool balance_slurmctld_use_partition(uint32_t job);
