/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* phase.h: where a phase ends: samples go up and plans are carried out there. Primary thread only. */
#ifndef MAL_RANK_PHASE_H
#define MAL_RANK_PHASE_H

#include "libmalleable/core/segment.h"

/* The program reached a boundary of KIND. Weaker kinds are ignored once a stronger one was seen. */
void mal_phase_boundary(enum mal_boundary_kind kind);

/* A region at WHERE ended: it may complete the rank's own repeating sequence. */
void mal_phase_region(const void *where);

#endif
