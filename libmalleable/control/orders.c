/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orders.c: the text of malleable_control_set_many() as a request. */
#include "libmalleable/control/orders.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/number.h"

struct words {
	char *text;
	size_t used, size;
};

static bool add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns false if there is no room. */
static bool add(struct words *words, const char *format, ...)
{
	size_t room = words->size - words->used;
	va_list args;
	int used;

	va_start(args, format);
	used = vsnprintf(words->text + words->used, room, format, args);
	va_end(args);
	if (used < 0 || (size_t)used >= room)
		return false;
	words->used += (size_t)used;
	return true;
}

/* The length of the word at TEXT, in a line. */
static size_t length_of(const char *text)
{
	return strcspn(text, " \t\r\n");
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t\r");
}

/* The order in the line at TEXT. Returns false if it is none. */
static bool read_order(struct words *words, const char *text)
{
	char number[16];
	unsigned int rank;

	snprintf(number, sizeof(number), "%.*s", (int)length_of(text), text);
	if (!add(words, words->used ? " ; " : ""))
		return false;
	if (strcmp(number, "all") != 0 &&
	    (!mal_number_parse(number, 0, INT_MAX, &rank) || !add(words, "rank=%u ", rank)))
		return false;
	text = skip_blanks(text + length_of(text));
	if (!length_of(text))
		return false;
	for (; length_of(text); text = skip_blanks(text + length_of(text))) {
		if (strncmp(text, "--", 2) == 0)
			text += 2;
		if (!isalpha((unsigned char)*text) ||
		    !add(words, "%.*s ", (int)length_of(text), text))
			return false;
	}
	return true;
}

int mal_orders_read(const char *text, char *buffer, size_t size, struct mal_error *err)
{
	struct words words = {buffer, 0, size};

	for (unsigned int line = 1; *text; line++) {
		const char *first = skip_blanks(text);

		if (*first != '#' && length_of(first) && !read_order(&words, first))
			return mal_fail(err,
					"line %u: needs a rank and options, such as 3 count=2; or "
					"there is no room for all",
					line);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return words.used ? 0 : mal_fail(err, "there are no orders");
}
