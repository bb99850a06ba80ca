/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_wish.h: what the text of --balance-report asks for. All functions are thread safe. */
#pragma once

#include <stdbool.h>

/* What is printed at the end of a step. */
enum mal_report_wish {
	MAL_REPORT_OFF,
	MAL_REPORT_BRIEF, /* the verdict alone */
	MAL_REPORT_FULL,  /* everything: also where a file is named, or nothing was said */
};

/* The words, as the table of settings has them. */
#define MAL_REPORT_WORDS "off|brief|full"

enum mal_report_wish mal_report_wish(const char *text);

/* The word for WISH. */
const char *mal_report_wish_word(enum mal_report_wish wish);

/* Whether TEXT is one of the words, and no file. A file of that name is written as ./brief. */
bool mal_report_wish_is_word(const char *text);

/* The file that TEXT names, or NULL. */
const char *mal_report_wish_file(const char *text);
