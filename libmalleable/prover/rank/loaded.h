/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loaded.h: all objects of the program that are loaded at one moment. */
#pragma once

#include "libmalleable/rank/program/objects.h"

/* A program rarely has more. */
enum { MAL_LOADED = 256, MAL_LOADED_PATH = 512 };

struct mal_loaded {
	struct mal_object objects[MAL_LOADED];
	/* Their files, as dlopen() knows them, or none if longer. */
	char paths[MAL_LOADED][MAL_LOADED_PATH];
	bool first[MAL_LOADED]; /* the process started with it: it stays */
	size_t count;
	bool more;		    /* there are others, of which nothing is known */
	unsigned long long changes; /* mal_objects_changes() at that moment */
};

/* An object TELLS where one that it needs does. */
void mal_loaded_read(struct mal_loaded *loaded);

/*
 * Where object INDEX may be unloaded by another thread, hold it: let *HANDLE go then. Returns false
 * if it is gone.
 */
bool mal_loaded_hold(const struct mal_loaded *loaded, size_t index, void **handle);
void mal_loaded_let_go(void *handle);

/*
 * Whether the function SYMBOL is in an object that tells, or in none of the program's. It is looked
 * for in the global scope, then as the object HANDLE of dlopen() finds it (NULL: no more).
 */
bool mal_loaded_tells(const struct mal_loaded *loaded, void *handle, const char *symbol);
