/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gomp_only.h: what the user asks of libgomp, and libomp does in another way. */
#pragma once

#include <stdbool.h>

/* Whether libomp can start: the limit of a file's size would end the program. */
bool mal_gomp_may_be_replaced(void);

/*
 * Whether a program for libgomp had better keep it, as the user has set variables of OpenMP of
 * which libomp might make something else.
 */
bool mal_gomp_is_wanted(void);

/*
 * Whether the user asks for more threads than the rank has CPUs at its start. Where threads share a
 * CPU, libgomp's soon sleep at a barrier and libomp's go on asking for a turn, so short regions
 * take libomp two to four times as long (doc/notes/platform.md).
 */
bool mal_gomp_is_crowded(void);
