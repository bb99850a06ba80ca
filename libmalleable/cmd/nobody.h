/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nobody.h: give up root before what users wrote is read. */
#ifndef MAL_CMD_NOBODY_H
#define MAL_CMD_NOBODY_H

/* Become nobody for good, where this is root. Returns 0, or -1 with errno. */
int mal_become_nobody(void);

#endif
