/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ranks.h: which ranks come, end and die.
 *
 * Invariant: What a rank was about to do when it died is undone before its CPUs are free
 * (t/unit/test_recover.c: killed_while_it_evicts).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * Notice new, ended and dead ranks. What a dead one used or had lent is free, and what it was about
 * to do is undone. Returns true if any rank came or runs no more.
 */
bool mal_ranks_update(struct mal_controller *controller);
