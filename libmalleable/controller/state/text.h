/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.h: lines one after the other in a buffer; one that does not fit is left out. */
#ifndef MAL_CONTROLLER_STATE_TEXT_H
#define MAL_CONTROLLER_STATE_TEXT_H

#include <stddef.h>

struct mal_text {
	char *at;
	size_t left;
	size_t length;
};

/* Append, as printf does. */
void mal_text_add(struct mal_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
