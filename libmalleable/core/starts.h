/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starts.h: whether each program of a balanced step loaded our library, and none of them hid its
 * MPI from us. Where that is so, and no rank connected, there was nothing to balance.
 *
 * Counted in the segment's header by each process that knows of it: programs that are started, that
 * load our library, and that end in order or are replaced by another one. A program that executes
 * another one behind our back, or that is not of our C library, leaves the counts unequal.
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/core/absent.h"
#include "libmalleable/core/segment.h"

enum mal_start { MAL_START_BEGUN, MAL_START_LOADED, MAL_START_ENDED, MAL_START_HID_MPI };

/* In a program of the step that the environment names, if any, before the rest. Keeps errno. */
void mal_starts_open(void);

/* Add BY to a count of that step. Keeps errno; safe in a child of vfork(2). */
void mal_starts_count(enum mal_start what, int by);

/* This program misses a library. */
void mal_starts_miss(enum mal_absent library);

/* Count a program that begins: a task of the step whose segment is descriptor FD. */
void mal_starts_begin(int fd);

/* Whether no rank connected since no program of the step used MPI or OpenMP, as far as is known. */
bool mal_starts_are_whole(const struct mal_header *header);
