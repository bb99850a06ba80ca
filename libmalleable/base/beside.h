/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * beside.h: a file that somebody named, and others that are written beside it: all in the directory
 * that the path led to once. Whoever can write to a part of the path may exchange it at any time.
 */
#ifndef MAL_BASE_BESIDE_H
#define MAL_BASE_BESIDE_H

#include <stdio.h>

#include "libmalleable/base/error.h"

/*
 * Open the directory of file PATH, in which a file with WHAT is to be written: it has to be the
 * caller's own, as its owner may put anything there. Returns a descriptor to close, or -1 with ERR.
 */
int mal_beside_open(const char *path, const char *what, struct mal_error *err);

/*
 * Open the file that is called as PATH ends, in DIRECTORY, for reading, as mal_input_open() does.
 * AT_FDCWD: nothing is written beside it, PATH is followed.
 */
FILE *mal_beside_input(int directory, const char *path, struct mal_error *err);

/* The same for writing, as mal_output_derive() and mal_output_take(). */
FILE *mal_beside_output(int directory, const char *path, const char *what, struct mal_error *err);

#endif
