/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * listed.h: the loaded objects, one by one, before any constructor too: dl_iterate_phdr() is a
 * function that other libraries replace, and these may not be ready.
 */
#pragma once

#include <link.h>
#include <stddef.h>

/* As dl_iterate_phdr(), but at first each object has its PT_DYNAMIC alone. */
int mal_listed_each(int (*look)(struct dl_phdr_info *, size_t, void *), void *data);

/*
 * How many objects the process started with: these are the first that are listed. Before the
 * constructors 0.
 */
size_t mal_listed_first(void);

/* Constructors have run: go on with dl_iterate_phdr() itself. */
void mal_listed_ready(void);
