/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * allocation.h: the CPUs of the allocation: which of them the ranks may have now, and their places.
 *
 * Invariant: No CPU outside of the allocation is idle (t/unit/test_idle.c:
 * offers_beyond_the_job_are_passed_over).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* The CPUs in LIST that are of the allocation. Returns 0, or -1 with ERR: no list. */
int mal_allocation_parse(const struct mal_controller *controller, const char *list,
			 struct mal_cpumask *mask, struct mal_error *err);

/* CPUS of the allocation are idle from now on, or are so no more. */
void mal_allocation_add_idle(struct mal_controller *controller, const struct mal_cpumask *cpus);
void mal_allocation_drop_idle(struct mal_controller *controller, const struct mal_cpumask *cpus);

/*
 * Read which CPUs share an L3, a NUMA node, a package (hwloc), and write it into the segment for
 * the ranks. Takes some 10 ms, so it is done when first needed and not for steps that end at once.
 * If hwloc cannot tell, all CPUs count as neighbours.
 */
void mal_allocation_read_places(struct mal_controller *controller);

/* The same for policies; it points into the allocation. */
struct mal_topology mal_allocation_topology(const struct mal_controller *controller);
