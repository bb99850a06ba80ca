/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* objects.h: what the program and the libraries that are loaded with it call, and what they hold for each thread. */
#ifndef MAL_RANK_OBJECTS_H
#define MAL_RANK_OBJECTS_H

#include <stdbool.h>

/*
 * True if an object of the program uses OpenMP through GCC's libgomp and calls a function of it that the loaded library
 * RUNTIME (a handle of dlopen) lacks.
 */
bool mal_objects_call_more_than(void *runtime);

/*
 * True if an object that opens parallel regions has variables for each thread (thread_local, threadprivate), which are lost
 * where a team gets smaller and fresh where it grows.
 */
bool mal_objects_keep_thread_data(void);

#endif
