/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* region.h: before and after each outermost parallel region of the primary thread. */
#ifndef MAL_RANK_REGION_H
#define MAL_RANK_REGION_H

/*
 * A region at code address WHERE starts, for which REQUESTED threads were asked: borrow, choose its team, place it.
 */
void mal_region_begin(const void *where, unsigned int requested);

/* It ends. */
void mal_region_end(const void *where);

#endif
