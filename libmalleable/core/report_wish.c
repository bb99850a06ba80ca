/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_wish.c: what the text of --balance-report asks for.
 *
 * Invariant: a word is a word, and all else is a file (t/unit/test_settings.c: words_of_reports;
 * t/t1001-options.t).
 */
#include "libmalleable/core/report_wish.h"

#include <stddef.h>
#include <string.h>

enum mal_report_wish mal_report_wish(const char *text)
{
	if (strcmp(text, "off") == 0)
		return MAL_REPORT_OFF;
	return strcmp(text, "brief") == 0 ? MAL_REPORT_BRIEF : MAL_REPORT_FULL;
}

const char *mal_report_wish_word(enum mal_report_wish wish)
{
	return wish == MAL_REPORT_OFF ? "off" : wish == MAL_REPORT_BRIEF ? "brief" : "full";
}

bool mal_report_wish_is_word(const char *text)
{
	return mal_report_wish(text) != MAL_REPORT_FULL || strcmp(text, "full") == 0;
}

const char *mal_report_wish_file(const char *text)
{
	return *text && !mal_report_wish_is_word(text) ? text : NULL;
}
