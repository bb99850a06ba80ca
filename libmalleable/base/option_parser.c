/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* option_parser.c: the options of a program, and one line where they are wrong. */
#include "libmalleable/base/option_parser.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/printable.h"

static const struct option *find(const struct option *options, int value)
{
	for (; options->name; options++)
		if (options->val == value)
			return options;
	return NULL;
}

const char *mal_option_name(const struct option *options, int value)
{
	const struct option *option = find(options, value);

	return option ? option->name : "";
}

/* Whether NAME, of LENGTH, begins several names. */
static bool is_ambiguous(const struct option *options, const char *name, size_t length)
{
	int count = 0;

	for (; options->name; options++)
		count += strncmp(options->name, name, length) == 0;
	return count > 1;
}

/* Say what getopt_long(), which returned FOUND, has against WORD, the one before optind. */
static void explain(int found, const char *word, const struct option *options,
		    struct mal_error *err)
{
	const struct option *option = find(options, optopt);
	int length = (int)strcspn(word, "=");

	if (found == ':' && option)
		mal_fail(err, "option --%s needs a value", option->name);
	else if (found == ':')
		mal_fail(err, "option -%c needs a value", optopt);
	else if (option && strncmp(word, "--", 2) == 0 && word[length] == '=' &&
		 strncmp(word + 2, option->name, (size_t)length - 2) == 0)
		mal_fail(err, "option --%s takes no value", option->name);
	else if (optopt)
		mal_fail(err, "unknown option -%c", optopt);
	else if (is_ambiguous(options, word + 2, (size_t)length - 2))
		mal_fail(err, "option %.*s is ambiguous", length, word);
	else
		mal_fail(err, "unknown option %.*s", length, word);
}

int mal_option_next(int argc, char **argv, bool ordered, const struct option *options,
		    struct mal_error *err)
{
	static const struct option none[] = {MAL_OPTIONS_END};
	int found;

	opterr = 0;
	options = options ? options : none;
	found = getopt_long(argc, argv, ordered ? "+:hV" : ":hV", options, NULL);
	if (found != '?' && found != ':')
		return found;
	explain(found, argv[optind - 1], options, err);
	return '?';
}

int mal_option(const struct mal_tool *tool, int argc, char **argv, bool ordered,
	       const struct option *options)
{
	struct mal_error err;
	int found = mal_option_next(argc, argv, ordered, options, &err);

	switch (found) {
	case 'h':
		printf("Usage: %s %s", tool->name, tool->usage);
		if (tool->more)
			tool->more();
		exit(0);
	case 'V': printf("%s " PACKAGE_VERSION "\n", tool->name); exit(0);
	case '?': mal_option_wrong(tool, "%s", err.text);
	default: return found;
	}
}

_Noreturn void mal_option_wrong(const struct mal_tool *tool, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mal_print_line(stderr, "%s: %s, see %s --help", tool->name, text, tool->name);
	exit(2);
}
