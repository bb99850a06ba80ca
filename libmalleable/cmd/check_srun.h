/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * check_srun.h: malleable admin check: whether srun on this node loads the plugin.
 *
 * srun itself is asked: only Slurm knows where it looks for plugins, and which it refuses. Where
 * there is no srun, nothing is known, and nothing is wrong (t/t1002-plugstack.t).
 */
#pragma once

#include "libmalleable/base/error.h"

/* With slurm.conf CONF, NULL: that in force. Returns 0, or -1 with ERR: what srun complains of. */
int mal_check_srun(const char *conf, struct mal_error *err);

/* With a line for the plugin NAME, which has no directory. Returns the same. */
int mal_check_srun_name(const char *name, struct mal_error *err);
