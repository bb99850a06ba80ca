/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * entries.h: root's files by which the steps of a job find each other on a node:
 * /run/malleable/JOB/{STEP,cgroup,lock}.
 *
 * Only steps with grow=job or pool=job have one. All functions are for root and, but for
 * balance_entries_exist(), for the holder of the job's lock.
 */
#pragma once

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"
#include "libmalleable/core/rundir.h"
#include "spank/cgroup.h"

/* A step's file. */
struct balance_entry {
	unsigned int step;
	struct mal_cpumask own, idle; /* CPUs from Slurm; further CPUs that it may use */
	unsigned int pooled; /* with pool=job: IDLE includes the CPUs of the other such steps */
	char socket[64];     /* name of its controller's socket, empty: not started yet */
	int pid;	     /* process of its slurmstepd */
};

/*
 * Create the directory PATH in MAL_RUN_DIR, and that, owned by root, if they do not exist: PATH
 * with MODE. Returns 0, or -1 with ERR.
 */
int balance_directory_make(const char *path, unsigned int mode, struct mal_error *err);

/* Remove both; those with files in them stay. */
void balance_directory_leave(const char *path);

/* Whether JOB has any files. Cheap. */
bool balance_entries_exist(unsigned int job);

/*
 * Take the lock of JOB's files, waiting TIMEOUT_MS at most; CREATE creates the files. Returns a
 * descriptor for the caller to close, which releases the lock, or -1 with ERR.
 */
int balance_entries_lock(unsigned int job, bool create, int timeout_ms, struct mal_error *err);

/*
 * Store and read the job's cgroup, for steps that have no other need to look for it. The first
 * returns 0, or -1 with ERR; the second false if it is not stored.
 */
int balance_entries_set_cgroup(unsigned int job, const struct balance_cgroup *cgroup,
			       struct mal_error *err);
bool balance_entries_get_cgroup(unsigned int job, struct balance_cgroup *cgroup);

/* Read STEP's file into ENTRY, which stays as it is if there is none, or an invalid one: false. */
bool balance_entry_read(unsigned int job, unsigned int step, struct balance_entry *entry);

/* Write ENTRY's file, atomically. Returns 0, or -1 with ERR. */
int balance_entry_write(unsigned int job, const struct balance_entry *entry, struct mal_error *err);

/* Remove STEP's file, and with the last one all files of the job. */
void balance_entry_remove(unsigned int job, unsigned int step);

/* Remove all files of the job if no step has one. Returns whether that is so. */
bool balance_entries_tidy(unsigned int job);

/*
 * Read the next file from step *NEXT on, and advance that; invalid files are removed. False: none
 * is left.
 */
bool balance_entry_next(unsigned int job, unsigned int *next, struct balance_entry *entry);

/* The next job with files from *NEXT on. Advances *NEXT. False: none is left. */
bool balance_entries_next_job(unsigned int *next, unsigned int *job);
