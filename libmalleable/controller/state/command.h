/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* command.h: what the step runs, for its report: the command line of the first rank that came. */
#ifndef MAL_CONTROLLER_STATE_COMMAND_H
#define MAL_CONTROLLER_STATE_COMMAND_H

#include "libmalleable/controller/state/controller.h"

/* Not known yet. NULL: out of memory. */
struct mal_command *mal_command_create(void);

/* NULL-safe. */
void mal_command_destroy(struct mal_command *command);

/* A rank came as process PID. Only the first whose command line can be read counts. */
void mal_command_note(struct mal_controller *controller, int32_t pid);

/*
 * Its words one after the other, each ended by a null byte, cut at 4 KiB; *LENGTH 0: not known.
 * They are the user's.
 */
const char *mal_command_words(const struct mal_controller *controller, size_t *length);

#endif
