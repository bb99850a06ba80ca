/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * owners.h: which rank owns which CPU of the step, as the segment has it now. In the controller
 * this module alone writes the CPUs' words and targets.
 *
 * Invariant: A CPU that is revoked or given is in no older plan any more (t/unit/test_idle.c:
 * users_leave_a_withdrawn_cpu).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Who owns and who uses CPU, by its own number. */
struct mal_cpu_state mal_owner_read(const struct mal_controller *controller, unsigned int cpu);

/* The rank to which CPU is to go, by its own number; the number of ranks if it stays. */
unsigned int mal_owner_next(const struct mal_controller *controller, unsigned int cpu);

/*
 * Fill OWNERS, for each CPU of the step, with the rank that owns it now; no rank: a number that
 * none has.
 */
void mal_read_owners(const struct mal_controller *controller, unsigned int *owners);

/* Begin WINDOW: the time, and who owns which CPU. */
void mal_window_begin(const struct mal_controller *controller, struct mal_window *window);

/* WINDOW is one of OWNERS, by CPU of the step, who had the CPUs for most of it. */
void mal_window_set_owners(const struct mal_controller *controller, struct mal_window *window,
			   const unsigned int *owners);

/* The running rank to which Slurm gave CPU; the number of ranks if there is none. */
unsigned int mal_home_of(const struct mal_controller *controller, unsigned int cpu);

/* Fill COUNTS, by rank, with the CPUs that each owns now. */
void mal_count_owned(const struct mal_controller *controller, uint16_t *counts);

/*
 * The rank, also one that has ended, that has most more of CPUS, by rank, than at its start; the
 * number of ranks if none has more.
 */
unsigned int mal_find_receiver(const struct mal_controller *controller, const unsigned int *cpus);

/* RANK is to look at its CPUs again. */
void mal_notify_cpus_changed(const struct mal_controller *controller, unsigned int rank);

/* CPU is RANK's from now on, who has to take it. False: somebody has it. */
bool mal_owner_give(struct mal_controller *controller, unsigned int cpu, unsigned int rank);

/* CPU, which was revoked just now, is RANK's, who uses it at once. */
void mal_owner_set(struct mal_controller *controller, unsigned int cpu, unsigned int rank);

/* CPU is nobody's from now on. Returns whose it was. */
struct mal_cpu_state mal_owner_revoke(struct mal_controller *controller, unsigned int cpu);

/* The ranks are to pass CPUs on until they are OWNERS', by CPU of the step. */
void mal_owners_plan(struct mal_controller *controller, const unsigned int *owners);

/*
 * What RANK, which died, used or had lent is free, and what it was about to do is undone. Returns
 * whether a CPU was taken from a rank that waits.
 */
bool mal_owners_recover(struct mal_controller *controller, unsigned int rank);
