/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * malleable_control.h: see and change balanced steps from outside, as malleable status and
 * malleable set do: for workflow tools, schedulers of a user's own and dashboards. Link with
 * -lmalleable_control. The caller need be no rank; a rank that steers its own step may call it too.
 *
 * Functions return 0 or more, or below 0 an enum malleable_control_error: nothing has changed then,
 * and malleable_control_message() is the reason in one line. They wait for an answer for 2 s at
 * most (times MALLEABLE_PATIENCE). They print nothing, start no thread, and install no signal
 * handler; descriptors are close-on-exec. A handle is for one thread at a time; different handles
 * may be used by different threads at once. None is for signal handlers.
 *
 * CPUs, ranks and steps are those of this node. A step belongs to the user who started it, and
 * nobody else may open it; root becomes that user first, as malleable status does, so that root
 * never reads what a user wrote.
 */
#ifndef MALLEABLE_CONTROL_H
#define MALLEABLE_CONTROL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. */
#define MALLEABLE_CONTROL_API 1

enum malleable_control_error {
	MALLEABLE_CONTROL_NO_STEP = -1,	    /* there is none of that name here */
	MALLEABLE_CONTROL_NOT_ALLOWED = -2, /* it is another user's */
	MALLEABLE_CONTROL_TIMEOUT = -3,	    /* its controller did not answer in time */
	MALLEABLE_CONTROL_REFUSED = -4,	    /* its controller refused the order */
	MALLEABLE_CONTROL_INVALID = -5,	    /* an argument is wrong */
	MALLEABLE_CONTROL_GONE = -6,	    /* the step has ended since */
	MALLEABLE_CONTROL_SYSTEM = -7,	    /* no memory, no descriptor */
};

typedef struct malleable_control malleable_control;

/*
 * A balanced step here. NAME as in malleable status (12.0, mpirun.4711); NULL: its controller does
 * not answer. One name may have several controllers, as of two mpirun in a step: each has a SOCKET.
 */
struct malleable_control_step {
	size_t size; /* of this struct, which may grow at its end */
	const char *name, *socket;
	unsigned int uid, gid; /* of its user */
};

/*
 * Call FOUND with ARGUMENT for each balanced step of the caller here (for root: of all users),
 * until it returns other than 0, which is returned then. STEP lives until FOUND returns.
 */
typedef int malleable_control_found(const struct malleable_control_step *step, void *argument);
int malleable_control_steps(malleable_control_found *found, void *argument);

/*
 * How many steps here are left out, as they are other users'. Own ones of mpirun and malleable run
 * are left out, too, where their directory is not to be trusted: the reason, or nothing, goes into
 * WHY of SIZE bytes.
 */
int malleable_control_hidden(char *why, size_t size);

/*
 * Open the step of that NAME (without .PID where only one is so named), or with that socket, which
 * begins with a slash; NULL: the step in which the caller runs. *CONTROL is the caller's until
 * malleable_control_close(), also after the step has ended: calls return MALLEABLE_CONTROL_GONE
 * then.
 */
int malleable_control_open(const char *name, malleable_control **control);
void malleable_control_close(malleable_control *control);

/*
 * Why the last call with CONTROL failed; NULL: the last that this thread made without one. Empty if
 * none failed. It lives until the next call with that handle, or of that thread.
 */
const char *malleable_control_message(const malleable_control *control);

/*
 * The step's status into *JSON, for the caller to free() (malleable_control_free() does the same):
 * the object that malleable status --json prints (doc/status.schema.json).
 */
int malleable_control_status(malleable_control *control, char **json);
void malleable_control_free(void *text);

/*
 * The CPUs that RANK owns now as a list such as 0-3,8 into LIST of SIZE bytes, cut if there is no
 * room. Returns how many CPUs there are.
 */
int malleable_control_cpus(malleable_control *control, int rank, char *list, size_t size);

/*
 * What all ranks here did in the region NAME of their program (malleable_region()) so far: seconds
 * of the rank with most, but for mpi_s, which is summed. Efficiencies are parts of 1 as in the
 * report; NaN: not known. Begin with {.size = sizeof(struct malleable_control_times)}.
 */
struct malleable_control_times {
	size_t size;		 /* of this struct, which may grow at its end */
	unsigned long long runs; /* of the rank with most */
	int ranks, cpus;	 /* that ran it; with which these started */
	double elapsed_s, mpi_s, offered_s;
	double outside_part;  /* of its CPUs' time in waits outside MPI */
	double offer_saves_s; /* of the step, at most, if these CPUs were offered */
	double parallel;      /* mpi x openmp */
	double mpi;	      /* load_balance x communication */
	double load_balance, communication;
	double openmp; /* serial x regions */
	double serial, regions;
};
int malleable_control_region(malleable_control *control, const char *name,
			     struct malleable_control_times *times);

/*
 * Orders override the policy from the next phase on, until they are removed or the step ends; see
 * malleable set in malleable(1). RANK is a number on this node, as in the status.
 */
#define MALLEABLE_CONTROL_ALL_RANKS (-1)
/* The rank gets the CPUs of LIST. */
int malleable_control_set_cpus(malleable_control *control, int rank, const char *list);
/* It has MIN CPUs at least and MAX at most; 0: as it is. */
int malleable_control_set_count(malleable_control *control, int rank, int min, int max);
/* Remove the orders. */
int malleable_control_free_orders(malleable_control *control, int rank);
/* Change the step's policy; TEXT as in srun --balance. Orders for ranks stay. */
int malleable_control_set_policy(malleable_control *control, const char *text);

/*
 * Several orders, of which all hold or none, and which ranks carry out in one plan: so they may
 * swap CPUs. TEXT has a line for each: the rank or "all", and cpus=LIST, count=N, min=N, max=N or
 * free; policy=TEXT, for all, is the step's. Empty lines, and those that begin with #, are skipped.
 */
int malleable_control_set_many(malleable_control *control, const char *text);

/*
 * Wait until all CPUs have gone where orders and policy sent them, TIMEOUT_MS at most; below 0: no
 * limit. Returns 1, or 0 if some have not come in time: the message has how many.
 */
int malleable_control_await(malleable_control *control, int timeout_ms);

/*
 * A descriptor from which lines of JSON come, one for each event in the step, and the end of file
 * when it has ended; for poll(), libevent or asyncio. It blocks, and the caller closes it. Events
 * are described in malleable_control(3). Lends are too many to be told; the status counts them. A
 * reader that does not read loses events, and is told how many. 16 readers at most.
 */
int malleable_control_events(malleable_control *control);

/*
 * From now on orders of this handle end when it is closed or its process dies.
 */
int malleable_control_hold(malleable_control *control);

#ifdef __cplusplus
}
#endif

#endif
