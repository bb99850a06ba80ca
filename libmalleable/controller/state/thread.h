/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.h: a thread beside the controller's loop. */
#ifndef MAL_CONTROLLER_STATE_THREAD_H
#define MAL_CONTROLLER_STATE_THREAD_H

/*
 * Run FUNCTION with ARGUMENT in a detached thread with a small stack. Returns 0, or -1: it does not
 * start.
 */
int mal_thread_start(void *(*function)(void *), void *argument);

#endif
