/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * option_parser.h: the options of a program, by getopt_long(), and one line where they are wrong.
 *
 * Every program has --help and --version, -h and -V. Not thread safe.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "libmalleable/base/error.h"

/* The end of each table of options. */
/* clang-format off */
#define MAL_OPTIONS_END \
	{"help", no_argument, NULL, 'h'}, \
	{"version", no_argument, NULL, 'V'}, \
	{NULL, 0, NULL, 0}
/* clang-format on */

struct mal_tool {
	const char *name;   /* "malleable status" */
	const char *usage;  /* behind "Usage: NAME " */
	void (*more)(void); /* prints the rest of it; NULL: that is all */
};

/* Behind the last option. */
#define MAL_OPTION_END (-1)

/*
 * The next one of OPTIONS (NULL: there are those of every program alone), as getopt_long() has it;
 * '?' with ERR if it is wrong. ORDERED: those behind the first other word are not the program's.
 */
int mal_option_next(int argc, char **argv, bool ordered, const struct option *options,
		    struct mal_error *err);

/* The same for TOOL, which ends with --help, --version, and options that are wrong. */
int mal_option(const struct mal_tool *tool, int argc, char **argv, bool ordered,
	       const struct option *options);

/* Say on standard error what is wrong with TOOL's arguments, and exit with status 2. */
_Noreturn void mal_option_wrong(const struct mal_tool *tool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The name of the option with VALUE. */
const char *mal_option_name(const struct option *options, int value);
