/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * whole.h: where the time of the step's CPUs went, by what the ranks have counted from their
 * beginning (MPI_Init, or the first region) on: in windows, between them, and in those thrown away.
 *
 * Invariant: A step too short for a window has it (t/unit/test_report.c: efficiencies_of_all).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

struct mal_whole {
	double elapsed_s;	     /* of the rank that counted longest; 0: nothing is known */
	double mpi_s;		     /* that primary threads waited in MPI */
	double mpi_idle_s;	     /* of their ranks' other CPUs meanwhile, if nobody had them */
	double regions;		     /* that ran */
	double threads;		     /* of the ranks' teams */
	struct mal_cpu_seconds cpus; /* all 0: nothing is known */
};

struct mal_whole mal_whole_read(const struct mal_controller *controller);
