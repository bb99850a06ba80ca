/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * version.h: what differs between the versions of Slurm that the plugin is built for (22.05 to
 * 26.05). No other file asks for the version, or knows what belongs to one version alone, but for
 * core/job_path.h: where cgroups are.
 */
#pragma once

#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "libmalleable/core/settings.h"

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

/* CHANGE is for the job of that NUMBER. */
static inline void balance_version_set_job(job_desc_msg_t *change, uint32_t number)
{
#if BALANCE_SLURM_IS(25, 11)
	change->step_id.job_id = number;
#else
	change->job_id = number;
#endif
}

/* Whether jobs have the field that COMMENT (enum mal_comment) names, and it can be written. */
static inline bool balance_version_has_comment(unsigned int comment)
{
#ifndef HAVE_JOB_DESC_MSG_T_SYSTEM_COMMENT
	if (comment == MAL_COMMENT_SYSTEM)
		return false;
#endif
#ifndef HAVE_JOB_INFO_T_EXTRA
	if (comment == MAL_COMMENT_EXTRA)
		return false;
#endif
	return comment <= MAL_COMMENT_EXTRA;
}

/* Where CHANGE has the comment FIELD, which is *BEFORE in JOB; NULL: there is no such field. */
static inline char **balance_version_comment(const char *field, const job_info_t *job,
					     job_desc_msg_t *change, const char **before)
{
	if (strcmp(field, "admin") == 0) {
		*before = job->admin_comment;
		return &change->admin_comment;
	}
#ifdef HAVE_JOB_DESC_MSG_T_SYSTEM_COMMENT
	if (strcmp(field, "system") == 0) {
		*before = job->system_comment;
		return &change->system_comment;
	}
#endif
#ifdef HAVE_JOB_INFO_T_EXTRA
	if (strcmp(field, "extra") == 0) {
		*before = job->extra;
		return &change->extra;
	}
#endif
	return NULL;
}
