/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* printable.h: texts of others, made harmless for terminals and logs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Replace what is not printable ASCII in the LENGTH bytes of TEXT by question marks: it could move
 * a terminal's cursor, or end a line so that the rest looks like one of ours. KEEP_LINES: line ends
 * stay.
 */
void mal_make_printable(char *text, size_t length, bool keep_lines);

/*
 * Print a line to OUT, made printable: with names of files and the like in it. Returns 0, or -1 if
 * it could not be, as where memory is out.
 */
int mal_print_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
