/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.h: threads that work: the table's lock, and the sleep until the work is done.
 *
 * The kernel wakes a thread up some time after its work was done. Its next work begins by as much
 * earlier (at most NODE_CREDIT_NS), so what a thread takes for a row of works is late by one
 * wake-up, not by their sum.
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

#endif
