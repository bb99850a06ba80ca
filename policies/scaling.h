/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scaling.h: how well each rank's parallel work scales, learnt from the numbers of CPUs it was seen with.
 *
 * A rank's regions take fixed + work / n with n CPUs (Amdahl 1967): the fixed part stands for whatever more CPUs do not shorten,
 * serial code inside regions, contention, a memory bus that is full. It cannot be seen in one window. Where CPUs have moved,
 * the same work was seen with two numbers of CPUs, and the two core times tell it.
 */
#ifndef MAL_POLICIES_SCALING_H
#define MAL_POLICIES_SCALING_H

#include "policies/policy.h"

struct mal_load {
	double work;   /* is divided by the CPUs */
	double serial; /* is not */
};

struct mal_scaling;

/* NULL: out of memory. */
struct mal_scaling *mal_scaling_create(void);

/* NULL-safe. */
void mal_scaling_destroy(struct mal_scaling *scaling);

/*
 * Learns a window's samples. A rank is judged where its core time per phase stood still for two windows before and two after a
 * change of its CPUs; what drifts tells nothing. Returns 0, or -1: out of memory.
 */
int mal_scaling_learn(struct mal_scaling *scaling, const struct mal_view *view);

/* The part of RANK's parallel time on one CPU that more CPUs do not shorten, 0 (nothing else was seen) to 1. */
double mal_scaling_fixed(const struct mal_scaling *scaling, unsigned int rank);

/* What SAMPLE, RANK's last one, holds of work that scales and of what does not, in seconds on one CPU. */
struct mal_load mal_scaling_load(const struct mal_scaling *scaling, unsigned int rank, const struct mal_sample *sample);

#endif
