/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * site_report.h: the JSON that a controller leaves for report_dir=, in a memfd.
 *
 * The controller is a process of the user's: root copies what is in there into a file of root's own
 * (spank/store.c), and reads no more than MAL_SITE_REPORT_MAX bytes of it. The text ends with the
 * first byte that is 0; an empty one is none.
 */
#pragma once

#include <stddef.h>

#include "libmalleable/base/error.h"

/* Some hundred times what a step of a few ranks needs. */
#define MAL_SITE_REPORT_MAX (4u << 20)

/*
 * Make one, whose size nobody can change. What nobody writes takes no memory. Returns a descriptor,
 * close-on-exec, or -1 with ERR.
 */
int mal_site_report_make(struct mal_error *err);

/*
 * Read it into BYTES, of MAL_SITE_REPORT_MAX. FD may be anything that a user has passed: what could
 * make the caller wait is not read. Returns the text's length; 0: none.
 */
size_t mal_site_report_read(int fd, char *bytes);
