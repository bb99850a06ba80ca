/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check_plugstack.h: malleable admin check: what plugstack.conf says to the plugin. */
#ifndef MAL_CMD_CHECK_PLUGSTACK_H
#define MAL_CMD_CHECK_PLUGSTACK_H

/* Where Slurm looks for FILE, or without one: its plugstack.conf. Returns the exit status. */
int mal_check_plugstack(const char *file);

#endif
