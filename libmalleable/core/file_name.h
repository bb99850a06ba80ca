/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file_name.h: names of files that users give with %j and the like in them, as Slurm's do. The
 * controller reads them, as the user: root only passes them on.
 */
#pragma once

#include "libmalleable/core/arguments.h"

/*
 * Make PATH, of SIZE bytes, of NAME: %j job, %s step (0 without a number in FACTS' step), %a task
 * of the array (0: none), %A job of the whole array, %n number of the node, %h its name up to the
 * first point, %x the job's name, %% a percent sign; %4j has leading zeros. Anything else stays.
 * In an array .TASK is added to a name with neither %a nor %j, and with node_files .NODE to one
 * with neither %n nor %h; *ADDED says whether. Returns PATH, or NAME where that would not fit.
 * Thread safe.
 */
const char *mal_file_name(const char *name, const struct mal_arguments *facts, char *path,
			  size_t size, bool *added);
