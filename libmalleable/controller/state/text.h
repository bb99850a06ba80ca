/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.h: lines one after the other in a buffer; one that does not fit is left out. */
#ifndef MAL_CONTROLLER_STATE_TEXT_H
#define MAL_CONTROLLER_STATE_TEXT_H

#include <stddef.h>

struct mal_text {
	char *at;      /* where the next line goes */
	size_t left;   /* bytes from there on */
	size_t length; /* of what was added, without a terminating null */
};

/* Append, as printf does; nothing if it does not fit. */
void mal_text_add(struct mal_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
