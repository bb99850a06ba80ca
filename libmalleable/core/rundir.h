/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rundir.h: directories of the controllers' sockets.
 *
 * Sockets of Slurm's steps are in MAL_SOCKET_DIR, which only root can write to: a socket's owner
 * says whose the step is, and nobody can take its name. The name is JOB.STEP.PID, with the process
 * number of slurmstepd. Sockets of `malleable run` are in a directory owned by the user.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/base/error.h"

/* Root's files, which all users may enter; the directories of jobs in it are for root only. */
#define MAL_RUN_DIR "/run/malleable"
#define MAL_SOCKET_DIR MAL_RUN_DIR "/sockets"

/* Longest path of a socket (sun_path in unix(7)). */
#define MAL_SOCKET_PATH 108

/*
 * Find the directory for sockets of the caller's own controllers, in XDG_RUNTIME_DIR or /tmp;
 * CREATE creates it. Returns 0 with PATH, or -1 with ERR: it does not exist, or others may write to
 * it.
 */
int mal_rundir_find_own(bool create, char *path, size_t size, struct mal_error *err);

/*
 * Remove files of the directory PATH that processes left which are gone: the number of one is all
 * of a file's name, or stands behind its last dot. Those that are IN_USE (may be NULL) stay.
 */
void mal_rundir_clean_up(const char *path, bool (*in_use)(const char *path));
