/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * leaving.h: CPUs that the ranks had to leave. Nobody else may have them before the kernel says
 * that no thread of the ranks may run there.
 *
 * Time proves nothing here: a rank may read its words before they change and bind a thread long
 * after. So two questions are asked, in this order: is any rank binding threads
 * (mal_rank_slot.binding), and what is the affinity of each thread, idle ones included?
 *
 * Invariant: No CPU counts as left while a rank is binding threads (t/unit/test_recover.c:
 * leaves_when_nobody_binds).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * Call FUNCTION with the threads of RANK's process, one after the other. Returns false where the
 * kernel did not show all of them.
 */
bool mal_leaving_each_thread(const struct mal_controller *controller, unsigned int rank,
			     void (*function)(int32_t tid, const struct mal_cpumask *now,
					      void *context),
			     void *context);

/*
 * CPUS were taken from the ranks and are nobody's: from now on they are being left. Returns whether
 * that is new for one of them.
 */
bool mal_leaving_begin(struct mal_controller *controller, const struct mal_cpumask *cpus);

/* CPUS are the ranks' own again. */
void mal_leaving_forget(struct mal_controller *controller, const struct mal_cpumask *cpus);

/* Ask the kernel: those that no thread may run on have been left. */
void mal_leaving_update(struct mal_controller *controller);

/* Going by the last update: have all of CPUS been left? */
bool mal_leaving_is_over(const struct mal_controller *controller, const struct mal_cpumask *cpus);

/*
 * The time for it is over: the report names those that are left over, as the program binds threads
 * there itself.
 */
void mal_leaving_give_up(struct mal_controller *controller);
