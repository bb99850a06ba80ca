/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * error.h: an error text, written at the point of failure and passed up to a caller that can show
 * it.
 */
#pragma once

struct mal_error {
	char text[320];
};

/* What a noun ends in behind COUNT. */
static inline const char *mal_plural(unsigned long long count)
{
	return count == 1 ? "" : "s";
}

/*
 * Store a formatted text in ERR (may be NULL), made printable and cut if too long, and return -1,
 * so that a failing function can `return mal_fail(err, ...)`. Keeps errno. Thread safe.
 */
int mal_fail(struct mal_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, with ": " and the text of errno appended. */
#define mal_fail_errno(err, format, ...) mal_fail(err, format ": %m", ##__VA_ARGS__)
