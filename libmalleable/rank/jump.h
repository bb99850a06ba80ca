/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jump.h: notice longjmp() out of MPI. */
#ifndef MAL_RANK_JUMP_H
#define MAL_RANK_JUMP_H

/* Resolve the functions before anything may jump, such as a signal handler. */
void mal_jump_open(void);

#endif
