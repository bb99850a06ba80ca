/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * idle.h: CPUs of the job that its other steps leave idle (grow=job): they are the ranks' until a step comes that Slurm gave them to.
 *
 * To the policies they are CPUs as all others. They are given to ranks when these are known; who may have them
 * is decided by the plugin as root, which widens and narrows the step's cgroup and tells the controller here (spank/pool.h).
 */
#ifndef MAL_CONTROLLER_IDLE_H
#define MAL_CONTROLLER_IDLE_H

#include "libmalleable/controller/controller.h"

/*
 * Give idle CPUs that are nobody's to ranks: to the one to which Slurm gave it, else to one that can use it, those with fewest first.
 * Where balancing is switched off ranks get back only what Slurm gave them.
 */
void mal_idle_share_out(struct mal_controller *controller);

/* The CPUs that the ranks may have now, with OWNERS: the idle ones, and those that somebody here owns. */
struct mal_cpumask mal_idle_and_owned(const struct mal_controller *controller, const unsigned int *owners);

/* Other CPUs may be used from now on. Those in LIST that are not the job's are passed over. Returns 0, or -1 with ERR: no list. */
int mal_idle_offer(struct mal_controller *controller, const char *list, struct mal_error *err);

/*
 * The CPUs in LIST are another step's from this moment: their users' threads go elsewhere before this returns. A rank that is left
 * without gets one of a rank that has several. The same returns.
 */
int mal_idle_withdraw(struct mal_controller *controller, const char *list, struct mal_error *err);

/* Ranks that own or use CPUS leave them at once, as above; whose they are then is for others to say. */
void mal_idle_vacate(struct mal_controller *controller, const struct mal_cpumask *cpus);

/*
 * After CPUs were taken away: a rank that was about to bind its threads by what it had does it once more, before it sees the change. Looks for a
 * second, every 20 ms, and sends them away again; with a pool, or a share of CPUs, once a second without end, as a program may set
 * affinities itself. Call it in each turn of the loop.
 */
void mal_idle_settle(struct mal_controller *controller);

/* Balancing is switched off: ranks leave idle CPUs that Slurm gave to none of them. */
void mal_idle_leave(struct mal_controller *controller);

/*
 * Bind all threads of all ranks again to where they are to run: a write to the cgroup's CPUs has undone it (Linux before 6.2), maybe
 * before the rank was there.
 */
void mal_idle_rebind(struct mal_controller *controller);

#endif
