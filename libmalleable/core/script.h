/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * script.h: the pipe of a batch script in a balanced job, by which its slurmstepd hears whether
 * ranks started where the plugin sees them, and its launchers share its CPUs out.
 *
 * Root makes it in MAL_SCRIPT_DIR, named by the job and by slurmstepd's process number, and its
 * user alone may open it: a stranger can neither take the name nor fill the pipe
 * (t/unit/test_script.c). srun, malleable-join and `malleable run` write a byte, and so does the
 * slurmstepd of a step of srun's to which no rank connected. What the user writes there changes one
 * line in the job's own output, and nothing else.
 *
 * Root opens no pipe of other jobs: who reads into a page that never comes holds the pipe's lock in
 * the kernel, upon which O_NONBLOCK waits too.
 */
#pragma once

#include <sys/types.h>

#include "libmalleable/base/error.h"
#include "libmalleable/core/rundir.h"

#define MAL_SCRIPT_DIR MAL_RUN_DIR "/scripts"
#define MAL_SCRIPT_PATH 64

/* MAL_SCRIPT_DIR, but in tests. */
extern const char *mal_script_directory;

/*
 * As root, in the cgroup of JOB: make the pipe for its script, which is USER's and GROUP's, in
 * MAL_SCRIPT_DIR, which exists. Returns a descriptor with PATH, which the caller unlinks, or -1
 * with ERR.
 */
int mal_script_listen(unsigned int job, pid_t slurmstepd, uid_t user, gid_t group,
		      char path[MAL_SCRIPT_PATH], struct mal_error *err);

/* As root: make the pipe PATH, USER's and GROUP's. Returns a descriptor, or -1 with ERR. */
int mal_script_make_pipe(const char *path, uid_t user, gid_t group, struct mal_error *err);

enum mal_script_news {
	MAL_SCRIPT_NOTHING,  /* nothing was started */
	MAL_SCRIPT_NO_RANKS, /* something was, and no rank connected */
	MAL_SCRIPT_RANKS,    /* ranks came, or may have come */
};

/* What has come to FD, such a pipe. Reads 64 KiB at most, and does not wait. */
enum mal_script_news mal_script_hear(int fd);

/*
 * Open the pipe of the script of the job that this process is in. Does not wait. Returns a
 * descriptor for the caller to close, or -1 with errno: there is no such script on this node.
 */
int mal_script_open(void);

/* Ranks may start: tell the script of the job, if there is one. Does not wait. */
void mal_script_tell(void);

/* In JOB's cgroup: no rank connected to a step that mal_script_tell() told of. Does not wait. */
void mal_script_tell_no_ranks(unsigned int job);
