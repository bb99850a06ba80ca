/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inside.h: whether this process belongs to the balanced step that its environment names.
 *
 * Environments leave their step: sbatch and ssh pass them on, daemons outlive it, files keep them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Inside has the step's segment as a descriptor, and its controller has not ended. Where a wrapper
 * closed the descriptor the process is in the step's cgroup; where that cannot be told, as in a
 * container, the controller listens.
 */
bool mal_inside(void);

/*
 * Read the cgroup of the Slurm step that this process is in. Returns TEXT, of SIZE bytes; NULL: it
 * is in none.
 */
const char *mal_inside_cgroup(char *text, size_t size);
