/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * version.h: what differs between the versions of Slurm that the plugin is built for (22.05 to
 * 26.05). No other file asks for the version, or knows what belongs to one version alone, but for
 * core/job_path.h: where cgroups are.
 */
#pragma once

#include <slurm/slurm.h>
#include <stdint.h>

/* 1 if Slurm's headers are of MAJOR.MINOR or later. */
#define BALANCE_SLURM_IS(major, minor) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, 0))

/* The number of JOB, as slurmctld describes it. */
static inline uint32_t balance_version_job(const job_info_t *job)
{
#if BALANCE_SLURM_IS(25, 11)
	return job->step_id.job_id;
#else
	return job->job_id;
#endif
}

/* Load the job of that NUMBER, and what belongs to it, into LIST, as slurm_load_job(3). */
static inline int balance_version_load_job(job_info_msg_t **list, uint32_t number)
{
#if BALANCE_SLURM_IS(26, 5)
	slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;

	id.job_id = number;
#else
	uint32_t id = number;
#endif
	return slurm_load_job(list, id, SHOW_ALL);
}
