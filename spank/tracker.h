/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracker.h: the cgroup by which Slurm tracks the processes of a step, to signal, freeze and kill
 * them.
 *
 * slurmstepd is not in it: its child would outlive the step, and a cancelled job. With
 * proctrack/cgroup it is under v1 .../uid_U/JOB/step_S of the freezer (proctrack_cgroup.c; 22.05
 * to 26.05), under v2 .../JOB/step_S/user/task_special (cgroup_v2.c). core/job_path.h has the
 * names of JOB.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/base/error.h"

/*
 * In slurmstepd, as root: open cgroup.procs of step STEP for writing. Returns the descriptor; -1 if
 * Slurm tracks processes in another way; -2 with ERR if it cannot be opened.
 */
int balance_tracker_open(uint32_t step, struct mal_error *err);

/*
 * Whether the step is a component of a heterogeneous one (step_0+1). Slurm tells each component
 * that it has one node.
 */
bool balance_tracker_is_component(uint32_t step);
