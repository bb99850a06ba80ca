/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * html.h: a page of HTML that needs nothing beside itself: no network, no script.
 *
 * Errors of writing stay with the file, as those of fprintf do.
 */
#ifndef MAL_CMD_HTML_H
#define MAL_CMD_HTML_H

#include <stdio.h>

/* Steps of the scale of colours, from dark to bright: classes c0, c1 and so on. */
#define MAL_HTML_COLOURS 10

void mal_html_begin(FILE *out, const char *title);
void mal_html_end(FILE *out);

/* TEXT as text, whatever is in it. */
void mal_html_text(FILE *out, const char *text);

#endif
