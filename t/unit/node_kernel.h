/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * node_kernel.h: what the controller sees of the machine in node_controller.c: processes,
 * affinities, time, sockets.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/base/cpumask.h"

#define NODE_KERNEL_THREADS 3u

struct node_process {
	int32_t pid; /* of its first thread; the others follow */
	bool alive;
	struct mal_cpumask may[NODE_KERNEL_THREADS]; /* by thread: its affinity */
	unsigned int insists
		[NODE_KERNEL_THREADS]; /* CPU to which it binds itself again, MAL_NO_CPU: none */
	uint64_t waited_ns[NODE_KERNEL_THREADS]; /* by thread: in run queues */
};

/* Clients' descriptors, which are none, from here on in the order in which they came. */
#define NODE_FIRST_CLIENT 100000

struct node_kernel {
	uint64_t ns;
	int32_t last_pid;
	struct node_process *processes; /* by rank */
	unsigned int process_count;
	/* Called where the loop would sleep. */
	void (*sleeps)(void);
	bool off;
	bool blind; /* /proc shows no threads, for want of descriptors */
	const char *stat;
	bool counts_waits; /* as kernels with CONFIG_SCHED_INFO do */
	/* Clients that wait with the same request, and what the last of them was answered. */
	const char *request;
	unsigned int clients;
	char *answer;
	int accepted, asks, gone; /* so many; who has sent the request; who has gone */
	char events[8192];	  /* what those who read events were sent */
	bool deaf;		  /* they have no room for more */
	bool floods;		  /* all send that request without end */
	/* Other controllers. */
	const char *others;
	bool others_obey, others_live;
	char told[4096];
	int timeout_ms; /* for which one of them was waited last */
};

extern struct node_kernel node_kernel;

/* A new process whose threads may run on CPUS. */
void node_kernel_start(struct node_process *process, const struct mal_cpumask *cpus);
