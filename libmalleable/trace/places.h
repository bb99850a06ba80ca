/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* places.h: which CPUs share a core, an L3, a NUMA node, a package (hwloc). */
#pragma once

#include "libmalleable/base/error.h"

/*
 * Fill CORE (may be NULL), L3, NUMA and PACKAGE for the COUNT CPUs whose numbers are in CPU.
 * SYNTHETIC is a description as for lstopo --input (hwloc, "Synthetic topologies"), NULL: this
 * machine. Entries of CPUs that hwloc does not know are left alone. Returns how many CPUs there are
 * in all, or -1 with ERR. Takes about 10 ms.
 */
int mal_places_read(const char *synthetic, const unsigned int *cpu, unsigned int count,
		    unsigned int *core, unsigned int *l3, unsigned int *numa, unsigned int *package,
		    struct mal_error *err);
