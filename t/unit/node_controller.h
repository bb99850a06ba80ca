/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * node_controller.h: a whole node in this process: a controller as malleabled makes it, ranks that
 * are structs, a kernel that is a table,
 * and a clock that the test turns. Nothing sleeps, and nothing of the machine is touched.
 *
 * Tests see struct mal_controller as a name alone: what they set and read of it goes through the
 * functions here. One node at a time.
 */
#pragma once

#include "t/unit/unit.h"

#include <stdbool.h>
#include <string.h>

#include "libmalleable/controller/load/plausibility.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/state/controller.h"
#include "policies/interface/policy.h"

/* Threads of each rank's process: a team of two, and one that is of no team. */
#define NODE_TEAM 2u
#define NODE_THREADS 3u

/*
 * A controller with RANKS ranks, none of which has come, and CPUS CPUs for each: rank R starts on
 * those from R * CPUS on. OPTIONS is what
 * malleabled is told beside its segment, separated by blanks: "--policy=lewi --nodes=3"; CPUs of
 * --idle lie behind those of the ranks.
 */
struct mal_controller *node_open(unsigned int ranks, unsigned int cpus, const char *options);
/* The same with all ranks running and the policy's rules said. */
struct mal_controller *node_start(unsigned int ranks, unsigned int cpus, const char *options);
void node_close(struct mal_controller *node);

/* Time passes; nothing else does that. */
void node_pass(double seconds);

/* What the ranks see: their own mapping of the segment. */
struct mal_segment *node_segment(void);
struct mal_rank_slot *node_slot(unsigned int rank);
struct mal_thread_slot *node_thread(unsigned int rank, unsigned int index);
struct mal_cpu_state node_cpu(unsigned int cpu);
void node_set_cpu(unsigned int cpu, unsigned int owner, unsigned int user, bool lent);
unsigned int node_rank_count(void);
unsigned int node_cpu_count(void);

/*
 * A rank comes, leaves in order (its process goes on), is killed. The controller sees it when it
 * looks.
 */
void node_rank_start(unsigned int rank);
void node_rank_end(unsigned int rank);
void node_rank_kill(unsigned int rank);
/* May thread INDEX of RANK run on CPU, as the kernel says? */
bool node_may_run(unsigned int rank, unsigned int index, unsigned int cpu);
/* The thread binds itself to CPU again whenever it was bound; CPU MAL_NO_CPU: no longer. */
void node_insist(unsigned int rank, unsigned int index, unsigned int cpu);
/* Ranks carry out the plan, as at the end of a phase. */
void node_obey(void);

/*
 * RANK says a sample, with what is added to the last: seconds of its team's WORK, of the primary
 * thread, in MPI.
 */
void node_say(unsigned int rank, double work_s, double serial_s, double mpi_s);
/* What RANK said last, to be changed into a lie: said again at once. */
void node_lie(unsigned int rank, const struct mal_snapshot *said);
struct mal_snapshot node_said(unsigned int rank);

/* The controller takes the round, complete or not, as in its loop. */
void node_take(struct mal_controller *node);
/*
 * SECONDS pass, all running ranks say WORK (by rank) and wait in MPI for the rest, and the
 * controller takes it.
 */
void node_window(struct mal_controller *node, double seconds, const double *work_s);
/* Two such windows, of which the first makes the start. */
void node_begin(struct mal_controller *node);
/* The controller's own loop, until TURN, called where it would sleep, returns false. */
void node_run(struct mal_controller *node, bool (*turn)(struct mal_controller *node, void *context),
	      void *context);

/* The trace is complete; what was wrong with it. */
const char *node_end_recording(struct mal_controller *node);

/* What the controller answers to REQUEST over its socket, until the next one is asked. */
const char *node_ask(struct mal_controller *node, const char *request);

/*
 * COUNT clients wait with REQUEST, and the controller serves. node_clients_left: those that still
 * wait.
 */
void node_clients_wait(struct mal_controller *node, unsigned int count, const char *request);
unsigned int node_clients_left(void);

/*
 * What other controllers answer to "pool"; NULL: nothing. node_told: the last offer or withdraw
 * that was sent to one.
 */
void node_others_answer(const char *answer, bool obeys);
const char *node_told(void);
/* Another controller of the pool, before us, is alive. */
void node_others_live(bool live);

/*
 * Policy "puppet" decides so: PLAN's scalars, and COUNT (by rank) where it moves. PLAN NULL: it has
 * no opinion.
 */
void node_puppet(const struct mal_plan *plan, const unsigned int *count);
/* Policy puppet does not start any more. */
void node_puppet_fails(bool fails);
/* So often was it asked. */
unsigned int node_puppet_asked(void);

/* What the controller knows. */
const struct mal_sample *node_sample(const struct mal_controller *node, unsigned int rank);
const struct mal_rank_view *node_rank(const struct mal_controller *node, unsigned int rank);
const struct mal_totals *node_totals(const struct mal_controller *node);
const struct mal_plausibility *node_plausibility(const struct mal_controller *node);
/* Changes of CPUs that were noted. */
size_t node_history(const struct mal_controller *node);
unsigned int node_plans(const struct mal_controller *node);
double node_window_s(const struct mal_controller *node);
uint64_t node_stride(const struct mal_controller *node);
const char *node_rejected(const struct mal_controller *node);
const char *node_policy(const struct mal_controller *node);
bool node_is_settling(const struct mal_controller *node);
bool node_binds(const struct mal_controller *node);
/* Sets of CPUs as text, "0-3"; each call has room of its own, eight deep. */
const char *node_idle(const struct mal_controller *node);
const char *node_leaving(const struct mal_controller *node);
const char *node_kept(const struct mal_controller *node);
const char *node_owned(unsigned int rank);
const char *node_planned(unsigned int rank);
const char *node_format(const struct mal_cpumask *mask);

/* What came of a step that was not run. */
void node_set_totals(struct mal_controller *node, struct mal_totals totals);
void node_set_plausibility(struct mal_controller *node, struct mal_plausibility found);
void node_set_kept(struct mal_controller *node, const char *cpus);
void node_set_was_off(struct mal_controller *node);
/* The file by which the administrator switches off is there, and root's. */
void node_admin_switch(bool off);
/* The controller cannot look at threads, for want of descriptors. */
void node_set_blind(bool blind);
/* What /proc/stat says; NULL: it cannot be read, as at first. It must outlive the node. */
void node_set_stat(const char *stat);
/* Thread THREAD of RANK waits for another S seconds in run queues, which the kernel counts. */
void node_thread_waits(unsigned int rank, unsigned int thread, double s);

/*
 * Is all as it must be at any time? NULL, or what is wrong: each CPU has one owner at most, a rank
 * that runs has one or is to get one, nothing is outside.
 */
const char *node_wrong(const struct mal_controller *node);
