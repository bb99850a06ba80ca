/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step.h: a controller and its step in plain memory. Each part of the segment has its own memory,
 * so that reads beyond its end are found.
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

#define FUZZ_RANKS 4
#define FUZZ_CPUS 8
#define FUZZ_THREADS 16

/*
 * Open a controller before its first round, with policy TEXT, on two nodes; each rank runs on two
 * CPUs. NULL: unknown policy.
 */
struct mal_controller *fuzz_step_open(const char *text);
void fuzz_step_close(struct mal_controller *controller);

/* Each rank gives a sample of the round, with BUSY ticks; the controller reads them. */
void fuzz_step_round(struct mal_controller *controller, const uint8_t busy[FUZZ_RANKS]);
