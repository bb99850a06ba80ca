/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* books.h: what reports of steps add up to, by user, program, policy or week. */
#ifndef MAL_CMD_BOOKS_H
#define MAL_CMD_BOOKS_H

#include <stdio.h>

#include "libmalleable/base/error.h"

enum mal_books_format { MAL_BOOKS_TABLE, MAL_BOOKS_JSON, MAL_BOOKS_PROMETHEUS };
enum mal_books_by { MAL_BY_USER, MAL_BY_PROGRAM, MAL_BY_POLICY, MAL_BY_WEEK };

/* "user|program|policy|week", in the order of the enumeration. */
extern const char mal_books_words[];

struct mal_books;

/* NULL: out of memory. */
struct mal_books *mal_books_open(enum mal_books_by by);

/* NULL-safe. */
void mal_books_close(struct mal_books *books);

/*
 * Add the report NAME in the open file FD (-1: it could not be opened), which is closed. What is no
 * report, or no regular file, is counted as such. Its owner says whose it is. Returns 0; 1 if it
 * was left out, and -1 if memory is out, both with ERR.
 */
int mal_books_add(struct mal_books *books, const char *name, int fd, struct mal_error *err);

/*
 * Print the sums, those who saved most first: a table, JSON, or what Prometheus' node_exporter
 * reads in its textfile directory (https://prometheus.io/docs/instrumenting/exposition_formats/),
 * where what was saved and what was lost are two sums, as a counter never falls. Returns 0, or -1
 * with ERR.
 */
int mal_books_print(struct mal_books *books, FILE *out, enum mal_books_format format,
		    struct mal_error *err);

#endif
