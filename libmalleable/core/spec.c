/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spec.c: parse the text of --balance.
 *
 * Invariant: what is wrong is named (t/unit/test_core.c: bad_specs_say_why; t/t1001-options.t).
 */
#include "libmalleable/core/spec.h"

#include <ctype.h>
#include <string.h>

/* Copy the LENGTH bytes at FROM into WORD, which names a WHAT in error texts. */
static int copy_word(char *word, const char *from, size_t length, const char *what,
		     struct mal_error *err)
{
	if (length == 0)
		return mal_fail(err, "a %s is empty", what);
	if (length >= MAL_SPEC_WORD)
		return mal_fail(err, "'%.*s...' is too long for a %s", MAL_SPEC_WORD - 1, from,
				what);
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)from[i]) && !strchr("-_.+", from[i]))
			return mal_fail(err, "'%.*s' has a character that is not allowed in a %s",
					(int)length, from, what);
	memcpy(word, from, length);
	word[length] = '\0';
	return 0;
}

static int add_pair(struct mal_spec *spec, const char *item, size_t length, struct mal_error *err)
{
	const char *equals = memchr(item, '=', length);
	size_t key = (size_t)(equals - item);

	if (spec->count == MAL_SPEC_KEYS)
		return mal_fail(err, "more than %d KEY=VALUE pairs", MAL_SPEC_KEYS);
	if (copy_word(spec->pairs[spec->count].key, item, key, "key", err) < 0 ||
	    copy_word(spec->pairs[spec->count].value, equals + 1, length - key - 1, "value", err) <
		    0)
		return -1;
	spec->count++;
	return 0;
}

int mal_spec_parse(const char *text, struct mal_spec *spec, struct mal_error *err)
{
	const char *at = text;

	memset(spec, 0, sizeof(*spec));
	if (!text || !*text)
		return 0;
	for (;;) {
		size_t length = strcspn(at, ",");

		if (memchr(at, '=', length)) {
			if (add_pair(spec, at, length, err) < 0)
				return -1;
		} else if (at != text) {
			return mal_fail(err, "'%.*s' is not KEY=VALUE",
					(int)(length < 64 ? length : 64), at);
		} else if (copy_word(spec->policy, at, length, "policy name", err) < 0) {
			return -1;
		}
		if (!at[length])
			return 0;
		at += length + 1;
	}
}
