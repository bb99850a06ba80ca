/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.h: threads that work: the table's lock, and the sleep until the work is done.
 *
 * The kernel wakes a thread up some time after its work was done. Its next work begins by as much
 * earlier, so what a thread takes for a row of works is late by one
 * wake-up, not by their sum. Where another thread has the core meanwhile nothing is lost either.
 *
 * After a wait it is 1 ms at most, as others may have waited for it, or it for them.
 *
 * Where threads wait for each other, the last one to come decides: if it is late all are. That is no
 * more than made good where the same thread is the last one each time, and may be lost where it is
 * another. So for each process it is added up, with its sign, by how much more the last thread of a
 * phase was late at its end than at its begin. A phase is a time in which at least one of its
 * threads works. A thread that the program wakes up to begin one may have to wait for a real CPU
 * too: at its end a process says how long its threads did, on average, less what was made good.
 * What OpenMP and MPI take on few real CPUs in place of many is not known, and not in that.
 */
#ifndef NODE_RUN_H
#define NODE_RUN_H

#include "table.h"

/* Of thread SELF. A lock whose owner was killed is taken over. */
void node_lock(struct node_table *table, uint32_t self);
void node_unlock(struct node_table *table);

/* The calling thread, SELF, works for NS. Returns how often it slept. */
unsigned int node_run(struct node_table *table, uint32_t self, uint64_t ns);

/* SELF, the first thread of a process that ends: its threads waited NS for a real CPU. */
void node_waited(struct node_table *table, uint32_t self, uint64_t ns);

#endif
