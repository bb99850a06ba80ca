/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nodes.h: run malleable on all nodes of a job, through srun. */
#pragma once

#include "libmalleable/base/error.h"

/*
 * Run this program with ARGUMENTS, which NULL ends, on all nodes of JOB. What it prints on standard
 * error comes once, whatever many nodes say it. Returns its exit status; -1 with ERR if Slurm could
 * not start it; -2 if there is no srun.
 */
int mal_nodes_run(const char *job, const char *const *arguments, struct mal_error *err);
