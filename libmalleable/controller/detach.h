/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* detach.h: the controller leaves its parent, and root. */
#ifndef MAL_CONTROLLER_DETACH_H
#define MAL_CONTROLLER_DETACH_H

#include "libmalleable/core/error.h"

/*
 * slurmstepd starts us with the user's effective ids and root's real ones: become the user for good. Nothing happens to
 * other processes. Returns 0, or -1 with ERR: then the process must end.
 */
int mal_give_up_root(struct mal_error *err);

/*
 * Go on in a child, whose process number is written to REPORT_FD; the parent exits. The OOM score becomes the user's.
 * Returns 0 in the child, or -1 with ERR.
 */
int mal_detach(int report_fd, struct mal_error *err);

#endif
