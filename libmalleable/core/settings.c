/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * settings.c: check and store the value of a setting; describe the table.
 *
 * Invariant: a wrong value changes nothing, and is named (t/unit/test_settings.c:
 * a_wrong_value_changes_nothing; t/t1001-options.t).
 */
#include "libmalleable/core/settings.h"

#include <string.h>

#include "libmalleable/base/number.h"

#define COLUMNS 78
/* Where help begins in a line. */
#define INDENT 36

int mal_word_find(const char *words, const char *text)
{
	size_t length = strlen(text);

	for (int number = 0;; number++) {
		size_t word = strcspn(words, "|");

		if (word == length && strncmp(words, text, word) == 0)
			return number;
		if (!words[word])
			return -1;
		words += word + 1;
	}
}

/* "must be a, b or c" */
static int fail_words(const char *words, struct mal_error *err)
{
	char text[128] = "";
	size_t used = 0;

	for (;;) {
		size_t word = strcspn(words, "|");
		bool last = !words[word], next_is_last = !last && !strchr(words + word + 1, '|');

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s%s", (int)word,
					 words,
					 last		? ""
					 : next_is_last ? " or "
							: ", ");
		if (last || used >= sizeof(text))
			return mal_fail(err, "must be %s", text);
		words += word + 1;
	}
}

static unsigned int *number_in(const struct mal_setting *setting, const void *fields)
{
	return (unsigned int *)((char *)fields + setting->offset);
}

static int set_word(const struct mal_setting *setting, void *fields, const char *text,
		    struct mal_error *err)
{
	int word = mal_word_find(setting->value, text);

	if (word < 0)
		return fail_words(setting->value, err);
	*number_in(setting, fields) =
		setting->type == MAL_SETTING_FLAG ? word == 0 : (unsigned int)word + setting->min;
	return 0;
}

static int set_number(const struct mal_setting *setting, void *fields, const char *text,
		      struct mal_error *err)
{
	if (mal_number_parse(text, setting->min, setting->max, number_in(setting, fields)))
		return 0;
	return mal_fail(err, "must be a number from %u to %u", setting->min, setting->max);
}

static int set_text(const struct mal_setting *setting, void *fields, const char *text,
		    struct mal_error *err)
{
	if (setting->type == MAL_SETTING_PATH && *text != '/')
		return mal_fail(err, "must be an absolute path");
	if (strlen(text) >= setting->size)
		return mal_fail(err, "longer than %zu bytes", setting->size - 1);
	strcpy(mal_setting_text(setting, fields), text);
	return 0;
}

int mal_setting_set(const struct mal_setting *setting, void *fields, const char *text,
		    struct mal_error *err)
{
	switch (setting->type) {
	case MAL_SETTING_WORD:
	case MAL_SETTING_FLAG: return set_word(setting, fields, text, err);
	case MAL_SETTING_NUMBER: return set_number(setting, fields, text, err);
	default: return set_text(setting, fields, text, err);
	}
}

char *mal_setting_text(const struct mal_setting *setting, void *fields)
{
	return (char *)fields + setting->offset;
}

const char *mal_setting_format(const struct mal_setting *setting, const void *fields, char *text,
			       size_t size)
{
	const char *words = setting->value;
	unsigned int word;

	switch (setting->type) {
	case MAL_SETTING_NUMBER:
		word = *number_in(setting, fields);
		snprintf(text, size, "%.*u", word ? 1 : 0, word);
		return text;
	case MAL_SETTING_FLAG:
		snprintf(text, size, "%s", *number_in(setting, fields) ? "yes" : "no");
		return text;
	case MAL_SETTING_WORD:
		for (word = *number_in(setting, fields) - setting->min; word && strchr(words, '|');
		     word--)
			words = strchr(words, '|') + 1;
		snprintf(text, size, "%.*s", (int)strcspn(words, "|"), words);
		return text;
	default: snprintf(text, size, "%s", (const char *)fields + setting->offset); return text;
	}
}

const char *mal_setting_names(enum mal_setting_place place, char *text, size_t size)
{
	const struct mal_setting *setting;
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; (setting = mal_setting_at(place, i)) && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s%s", i ? ", " : "",
					 setting->name, place == MAL_SETTING_SITE ? "=" : "");
	return text;
}

/* Print TEXT, in lines that begin at INDENT; the first one has USED columns already. */
static void print_wrapped(FILE *out, const char *text, int used)
{
	if (used + 2 > INDENT) {
		fputc('\n', out);
		used = 0;
	}
	fprintf(out, "%*s", INDENT - used, "");
	used = INDENT;
	while (*text) {
		int word = (int)strcspn(text, " ");

		if (used > INDENT && used + 1 + word > COLUMNS)
			used = fprintf(out, "\n%*s", INDENT, "") - 1;
		used += fprintf(out, "%s%.*s", used > INDENT ? " " : "", word, text);
		text += word + (text[word] != '\0');
	}
	fputc('\n', out);
}

void mal_settings_print(FILE *out, enum mal_setting_place place)
{
	bool option = place == MAL_SETTING_OPTION;
	const struct mal_setting *setting;

	for (size_t i = 0; (setting = mal_setting_at(place, i)); i++) {
		bool optional = option && setting->value[0] == '[';
		int used;

		used = fprintf(out, "  %s%s%s%s%s", option ? "--" : "", setting->name,
			       optional ? "[" : "", "=", setting->value + optional);
		if (setting->type == MAL_SETTING_NUMBER)
			used += fprintf(out, " (%u to %u)", setting->min, setting->max);
		print_wrapped(out, setting->help, used);
	}
}
