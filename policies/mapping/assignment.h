/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * assignment.h: choose CPUs for ranks at least cost, as an assignment problem.
 *
 * CPUs of an L3 group are equal, except that a rank prefers CPUs whose core it already has. A CPU
 * costs its rank nothing in an L3 group where the rank already is, on a NUMA node where it is at
 * home (it has half as many CPUs there as anywhere). It costs a little elsewhere on that node, more
 * elsewhere on the package, and most beyond. Each CPU that changes hands costs too.
 *
 * The cheapest answer may be a chain: a rank gets a near CPU of a neighbour, which gets one of the
 * rank that has too many. Cheapest augmenting paths and cancelling of negative cycles find it
 * exactly (Ahuja, Magnanti, Orlin: Network Flows, 1993, sect. 9.6 and 9.7), unless the node is too
 * large.
 */
#ifndef MAL_POLICIES_MAPPING_ASSIGNMENT_H
#define MAL_POLICIES_MAPPING_ASSIGNMENT_H

#include "policies/mapping/layout.h"

/*
 * Fill plan->owner from plan->count. plan->owner and LAYOUT start with the present owners; LAYOUT
 * is kept up to date. Returns false, with nothing changed, if there are too many ranks and groups
 * to be exact in bounded time (some 0.5 ms), or no memory.
 */
bool mal_assign(const struct mal_view *view, struct mal_layout *layout, struct mal_plan *plan);

#endif
