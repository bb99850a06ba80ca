/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * assignment.h: which CPUs ranks get, as an assignment problem: the cheapest of all moves that lead to the wanted numbers.
 *
 * CPUs of an L3 group are alike, but for cores: where one of several is given away it is one whose core the taker has. A CPU costs its rank nothing in an L3 group where the rank is, on a NUMA node where it is at home
 * (it has half as many CPUs there as anywhere); a little elsewhere on that node, more on its package, most beyond; and each CPU that
 * changes hands costs. The
 * cheapest answer may be a chain: a rank gets a near CPU of a neighbour, who gets one of the rank that has too many. It is found
 * exactly, by cheapest augmenting paths and cancelling of negative cycles (Ahuja, Magnanti, Orlin: Network Flows, 1993, sect. 9.6 and 9.7),
 * as long as the node is not too large.
 */
#ifndef MAL_POLICIES_ASSIGNMENT_H
#define MAL_POLICIES_ASSIGNMENT_H

#include "policies/layout.h"

/*
 * Fill plan->owner, which has the present owners as LAYOUT has, from plan->count; LAYOUT follows. Returns true; or false, with nothing changed: too
 * many ranks and groups to be exact in bounded time (some 0.5 ms), or no memory.
 */
bool mal_assign(const struct mal_view *view, struct mal_layout *layout, struct mal_plan *plan);

#endif
