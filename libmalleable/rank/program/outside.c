/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outside.c: a process that has the environment of a balanced step, but is not inside that step. */
#include "libmalleable/rank/program/outside.h"

#include <unistd.h>

#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/setup.h"
#include "libmalleable/core/variables.h"

void mal_outside_clean_up(void)
{
	if (mal_variable(environ, MAL_ENV_SEGMENT_FD) && !mal_inside())
		mal_setup_remove(&mal_setup_own);
}
