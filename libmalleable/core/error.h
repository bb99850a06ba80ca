/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* error.h: an error text, made at the point of failure and carried up to whoever can show it. */
#ifndef MAL_CORE_ERROR_H
#define MAL_CORE_ERROR_H

struct mal_error {
	char text[320];
};

/*
 * Store a formatted text in ERR (which may be NULL) and return -1, so that a failing function can say
 * `return mal_fail(err, ...)`. A text that is too long is cut. errno is left as it was.
 */
int mal_fail(struct mal_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, with ": " and the meaning of errno behind the text. */
int mal_fail_errno(struct mal_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
