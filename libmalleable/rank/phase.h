/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* phase.h: where a phase ends: samples go up and plans are carried out there. Primary thread only. */
#ifndef MAL_RANK_PHASE_H
#define MAL_RANK_PHASE_H

#include "libmalleable/core/segment.h"

/* The program reached a boundary of KIND. Weaker kinds are ignored once a stronger one was seen. */
void mal_phase_boundary(enum mal_boundary_kind kind);

/*
 * Carry out a plan that has come, outside any region: gives CPUs away, takes those that came. At boundaries, and between them
 * where the team is free anyway, so that a plan need not wait for the phase's end.
 */
void mal_phase_follow_plan(void);

/* A region at WHERE ended: it may complete the rank's own repeating sequence. */
void mal_phase_region(const void *where);

#endif
