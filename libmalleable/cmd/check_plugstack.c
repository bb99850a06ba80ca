/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * check_plugstack.c: malleable admin check: what plugstack.conf says to the plugin.
 *
 * Invariant: what Slurm would refuse is named (t/t1004-admin.t).
 *
 * The file is read as Slurm reads it: words, # begins a comment, include takes patterns, which are
 * relative to the file's directory.
 */
#include "libmalleable/cmd/check_plugstack.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/check_libraries.h"
#include "libmalleable/cmd/check_srun.h"
#include "libmalleable/core/built.h"
#include "libmalleable/loadable/site.h"

#define PLUGIN "balance.so"
#define SEPARATORS " \t\n"
#define WORDS_MAX 128
/* The longest value of a setting. */
#define VALUE_MAX 768
/* Files that include each other. */
#define DEPTH_MAX 8

static struct {
	const char *file;
	unsigned int line;
	unsigned int wrong, plugins;
	bool in_force; /* the file is the one that srun reads */
} now;

static void complain(const char *what, const char *why)
{
	mal_print_line(stderr, "malleable admin check: %s:%u: %s: %s", now.file, now.line, what,
		       why);
	now.wrong++;
}

/* What steps that ask for nothing get. */
static const char *fallback(const struct mal_site *site)
{
	return site->fallback[0] && mal_site_allows_default(site) ? site->fallback : "off";
}

static const char *text_of(const struct mal_setting *setting, const struct mal_site *site,
			   char text[VALUE_MAX])
{
	if (setting->offset == offsetof(struct mal_site, fallback))
		return fallback(site);
	return mal_setting_format(setting, site, text, VALUE_MAX);
}

/* A line of NAME=VALUE of what is set in THERE: all of it, or what differs from ELSEWHERE. */
static void print_settings(const char *where, const struct mal_site *there,
			   const struct mal_site *elsewhere)
{
	const struct mal_setting *setting;
	char room[VALUE_MAX], other[VALUE_MAX];

	printf("  %s:", where);
	for (size_t i = 0; (setting = mal_setting_at(MAL_SETTING_SITE, i)); i++) {
		const char *text = text_of(setting, there, room);

		if (*text && !(elsewhere && strcmp(text, text_of(setting, elsewhere, other)) == 0))
			printf(" %s=%s", setting->name, text);
	}
	putchar('\n');
}

static void print_all(const struct mal_site_arguments *all)
{
	char where[256] = "in partition ";
	const size_t length = strlen(where);
	unsigned int next = 0;

	print_settings("in force", all->site, NULL);
	while (mal_site_next_partition(all, &next, where + length, sizeof(where) - length)) {
		struct mal_site there = *all->site;
		struct mal_site_arguments copy = *all;

		copy.site = &there;
		mal_site_use_partition(&copy, where + length);
		print_settings(where, &there, all->site);
	}
	/* Of those that fit a step the last one holds. */
	for (unsigned int i = 0; i < all->scoped_count; i++)
		if (all->scoped[i].filter)
			printf("  for some steps: %s\n", all->scoped[i].argument);
}

/* The plugin's line: PATH and COUNT arguments. */
static void check_plugin(const char *path, int count, char **arguments)
{
	struct mal_site site = mal_site_default;
	struct mal_site_arguments all = {.site = &site, .complain = complain};
	struct mal_error err;

	/* Slurm refuses to load it a second time. */
	if (now.plugins++)
		complain(path, "a second line of the plugin: only the first is in force");
	if (*path == '/' && access(path, R_OK) < 0)
		complain(path, strerror(errno));
	/* Only Slurm knows where it looks for a name without a directory. */
	else if (*path != '/' && !now.in_force && mal_check_srun_name(path, &err) < 0)
		complain(path, err.text);
	mal_site_parse(&all, count, arguments);
	mal_site_check(&all);
	printf("%s:%u: %s: steps that ask for nothing: %s; policies: %s; libdir=%s\n", now.file,
	       now.line, path, fallback(&site), site.policies[0] ? site.policies : "all",
	       site.libdir);
	print_all(&all);
	now.wrong += mal_check_libraries(site.libdir);
}

static void check_file(const char *file, unsigned int depth);

static void include(const char *pattern, unsigned int depth)
{
	const char *file = now.file, *slash = strrchr(file, '/');
	unsigned int line = now.line;
	int length = *pattern != '/' && slash ? (int)(slash + 1 - file) : 0;
	char path[PATH_MAX];
	glob_t found;

	if (depth == DEPTH_MAX) {
		complain(pattern, "too many levels of include");
		return;
	}
	snprintf(path, sizeof(path), "%.*s%s", length, file, pattern);
	if (glob(path, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			check_file(found.gl_pathv[i], depth + 1);
		globfree(&found);
	}
	now.file = file;
	now.line = line;
}

static void check_line(char *text, unsigned int depth)
{
	char *words[WORDS_MAX], *save, *name;
	int count = 0;

	text[strcspn(text, "#")] = '\0';
	for (char *word = strtok_r(text, SEPARATORS, &save); word && count < WORDS_MAX;
	     word = strtok_r(NULL, SEPARATORS, &save))
		words[count++] = word;
	if (count == 0)
		return;
	if (count == 1 || (strcmp(words[0], "optional") != 0 && strcmp(words[0], "required") != 0 &&
			   strcmp(words[0], "include") != 0)) {
		complain(words[0], "needs optional, required or include, and a file");
		return;
	}
	name = strrchr(words[1], '/');
	if (strcmp(words[0], "include") == 0)
		include(words[1], depth);
	else if (strcmp(name ? name + 1 : words[1], PLUGIN) == 0)
		check_plugin(words[1], count - 2, words + 2);
}

static void check_file(const char *file, unsigned int depth)
{
	FILE *stream = fopen(file, "re");
	char *line = NULL;
	size_t size = 0;

	now.file = file;
	now.line = 0;
	if (!stream) {
		complain("cannot open", strerror(errno));
		return;
	}
	while (getline(&line, &size, stream) >= 0) {
		now.line++;
		check_line(line, depth);
	}
	free(line);
	fclose(stream);
}

int mal_check_plugstack(const char *file)
{
	const char *slurm = getenv("SLURM_CONF"), *slash = slurm ? strrchr(slurm, '/') : NULL;
	char path[PATH_MAX];
	struct mal_error err;

	snprintf(path, sizeof(path), "%.*s/plugstack.conf", slash ? (int)(slash - slurm) : INT_MAX,
		 slash ? slurm : "/etc/slurm");
	now.in_force = !file;
	check_file(file ? file : path, 0);
	if (now.in_force && now.plugins && !now.wrong && mal_check_srun(NULL, &err) < 0)
		complain(PLUGIN, err.text);
	file = file ? file : path;
	mal_built_print(stdout);
	if (!now.plugins && !now.wrong) {
		mal_print_line(stderr,
			       "malleable admin check: %s: no line for %s: there is no --balance",
			       file, PLUGIN);
		now.wrong++;
	}
	return now.wrong ? 1 : 0;
}
