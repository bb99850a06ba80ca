/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * script.h: whether a batch script of a balanced job started ranks where the plugin sees them.
 *
 * srun, malleable-join and `malleable run` send a byte to slurmstepd, through an abstract socket:
 * no file is left. Another user who takes the socket's name, or fills its queue, changes one line
 * in the job's output, and nothing else.
 */
#ifndef MAL_CORE_SCRIPT_H
#define MAL_CORE_SCRIPT_H

#include <stdbool.h>
#include <sys/types.h>

/* In the cgroup of JOB: open the socket for its script. Returns a descriptor, or -1. */
int mal_script_listen(unsigned int job);

/* Whether a byte of USER has come to FD, such a socket. */
bool mal_script_heard(int fd, uid_t user);

/* Send the byte to the script of the job that this process is in, if it has one. Does not wait. */
void mal_script_tell(void);

#endif
