/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* topology.h: which CPUs of the step share an L3, a NUMA node, a package (hwloc). */
#ifndef MAL_CONTROLLER_STATE_TOPOLOGY_H
#define MAL_CONTROLLER_STATE_TOPOLOGY_H

#include "libmalleable/controller/state/controller.h"

/* Nothing is known of them yet. NULL: out of memory. */
struct mal_places *mal_topology_create(void);

/* NULL-safe. */
void mal_topology_destroy(struct mal_places *places);

/*
 * Fill the controller's places and, for the ranks, that of the segment. Takes some 10 ms, so it is
 * done when first needed and not for steps that end at once. If hwloc cannot tell, all CPUs count
 * as neighbours.
 */
void mal_topology_read(struct mal_controller *controller);

/* The same for policies; it points into the places. */
struct mal_topology mal_topology_view(const struct mal_controller *controller);

#endif
