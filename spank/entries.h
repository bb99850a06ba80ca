/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * entries.h: the files of root by which the steps of a job find each other on a node: /run/malleable/JOB/{STEP,cgroup,lock}.
 *
 * Only steps with grow=job or pool=job have one, as long as their controllers live. All of this is for root, and but for
 * balance_entries_exist() for who has the job's lock.
 */
#ifndef MAL_SPANK_ENTRIES_H
#define MAL_SPANK_ENTRIES_H

#include "libmalleable/core/cpumask.h"
#include "libmalleable/core/error.h"
#include "spank/cgroup.h"

/* What a file says. */
struct balance_entry {
	unsigned int step;
	struct mal_cpumask own, idle; /* what Slurm gave it; what it may use beside */
	unsigned int pooled;	      /* with pool=job: idle has the CPUs of the other such steps too */
	int pid;
	unsigned int uid;
};

/* Does JOB have any? Cheap. */
bool balance_entries_exist(unsigned int job);

/*
 * Take the lock of JOB's files, which are made where CREATE says so. Returns a descriptor, to be closed, or -1 with ERR: there are none,
 * or another step holds it for too long.
 */
int balance_entries_lock(unsigned int job, bool create, struct mal_error *err);

/* The job's cgroup, for steps that have nothing else to look for. */
void balance_entries_set_cgroup(unsigned int job, const struct balance_cgroup *cgroup);
bool balance_entries_get_cgroup(unsigned int job, struct balance_cgroup *cgroup);

/* STEP's. False: it has none, or it cannot be read. */
bool balance_entry_read(unsigned int job, unsigned int step, struct balance_entry *entry);
void balance_entry_write(unsigned int job, const struct balance_entry *entry);

/* Remove STEP's, and with the last of them all that is left of the job. */
void balance_entry_remove(unsigned int job, unsigned int step);

/* The next from step *NEXT on whose controller lives; others are removed. False: there is none. */
bool balance_entry_next(unsigned int job, unsigned int *next, struct balance_entry *entry);

/* Remove those of other jobs whose steps died with their slurmstepd. */
void balance_entries_clean_up(unsigned int own_job);

#endif
