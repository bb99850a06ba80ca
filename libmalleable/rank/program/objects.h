/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* objects.h: what the loaded objects of the program call, and what they keep for each thread. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/core/segment.h"
#include "libmalleable/rank/program/libomp.h"

/*
 * Whether an object of the program uses OpenMP through GCC's libgomp, and calls a function that
 * LIBOMP lacks or breaks.
 */
bool mal_objects_call_more_than(struct mal_libomp *libomp);

/* Whether objects were loaded or unloaded since the last call; true at the first call. */
bool mal_objects_changed(void);

/* How often objects have been loaded and unloaded, one number for both. */
unsigned long long mal_objects_changes(void);

/* A loaded object of the program, as its own headers and the names in it describe it. */
struct mal_object {
	uintptr_t base;	  /* what is added to the file's addresses */
	const char *path; /* empty: the program itself */
	const ElfW(Phdr) * headers;
	unsigned int header_count;
	/* What it needs, by offsets into NAMES. */
	const ElfW(Dyn) * dynamic;
	const char *names;
	bool regions; /* it opens parallel regions */
	/* It asks for threads or their number by any means, or has data for each thread. */
	bool observes_team;
};

/* Describe it. Returns false if it is no part of the program. */
bool mal_object_read(const struct dl_phdr_info *info, struct mal_object *object);

/*
 * Whether teams must keep their size because of what the loaded objects refer to, and why. Goes by
 * names alone: whatever may be used counts as used.
 */
enum mal_mode_reason mal_objects_keep_size(void);
