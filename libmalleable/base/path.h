/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * path.h: where a path leads, looked up part by part.
 *
 * Invariant: Whoever owns a part of the path leads nobody elsewhere, now or later
 * (t/unit/test_files.c: links_of_strangers_are_not_followed, root_knows_its_own_paths).
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

/*
 * Open the directory in which PATH ends, as a place for openat() and the like, and write the part
 * of PATH in it into NAME. That need not exist, and is a link only if the last one is not FOLLOWED.
 * Root follows no links but its own. Others follow no stranger's where everybody may put one,
 * whatever fs.protected_symlinks is. Returns -1 with errno on failure; EMLINK: for such a link.
 */
int mal_path_open(const char *path, bool followed, char name[NAME_MAX + 1]);

/* Whether all that leads to PATH, and what is there, is root's, and nobody else can change it. */
bool mal_path_is_roots(const char *path);
