/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cores.h: virtual cores: cgroups that share the real CPUs in equal, always used parts.
 *
 * Each virtual core is a `cpu` cgroup on one real CPU. All of them have the same weight and are always busy: where the
 * program leaves a core idle, a thread of the node burns its part (SCHED_IDLE, so that any thread of the program on that core goes
 * first). So each gets the same, exact part of its real CPU, whatever the others do. A bandwidth quota does not do
 * that: on Linux 6.18 with a 4 ms tick a thread under 2000 of 10000 us gets 22 to 28 % instead of 20 %. A
 * SCHED_FIFO ticker makes turns of half a millisecond out of the scheduler's 4 ms.
 */
#ifndef VNODE_CORES_H
#define VNODE_CORES_H

#include "table.h"

struct vnode_cores;

/*
 * Makes CORES virtual cores on the real CPUs that this process may use, each 1/SLOTS of one; SLOTS 0: as large as
 * possible. Fills TABLE's cores, real, tasks and cpu_time_scale (measured: takes 0.3 s). Returns NULL with a message printed.
 */
struct vnode_cores *vnode_cores_create(struct vnode_table *table, unsigned int cores, unsigned int slots);

/* Moves threads that may use several cores from crowded cores to empty ones, as a kernel's load balancer does. */
void vnode_cores_balance(struct vnode_cores *cores);

/* Ends every process left on the cores, and removes the cgroups. NULL-safe. */
void vnode_cores_destroy(struct vnode_cores *cores);

#endif
