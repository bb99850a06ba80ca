/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.h: threads that work: the table's lock, and the sleep until the work is done.
 *
 * The kernel wakes a thread up some time after its work was done. Its next work begins by as much
 * earlier (at most NODE_CREDIT_NS), so what a thread takes for a row of works is late by one
 * wake-up, not by their sum. Where threads wait for each other the last one to come decides, and if
 * it comes late by more than it began early all are late. So for each process it is added up, with
 * its sign, by how much that was more, for the last thread of each phase, the time in which at least
 * one of its threads works. A process that is late at one and early at the next has lost nothing.
 *
 * A thread that the program wakes up, to begin a phase, may have to wait for a real CPU too: at its
 * end a process says how long its threads did. That is a little too much, as waits at the end of a
 * work count, which the next one makes good.
 */
#ifndef NODE_RUN_H
#define NODE_RUN_H

#include "table.h"

#define NODE_CREDIT_NS 1000000u

/* Of thread SELF. A lock whose owner was killed is taken over. */
void node_lock(struct node_table *table, uint32_t self);
void node_unlock(struct node_table *table);

/* The calling thread, SELF, works for NS. Returns how often it slept. */
unsigned int node_run(struct node_table *table, uint32_t self, uint64_t ns);

/* SELF, the first thread of a process that ends: its threads waited NS for a real CPU. */
void node_waited(struct node_table *table, uint32_t self, uint64_t ns);

#endif
