/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * confine.h: give up privileges and system calls that a process started by root never needs.
 *
 * It runs as the ranks' user, who can do anything that it could do. This limits what an attacker
 * gains from a bug in our code, or by injecting code into it from the step's own processes.
 */
#pragma once

#include <stdbool.h>

/*
 * Confine this process and those it starts: no new privileges by execve(2) and, if built with
 * libseccomp and supported by the kernel, no system calls that change identities, namespaces,
 * mounts, the kernel or other processes' memory; they fail with EPERM. RUNS_PROGRAMS false: no
 * execve(2) either. Call it after giving up root and before starting threads. What is not possible
 * is left out silently.
 */
void mal_confine(bool runs_programs);
