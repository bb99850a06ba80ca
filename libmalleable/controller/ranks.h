/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ranks.h: which ranks come, end and die. */
#ifndef MAL_CONTROLLER_RANKS_H
#define MAL_CONTROLLER_RANKS_H

#include "libmalleable/controller/state/controller.h"

/*
 * Notice new, ended and dead ranks. What a dead one used or had lent is free, and what it was about
 * to do is undone. Returns true if any rank came or runs no more.
 */
bool mal_ranks_update(struct mal_controller *controller);

#endif
