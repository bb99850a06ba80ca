/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* input.h: files of others, which may change while they are read. All functions are thread safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libmalleable/base/error.h"

/*
 * Open NAME in DIRECTORY (AT_FDCWD: the current one) for reading, with more FLAGS of open(2), if it
 * is a regular file. Nothing else is opened: who has a pipe may make others wait for ever who open
 * it, as core/script.h says. Returns a descriptor, or -1 with errno, EINVAL: it is another kind.
 */
int mal_input_descriptor(int directory, const char *name, int flags);

/*
 * Open NAME in DIRECTORY (AT_FDCWD: the current one), called PATH in errors, for reading. Takes
 * regular files only: a pipe or a device may have no end. Returns NULL with ERR on failure.
 */
FILE *mal_input_open(int directory, const char *name, const char *path, struct mal_error *err);

/*
 * The bytes of regular file FD, a 0 behind them, for the caller to free, and their number in *SIZE:
 * at least one, and MAX at most. They are a copy: a mapping of a file that gets shorter ends those
 * who look at it. Returns NULL with ERR on failure.
 */
uint8_t *mal_input_read(int fd, size_t max, size_t *size, struct mal_error *err);

/*
 * Read the file PATH, as /proc has them, into TEXT, cut at SIZE bytes; empty: it cannot be read.
 * Safe in a child of vfork(2).
 */
void mal_input_text(const char *path, char *text, size_t size);

/*
 * How many objects and arrays are in JSON text, or more where strings have brackets. Two bytes of
 * text are a hundred times as many in a parser's memory.
 */
size_t mal_input_parts(const char *text, size_t length);
