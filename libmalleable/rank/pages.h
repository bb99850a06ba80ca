/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pages.h: on which NUMA nodes the rank's memory is (pages=yes; mal_lanes in core/segment.h). */
#pragma once

#include <stdint.h>

struct mal_rank;

/* Look at the next sample, whenever the last look was. */
void mal_pages_look_next(struct mal_rank *rank);

/*
 * Look, where that is wanted and the last look is a while ago at NOW, a tick. Primary thread, where
 * no floating-point state is to be kept.
 */
void mal_pages_sample(struct mal_rank *rank, uint64_t now);
