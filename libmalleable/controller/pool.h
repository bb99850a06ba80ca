/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pool.h: pool=job: CPUs go from one step of the job to another on this node, where the ranks there have more to do on each.
 *
 * The plugin tells the controllers of all such steps about each other, and which CPUs each of them may use at all (spank/pool.h). The
 * first of them that lives asks the others now and then what they have and do, and passes CPUs on, one step
 * leaving them before the next is told. Nothing is remembered from one time to the next: whatever a controller that died has left is
 * found again. A step of which nothing is heard stops it, since its ranks may be on any CPU.
 */
#ifndef MAL_CONTROLLER_POOL_H
#define MAL_CONTROLLER_POOL_H

#include "libmalleable/controller/controller.h"

/*
 * From the plugin: the steps of the pool, in TEXT, as PID:OWN:MAY separated by blanks, OWN what Slurm gave the step, MAY what it may use.
 * Returns 0, or -1 with ERR.
 */
int mal_pool_set(struct mal_controller *controller, const char *text, struct mal_error *err);

/* What this step has and does, for the first of the steps; to be freed. NULL: out of memory. */
char *mal_pool_describe(const struct mal_controller *controller);

/* A window has ended: if this is the first of the steps, and it is time, see who should have what. */
void mal_pool_update(struct mal_controller *controller);

void mal_pool_clear(struct mal_controller *controller);

#endif
