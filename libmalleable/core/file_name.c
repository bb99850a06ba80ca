/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file_name.c: names of files with %j and the like in them.
 *
 * Invariant: names are as Slurm makes them of the same text (t/unit/test_settings.c:
 * names_of_files).
 */
#include "libmalleable/core/file_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
/* Leading zeros at most, as in Slurm. */
#define WIDTH_MAX 10u

struct writing {
	const struct mal_arguments *facts;
	char *path;
	size_t size, used; /* used is above size once it does not fit */
	bool has_node, has_task;
};

static void add(struct writing *to, const char *text, size_t length)
{
	if (to->used + length < to->size)
		memcpy(to->path + to->used, text, length);
	to->used += length;
}

/* A job's name is one part of a path, whatever is in it. */
static void add_name(struct writing *to, const char *name)
{
	for (; name && *name; name++)
		add(to, *name == '/' ? "_" : name, 1);
}

static void add_number(struct writing *to, unsigned long number, unsigned int width)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%0*lu", (int)width, number);

	add(to, text, (size_t)length);
}

/* The numbers in JOB.STEP, JOB alone where a launcher's name follows, 0 for anything else. */
static void read_step(const char *step, unsigned long *job, unsigned long *number)
{
	size_t digits = strspn(step, DIGITS);

	*job = *number = 0;
	if (!digits || step[digits] != '.')
		return;
	*job = strtoul(step, NULL, 10);
	*number = strtoul(step + digits + 1, NULL, 10);
}

static unsigned long number_of(const char *text, unsigned long fallback)
{
	return text ? strtoul(text, NULL, 10) : fallback;
}

/* What LETTER stands for. False: it stands for nothing. */
static bool add_letter(struct writing *to, char letter, unsigned int width)
{
	unsigned long job, number;

	read_step(to->facts->step, &job, &number);
	to->has_node |= letter == 'n' || letter == 'h';
	/* Each task of an array is a job by itself. */
	to->has_task |= letter == 'a' || letter == 'j';
	switch (letter) {
	case '%': add(to, "%", 1); return true;
	case 'j': add_number(to, job, width); return true;
	case 's': add_number(to, number, width); return true;
	case 'a': add_number(to, number_of(to->facts->array_task, 0), width); return true;
	case 'A': add_number(to, number_of(to->facts->array_job, job), width); return true;
	case 'n': add_number(to, to->facts->node_number, width); return true;
	case 'h': add(to, to->facts->node, strcspn(to->facts->node, ".")); return true;
	case 'x': add_name(to, to->facts->job_name); return true;
	default: return false;
	}
}

const char *mal_file_name(const char *name, const struct mal_arguments *facts, char *path,
			  size_t size, bool *added)
{
	struct writing to = {.facts = facts, .path = path, .size = size};

	for (const char *at = name; *at;) {
		size_t digits = *at == '%' ? strspn(at + 1, DIGITS) : 0;
		unsigned long width = digits ? strtoul(at + 1, NULL, 10) : 0;

		if (*at == '%' && at[1 + digits] &&
		    add_letter(&to, at[1 + digits],
			       width < WIDTH_MAX ? (unsigned int)width : WIDTH_MAX))
			at += digits + 2;
		else
			add(&to, at++, 1);
	}
	*added = false;
	if (facts->array_task && !to.has_task) {
		*added = true;
		add(&to, ".", 1);
		add(&to, facts->array_task, strlen(facts->array_task));
	}
	if (facts->node_files && !to.has_node) {
		*added = true;
		add(&to, ".", 1);
		add(&to, facts->node, strlen(facts->node));
	}
	if (to.used >= size)
		return name;
	path[to.used] = '\0';
	return path;
}
