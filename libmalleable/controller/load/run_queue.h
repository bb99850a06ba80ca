/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run_queue.h: how long threads of a process could have run, and had no CPU.
 *
 * Invariant: What threads waited before the first reading does not count (t/unit/test_sampling.c:
 * others_take_time).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * The longest wait of a thread of process PID since WAITS was read first, at NOW_S, as a part of
 * that time. It waits as well where another thread of the step has its CPU. NaN: not known, as the
 * kernel counts none (CONFIG_SCHED_INFO), or this is the first reading.
 */
double mal_waits_longest(struct mal_waits *waits, int32_t pid, double now_s);

/* Free what it holds; then it has not been read. */
void mal_waits_close(struct mal_waits *waits);
