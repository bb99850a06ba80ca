/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* objects.h: what the loaded objects of the program call, and what they keep for each thread. */
#ifndef MAL_RANK_PROGRAM_OBJECTS_H
#define MAL_RANK_PROGRAM_OBJECTS_H

#include <stdbool.h>

#include "libmalleable/core/segment.h"

/*
 * Whether an object of the program uses OpenMP through GCC's libgomp, and calls a function that the
 * loaded library RUNTIME (a handle of dlopen()) lacks or breaks.
 */
bool mal_objects_call_more_than(void *runtime);

/* Whether objects were loaded or unloaded since the last call; true at the first call. */
bool mal_objects_changed(void);

/* Call DOES with DATA for each object of the program that opens parallel regions. */
struct dl_phdr_info;
typedef void mal_object_does(const struct dl_phdr_info *info, void *data);
void mal_objects_with_regions(mal_object_does *does, void *data);

/*
 * Whether teams must keep their size because of what the loaded objects refer to, and why. Goes by
 * names alone: whatever may be used counts as used.
 */
enum mal_mode_reason mal_objects_keep_size(void);

#endif
