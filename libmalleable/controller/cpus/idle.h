/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * idle.h: CPUs of the job that its other steps leave idle (grow=job): the ranks have them until a
 * step comes to which Slurm gave them.
 *
 * Policies treat them like all other CPUs. The controller gives them to ranks when it knows these.
 * The plugin decides as root who may have them: it widens and narrows the step's cgroup and tells
 * the controller here (spank/job_cpus.h).
 *
 * Invariant: An idle CPU goes to a rank that has none before the one whose home it is
 * (t/unit/test_idle.c: a_newcomer_has_idle_ones_first).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * Give idle CPUs that are nobody's to ranks: to the one to which Slurm gave it, else to one that
 * can use it, those with fewest first. Where balancing is switched off ranks get back only what
 * Slurm gave them.
 */
void mal_idle_hand_out(struct mal_controller *controller);

/*
 * The CPUs that the ranks may have now, with OWNERS: the idle ones, and those that somebody here
 * owns.
 */
struct mal_cpumask mal_idle_and_owned(const struct mal_controller *controller,
				      const unsigned int *owners);

/*
 * Other CPUs may be used from now on. Those in LIST that are not the job's are passed over. Returns
 * 0, or -1 with ERR: no list.
 */
int mal_idle_offer(struct mal_controller *controller, const char *list, struct mal_error *err);
