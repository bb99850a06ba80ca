/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* taken.h: functions whose address is taken. */
#ifndef MAL_INSPECT_TAKEN_H
#define MAL_INSPECT_TAKEN_H

#include "libmalleable/inspect/starts.h"

/* Fills PROGRAM->taken; the functions of STARTS are left out. */
int mal_find_taken(struct mal_program *program, const struct mal_starts *starts,
		   struct mal_error *err);

#endif
