/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evict.h: ranks leave CPUs, whoever takes these, and get others.
 *
 * Invariant: No rank that runs is without a CPU while another has two (t/unit/test_idle.c:
 * rank_without_cpu_gets_one).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * The CPUs in LIST are not idle any more, and nobody owns them from this moment. They are another
 * step's when all threads have left them, as the kernel says of each thread. Returns 0 if all have,
 * or -1 with ERR: LIST is no list, or they need longer: the call waits for some ms; then the CPUs
 * are being left (leaving.h), and mal_evict_settle() goes on. A rank that has no CPU any more gets
 * one of a rank that has several.
 */
int mal_evict_withdraw(struct mal_controller *controller, const char *list, struct mal_error *err);

/*
 * RANK has come. Where others got its CPUs while it was away it gets an idle one, or one of a rank
 * that can do without.
 */
void mal_evict_receive(struct mal_controller *controller, unsigned int rank);

/*
 * Call it in each turn of the loop. A rank that was about to bind its threads when CPUs were taken
 * away may still bind them there, before it sees the change. So this looks every 20 ms for a
 * second, and sends them away again. With a pool it looks once a second without end, as a
 * program may set affinities itself.
 */
void mal_evict_settle(struct mal_controller *controller);

/* Balancing is switched off: ranks leave idle CPUs that Slurm gave to none of them. */
void mal_evict_idle(struct mal_controller *controller);

/*
 * Bind all threads of all ranks again to where they are to run: a write to the cgroup's CPUs has
 * undone it (Linux before 6.2), maybe before the rank was there.
 */
void mal_evict_rebind(struct mal_controller *controller);
