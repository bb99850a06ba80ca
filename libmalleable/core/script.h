/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * script.h: whether a batch script of a balanced job started ranks where the plugin sees them.
 *
 * srun, malleable-join and `malleable run` send a byte to slurmstepd, through an abstract socket:
 * no file is left. So does the slurmstepd of a step of srun's to which no rank came. Another user
 * who takes the socket's name, or fills its queue, changes one line in the job's output, and
 * nothing else.
 */
#ifndef MAL_CORE_SCRIPT_H
#define MAL_CORE_SCRIPT_H

#include <stdbool.h>
#include <sys/types.h>

/* In the cgroup of JOB: open the socket for its script. Returns a descriptor, or -1. */
int mal_script_listen(unsigned int job);

enum mal_script_news {
	MAL_SCRIPT_NOTHING,  /* nothing was started */
	MAL_SCRIPT_NO_RANKS, /* something was, and no rank came */
	MAL_SCRIPT_RANKS,    /* ranks came, or may have come */
};

/* What has come to FD, such a socket, for the script of USER. */
enum mal_script_news mal_script_hear(int fd, uid_t user);

/*
 * Something starts in the script of the job that this process is in, if it has one. Does not wait.
 */
void mal_script_tell(void);

/* In the cgroup of JOB: no rank came to a step that mal_script_tell() told of. Does not wait. */
void mal_script_tell_no_ranks(unsigned int job);

#endif
