/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* job_path.h: a job's directory in the path of a cgroup of Slurm's. */
#pragma once

/*
 * The end of the name of a job's directory in PATH, a cgroup's; NULL: it is not of a job. Slurm
 * calls the directory job_N; 26.05 under cgroup v2 after the job's SLUID, such as s4SNKN57XZTE00,
 * unless CgroupJobIdPaths=yes (26.05.2).
 */
const char *mal_job_path_end(const char *path);
