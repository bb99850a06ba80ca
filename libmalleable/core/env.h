/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* env.h: the environment variables by which the starter of a balanced step sets up its ranks. */
#pragma once

/* Number of the segment's inherited descriptor. */
#define MAL_ENV_SEGMENT_FD "MALLEABLE_SEGMENT_FD"
/*
 * The controller's socket: for the summary of a node, and for the segment if a wrapper closed the
 * descriptor.
 */
#define MAL_ENV_SOCKET "MALLEABLE_SOCKET"
/* The cgroup of the step, below which its tasks are; not set if it has none. */
#define MAL_ENV_CGROUP "MALLEABLE_CGROUP"
/* Set if KMP_HOT_TEAMS_MODE is ours. */
#define MAL_ENV_HOT_TEAMS "MALLEABLE_HOT_TEAMS"
/* CPUs of the step on this node: the ranks never leave them, whatever the segment says. */
#define MAL_ENV_CPUS "MALLEABLE_CPUS"
/* The CPUs that the step started with, if it may have more for a time. */
#define MAL_ENV_HOME "MALLEABLE_HOME"
/* Number of this rank among those of the step on this node, from 0. */
#define MAL_ENV_LOCAL_RANK "MALLEABLE_LOCAL_RANK"
/* Processes that no launcher numbers take the first free of so many ranks. */
#define MAL_ENV_RANKS "MALLEABLE_RANKS"
/* How the team follows the cpuset: auto, team or cpuset. */
#define MAL_ENV_MODE "MALLEABLE_MODE"
/* Number of nodes of a step on several, whose summaries are collected at its end. */
#define MAL_ENV_NODES "MALLEABLE_NODES"
/* "keep": programs built for GCC's libgomp keep using it. */
#define MAL_ENV_GOMP "MALLEABLE_GOMP"
/* Number of threads that is reported to the program at first. */
#define MAL_ENV_MAX_THREADS "MALLEABLE_MAX_THREADS"
/* "yes": what a region's code shows decides on its team. */
#define MAL_ENV_PROVE "MALLEABLE_PROVE"
/* What may change bits of results: strict or keep; else free. */
#define MAL_ENV_BITS "MALLEABLE_BITS"
/* "yes": nobody asked for balancing, so that ranks do not say why one of them has none. */
#define MAL_ENV_QUIET "MALLEABLE_QUIET"
/* The factor for all deadlines (base/patience.h). */
#define MAL_ENV_PATIENCE "MALLEABLE_PATIENCE"
/*
 * In a batch script of a balanced job: the policy, as in --balance, for ranks that are started
 * there.
 */
#define MAL_ENV_JOB "MALLEABLE_JOB"
/* The policies that are allowed there, if not all are. */
#define MAL_ENV_JOB_POLICIES "MALLEABLE_JOB_POLICIES"
/* What is printed there, as in --balance-report, if nobody asked for balancing. */
#define MAL_ENV_JOB_REPORT "MALLEABLE_JOB_REPORT"
/* The site's defaults there for some programs: POLICY@program=NAMES, separated by blanks. */
#define MAL_ENV_JOB_PROGRAMS "MALLEABLE_JOB_PROGRAMS"

/*
 * The segment's descriptor gets the first free number from here on: high, so that programs do not
 * collide with it, but below 64, because growing the descriptor table of a process with threads
 * waits for an RCU grace period, 5 to 20 ms (measured in slurmstepd; expand_fdtable in the kernel's
 * fs/file.c).
 */
#define MAL_SEGMENT_FD_MIN 40

/* A launcher's ranks are on so many nodes at most. */
#define MAL_LAUNCHED_NODES 65536
