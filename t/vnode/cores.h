/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cores.h: virtual cores: cgroups that share the real CPUs in equal parts that are always used.
 *
 * Each virtual core is a `cpu` cgroup on one real CPU, and always busy: while the program leaves a
 * core idle, a thread of the node burns its part (SCHED_IDLE, so that the program's threads on that
 * core go first). A SCHED_FIFO ticker on each real CPU gives the cores their turns of half a
 * millisecond by weight. So each gets the same, exact part of its real CPU, whatever the others do,
 * and the first cores of all real CPUs have their turn at the same time, as the second ones have
 * (gang scheduling, Ousterhout 1982): threads of a team on them run together, as on a real node. A
 * bandwidth quota would not do: on Linux 6.18 with a 4 ms tick a thread limited to 2000 of 10000 us
 * gets 22 to 28 %, not 20 %.
 */
#ifndef VNODE_CORES_H
#define VNODE_CORES_H

#include "table.h"

struct vnode_cores;

/*
 * Create CORES virtual cores on the real CPUs that this process may use, each 1/SLOTS of one; SLOTS
 * 0: as large as possible. Fills TABLE's cores, real, tasks and cpu_time_scale (measured, 0.3 s).
 * On failure prints a message and returns NULL.
 */
struct vnode_cores *vnode_cores_create(struct vnode_table *table, unsigned int cores,
				       unsigned int slots);

/*
 * Move threads that may use several cores from crowded cores to empty ones, like a kernel's load
 * balancer.
 */
void vnode_cores_balance(struct vnode_cores *cores);

/* End every process left on the cores, and remove the cgroups. CORES may be NULL. */
void vnode_cores_destroy(struct vnode_cores *cores);

#endif
