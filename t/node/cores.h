/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cores.h: who works on which core, and until when: the cores' turns in the time that they take.
 *
 * Nobody has to wake up for a turn to begin or end: whoever looks at a core counts what was worked
 * on it since, and foretells from its queue when a thread's work will be done. So a thread sleeps
 * until then, and only what others do meanwhile can change it; who makes it earlier rings its bell.
 *
 * Turns are of table->slice. A thread alone keeps its core. A new one waits for the rest of the
 * turn of who is there at most. A thread whose next work begins within NODE_STAYS_NS is taken to
 * have computed between: it still has its turn, and no thread that may use several cores chooses
 * this one.
 *
 * All moments are the caller's, none is read from a clock. The caller has the lock.
 */
#pragma once

#include "table.h"

#define NODE_STAYS_NS 500000u

/* The core for a thread: its present one if it may use it and nobody is there, else the best. */
int node_choose_core(struct node_table *table, uint32_t tid, uint64_t now);

/* TID has NS of work from BEGIN on, or from when its core's last work was counted: that moment. */
uint64_t node_begin(struct node_table *table, uint32_t tid, uint64_t ns, uint64_t begin);

/* When TID's work will be done, if nobody comes. */
uint64_t node_end(const struct node_table *table, uint32_t tid);

/* Count what was worked on a core until NOW. Who is done leaves the queue. */
void node_count(struct node_table *table, unsigned int core, uint64_t now);

/* TID's mask is another: its work goes on, and it is, on a core that it may use. */
void node_move(struct node_table *table, uint32_t tid, uint64_t now);

/* TID, which works, goes to an idle core that it may use if others are on its own. */
void node_balance(struct node_table *table, uint32_t tid, uint64_t now);

/* TID's thread has ended, or has been killed. */
void node_drop(struct node_table *table, uint32_t tid, uint64_t now);
