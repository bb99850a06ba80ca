/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.h: threads that work: the table's lock, and the sleep until the work is done.
 *
 * The kernel wakes a thread up some time after its work was done. Its next work begins by as much
 * earlier, so what a thread takes for a row of works is late by one wake-up, not by their sum; and
 * where another thread has the core meanwhile, nothing is lost either.
 *
 * Where threads wait for each other the last one to come decides: if it is late, all are. If it
 * begins earlier by as much after the wait, that is made good where it is the last one again. Where
 * it is not, the others' time is lost, and where it was late but not the last, it is ahead now: so
 * it begins by 1 ms earlier at most after a wait. What is not made good at once is taken for lost;
 * runs were later than theory by two to three times what threads lost so on average, as teams wait
 * for the last thread.
 */
#pragma once

#include "table.h"

/* Of thread SELF. A lock whose owner was killed is taken over. */
void node_lock(struct node_table *table, uint32_t self);
void node_unlock(struct node_table *table);

/* The calling thread, SELF, works for NS. Returns how often it slept. */
unsigned int node_run(struct node_table *table, uint32_t self, uint64_t ns);
