/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lines.h: source lines of a program's code, from its debug information (DWARF 5, ch. 6.2), by
 * libdw.
 *
 * For files that the caller's user named, never as root: libdw parses what is in them. For one
 * thread. Fails without it: t/t0011-inspect.t, "with its source line".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mal_lines;

/*
 * Those of an ELF file of SIZE BYTES, which stay the caller's and unchanged until
 * mal_lines_close(). NULL: it has none, or this is a build without libdw. All of these take NULL.
 * From UNTIL_NS of mal_now_ns() on no line is known: a file may be made such that it takes long.
 */
struct mal_lines *mal_lines_open(const uint8_t *bytes, size_t size, uint64_t until_ns);

/* "FILE:LINE" of the code at ADDRESS, as in the file; empty where it is not known. Returns TEXT. */
const char *mal_lines_find(struct mal_lines *lines, uint64_t address, char *text, size_t size);

void mal_lines_close(struct mal_lines *lines);
