/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* output.h: files that a step writes. */
#pragma once

#include <stdio.h>

#include "libmalleable/base/error.h"

/*
 * Write to FD, which mal_output_named() or the like opened as PATH, or is -1 with errno: that is
 * the error. WHAT is the content: "report" or "trace". Takes devices, and files that begin as one
 * of WHAT, which are emptied, or are empty; no pipe, which would block the caller if nobody reads
 * it. Returns a file to close with mal_output_close(), or NULL with ERR; FD is closed then.
 */
FILE *mal_output_take(int fd, const char *path, const char *what, struct mal_error *err);

/*
 * Open PATH, which the caller's user named, for that (mal_path_open()), for reading too if the user
 * may. Returns -1 with errno.
 */
int mal_output_named(const char *path);

/*
 * Open PATH for reading and writing, where nobody named it but us: somebody may have put something
 * else there. What exists is taken if it is a file of the caller's own and no link, and it is not
 * emptied. Returns a descriptor, or -1 with ERR.
 */
int mal_output_derive(const char *path, const char *what, struct mal_error *err);

/*
 * Create a file in a directory that others may write to: follows no link, and opens no existing
 * file. If PATH exists, PATH.1 to PATH.9 are tried. Returns a descriptor for writing, or -1 with
 * ERR.
 */
int mal_output_create(const char *path, struct mal_error *err);

/* Close FILE. Returns 0, or -1 with ERR if something could not be written to PATH. */
int mal_output_close(FILE *file, const char *path, const char *what, struct mal_error *err);
