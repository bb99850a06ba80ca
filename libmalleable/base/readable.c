/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* readable.c: names of C++ functions, as people write them. */
#include "libmalleable/base/readable.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "_Z"
#define OPERATOR "operator"
#define UNNAMED "(anonymous namespace)"
#define CUT "..."
/*
 * GCC's demangler takes no longer ones, and up to 100 bytes of stack for each byte of these. With
 * every second reference to a part of the name the text may double: to 20 MB.
 */
enum { NAME_LONGEST = 1024, STACK_LEAST = 256 << 10, REFERENCES_MOST = 40 };
#define IN_NAMES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$."

mal_demangle *mal_demangler(int flags)
{
	mal_demangle *found;
	void *library;

	*(void **)&found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	if (found)
		return found;
	library = dlopen("libstdc++.so.6", RTLD_LAZY | flags);
	if (library)
		*(void **)&found = dlsym(library, "__cxa_demangle");
	return found;
}

/* The program's main may run in a thread with a small stack, or on one that it made itself. */
static bool has_stack(void)
{
	pthread_attr_t attributes;
	void *lowest = NULL;
	size_t size = 0, left;
	char here;

	if (pthread_getattr_np(pthread_self(), &attributes))
		return false;
	pthread_attr_getstack(&attributes, &lowest, &size);
	pthread_attr_destroy(&attributes);
	left = (uintptr_t)&here - (uintptr_t)lowest;
	return left >= STACK_LEAST && left < size;
}

static bool begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* How many bytes at AT are no bracket of types, whatever they look like. */
static size_t plain_length(const char *at)
{
	size_t length = strlen(OPERATOR);

	if (begins(at, UNNAMED))
		return strlen(UNNAMED);
	if (!begins(at, OPERATOR))
		return *at != '<' && *at != '(';
	if (begins(at + length, "()"))
		return length + 2;
	return length + strspn(at + length, "<>=-+*/%!&|^~,");
}

/* Behind the bracket that opens at AT, and what is in it. */
static const char *behind(const char *at)
{
	int depth = 0;

	do {
		if (*at == '<' || *at == '(')
			depth++;
		/* That of "->" closes nothing. */
		if ((*at == '>' && at[-1] != '-') || *at == ')')
			depth--;
		at++;
	} while (*at && depth);
	return at;
}

/* What stands before the name in NAME, which has no brackets any more: the type that it returns. */
static size_t type_length(const char *name)
{
	const char *end = strstr(name, OPERATOR), *from = name;

	if (!end)
		end = name + strlen(name);
	for (const char *at = name; at < end; at += plain_length(at))
		if (*at == ' ')
			from = at + 1;
	return (size_t)(from - name);
}

/* Leave out of NAME types, and what follows the types of its arguments ("const"). */
static void leave_out_types(char *name)
{
	char *to = name, *arguments = NULL;

	for (const char *at = name; *at;) {
		size_t length = plain_length(at);

		if (!length) {
			arguments = *at == '(' ? to : arguments;
			at = behind(at);
			continue;
		}
		/* It goes on in a function. */
		if (*at == ':' || *at == '{' || *at == '}' || *at == '#')
			arguments = NULL;
		memmove(to, at, length);
		to += length;
		at += length;
	}
	*(arguments ? arguments : to) = '\0';
	memmove(name, name + type_length(name), strlen(name + type_length(name)) + 1);
}

/* Of substitutions, S_ and S0_, and of arguments of templates, T_ and T0_. */
static unsigned int count_references(const char *name)
{
	unsigned int count = 0;

	while (*(name += strcspn(name, "ST"))) {
		name += 1 + strspn(name + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		count += *name == '_';
	}
	return count;
}

/* The name of LENGTH bytes at TEXT; NULL: it is none. To be freed. */
static char *demangled(mal_demangle *demangle, const char *text, size_t length)
{
	char name[NAME_LONGEST + 1], *found;
	int status;

	if (length > NAME_LONGEST)
		return NULL;
	memcpy(name, text, length);
	name[length] = '\0';
	if (count_references(name) > REFERENCES_MOST)
		return NULL;
	found = demangle(name, NULL, NULL, &status);
	if (found)
		leave_out_types(found);
	return found;
}

/* OUT, of SIZE bytes, had no room for all of its text. */
static void cut(char *out, size_t size)
{
	char *end = out + size - sizeof(CUT), *blank;

	if (size <= sizeof(CUT))
		return;
	*end = '\0';
	blank = strrchr(out, ' ');
	strcpy(blank ? blank : end, CUT);
}

/* The mangled part of the name at TEXT; 0: it is not mangled. */
static size_t mangled_length(const char *text)
{
	return begins(text, PREFIX) ? strspn(text, IN_NAMES) : 0;
}

const char *mal_make_readable(mal_demangle *demangle, const char *text, char *out, size_t size)
{
	size_t used = 0;

	if (demangle && !has_stack())
		demangle = NULL;
	*out = '\0';
	while (*text && used < size) {
		size_t length = mangled_length(text), part = strcspn(text, ".");
		char *name = NULL;

		if (length && demangle)
			name = demangled(demangle, text, part < length ? part : length);
		if (name) {
			used += (size_t)snprintf(out + used, size - used, "%s", name);
			text += part < length ? part : length;
		}
		/* The rest of a name is no name of its own. */
		length = strspn(text, IN_NAMES);
		length = length || name ? length : 1;
		if (used < size)
			used += (size_t)snprintf(out + used, size - used, "%.*s", (int)length,
						 text);
		text += length;
		free(name);
	}
	if (used >= size)
		cut(out, size);
	return out;
}
