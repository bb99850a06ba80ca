/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outside.h: a process that has the environment of a balanced step, but is not inside that step. */
#ifndef MAL_RANK_PROGRAM_OUTSIDE_H
#define MAL_RANK_PROGRAM_OUTSIDE_H

/*
 * Outside, remove what is ours from the environment: this process goes on as without us, and so do
 * those that it starts. Edits in place: libc has not started.
 */
void mal_outside_clean_up(void);

#endif
